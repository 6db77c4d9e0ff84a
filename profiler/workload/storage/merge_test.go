package storage_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

type list struct {
	storage.Trace // what is not called
	all           []storage.Record
}

func (l *list) Next(r *storage.Record) error {
	if len(l.all) == 0 {
		return io.EOF
	}
	*r, l.all = l.all[0], l.all[1:]
	return nil
}

func read(t *testing.T, from storage.Trace) (out []storage.Record) {
	t.Helper()
	for {
		var r storage.Record
		switch err := from.Next(&r); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, r)
	}
}

// What a thread asks for at once, and adjoins, is one I/O; another thread's, direction, place or
// time is another one. The order is that of first I/Os.
func TestAdjoiningIOsAreMerged(t *testing.T) {
	t.Parallel()
	const w = storage.Write
	at := func(us int) time.Duration { return time.Duration(us) * time.Microsecond }
	in := []storage.Record{
		{At: at(0), Offset: 0, Bytes: 4096, Op: w},
		{At: at(1), Offset: 8192, Bytes: 4096, Thread: 1},
		{At: at(2), Offset: 4096, Bytes: 4096, Op: w},
		{At: at(101), Offset: 8192, Bytes: 8192, Op: w},      // 99 µs after the last one
		{At: at(202), Offset: 16384, Bytes: 4096, Op: w},     // 101
		{At: at(203), Offset: 20480, Bytes: 4096},            // read
		{At: at(204), Offset: 28672, Bytes: 4096},            // not adjoining
		{At: at(205), Offset: 32768, Bytes: 4096, Volume: 1}, // elsewhere
		{At: at(206), Offset: 36864, Bytes: storage.MergedBytes - 4096, Volume: 1},
		{At: at(207), Offset: 32768 + storage.MergedBytes, Bytes: 4096, Volume: 1}, // too long
	}
	want := []storage.Record{
		{At: at(0), Offset: 0, Bytes: 16384, Op: w}, in[1], in[4], in[5], in[6], {At: at(205), Offset: 32768, Bytes: storage.MergedBytes, Volume: 1}, in[9],
	}
	if got := read(t, storage.Merge(&list{all: slices.Clone(in)}, at(100))); !slices.Equal(got, want) {
		t.Errorf("%+v\nand not\n%+v", got, want)
	}
	if got := read(t, storage.Merge(&list{all: slices.Clone(in)}, 0)); !slices.Equal(got, in) {
		t.Errorf("%+v", got)
	}
}

// An error of the trace is not taken for its end.
func TestMergingEndsWithAnError(t *testing.T) {
	t.Parallel()
	m := storage.Merge(failing{}, time.Millisecond)
	var r storage.Record
	if err := m.Next(&r); !errors.Is(err, errTrace) {
		t.Errorf("%v", err)
	}
}

var errTrace = errors.New("a bad line")

type failing struct{ storage.Trace }

func (failing) Next(*storage.Record) error { return errTrace }
