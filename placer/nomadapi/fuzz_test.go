package nomadapi

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// FuzzEvents: whatever lines the event stream brings, each is folded in or has the lists
// read again, and the caches agree with themselves.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("{}\n" + `{"Index":7,"Events":[{"Topic":"Job","Type":"JobRegistered","Payload":{"Job":{"ID":"web","Namespace":"default","NodePool":"placer","JobModifyIndex":7,"TaskGroups":[{"Name":"main","Count":1,"Meta":{"performance":"ok"},"Tasks":[{"Name":"t","Driver":"exec"}]}]}}}]}`))
	f.Add([]byte(`{"Index":8,"Events":[{"Topic":"Allocation","Payload":{"Allocation":{"ID":"a","JobID":"web","Namespace":"default","NodeID":"n","DesiredStatus":"run","ClientStatus":"running","ModifyIndex":8}}}]}` + "\n" +
		`{"Index":9,"Events":[{"Topic":"Allocation","Payload":{"Allocation":{"ID":"a","NodeID":"m","DesiredStatus":"run","ClientStatus":"running","ModifyIndex":9}}}]}`))
	f.Add([]byte(`{"Index":9,"Events":[{"Topic":"Node","Type":"NodeRegistration","Payload":{"Node":{"ID":"n","ModifyIndex":9,"Name":"n","NodeResources":{"Processors":{"Topology":{"Cores":[{"ID":-1,"BaseSpeed":-9223372036854775808}]}}}}}}]}` + "\n" +
		`{"Index":10,"Events":[{"Topic":"Node","Type":"NodeDeregistration","Payload":{"Node":{"ID":"n"}}}]}`))
	f.Add([]byte(`{"Index":3,"Events":[{"Topic":"Job","Payload":{"Job":{"NodePool":"placer","TaskGroups":[null,7,{"Meta":{"performance":null}},{"Name":"g","Meta":{"performance":"ok"},"Count":1e99,"Tasks":"none","Constraints":[{"RTarget":7}]}]}}}]}`))
	f.Add([]byte(`{"Index":1,"Events":[{}]}`))
	f.Add([]byte(`{"Index":-1}`))
	f.Add([]byte("[[[[[[[["))
	w, err := New(Options{Address: "http://127.0.0.1:1", Decode: decodeForTest, Clock: stillClock{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(w.API().Close)
	empty := func() error { return nil }
	f.Fuzz(func(t *testing.T, stream []byte) {
		w.unfollow()
		for line := range bytes.SplitSeq(stream, []byte("\n")) {
			if !w.jobs.isFollowed() {
				followEmpty(t, w, empty)
			}
			if err := w.fold(line); err != nil {
				if !errors.Is(err, errUnreadable) && !errors.Is(err, errLate) {
					t.Fatalf("%q: %v", line, err)
				}
				w.unfollow()
			}
		}
		checkCaches(t, w)
	})
}

// followEmpty has the caches of a cluster without anything followed.
func followEmpty(t *testing.T, w *World, read func() error) {
	t.Helper()
	w.folded = 0
	w.allocs.byNode, w.allocs.live, w.allocs.system, w.allocs.names = map[cluster.NodeID][]cluster.Allocation{}, map[string]liveAlloc{}, map[cluster.JobID]bool{}, interner{}
	w.nodes.byID, w.nodes.names, w.nodes.stale = map[cluster.NodeID]cachedNode{}, &nodeNames{interner: interner{}, lists: map[string][]string{}}, true
	w.jobs.jobs, w.jobs.stale = map[cluster.JobID]cluster.Job{}, true
	if err := errors.Join(w.nodes.start(read), w.jobs.start(read), w.allocs.start(read)); err != nil {
		t.Fatal(err)
	}
}

// checkCaches wants every live allocation once, where it is said to be.
func checkCaches(t *testing.T, w *World) {
	t.Helper()
	w.jobs.sort()
	w.nodes.sort()
	if len(w.jobs.list) != len(w.jobs.jobs) || len(w.nodes.list) != len(w.nodes.byID) {
		t.Fatalf("%d jobs of %d, %d nodes of %d", len(w.jobs.list), len(w.jobs.jobs), len(w.nodes.list), len(w.nodes.byID))
	}
	count := 0
	for node, list := range w.allocs.byNode {
		for _, a := range list {
			count++
			if live, ok := w.allocs.live[a.ID]; !ok || live.node != node || a.Node != node {
				t.Fatalf("allocation %q on %q is noted as %+v, %v", a.ID, node, live, ok)
			}
		}
	}
	if count != len(w.allocs.live) {
		t.Fatalf("%d allocations, %d live", count, len(w.allocs.live))
	}
}

// FuzzLines: the queue gives the whole lines of a stream in order, however they arrive,
// and holds no more than it may, whoever takes them or not.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), true)
	f.Add([]byte("no end"), false)
	f.Add(bytes.Repeat([]byte("\n"), 1000), true)
	f.Fuzz(func(t *testing.T, stream []byte, halves bool) {
		q := newLineQueue()
		var in io.Reader = bytes.NewReader(stream)
		if halves {
			in = iotest.HalfReader(in)
		}
		q.fill(in)
		var got []byte
		for {
			line, ok, err := q.take()
			if !ok {
				if !errors.Is(err, errStreamed) {
					t.Fatalf("it ended with %v", err)
				}
				break
			}
			if bytes.IndexByte(line, '\n') != len(line)-1 {
				t.Fatalf("%q is not one line", line)
			}
			got = append(got, line...)
		}
		if whole := stream[:bytes.LastIndexByte(stream, '\n')+1]; !slices.Equal(got, whole) {
			t.Fatalf("%q became %q", whole, got)
		}
		if q.bytes != 0 {
			t.Fatalf("%d bytes are counted of an empty queue", q.bytes)
		}
	})
}

// endless is a line without end.
type endless struct{ read int }

func (e *endless) Read(to []byte) (int, error) {
	for i := range to {
		to[i] = 'x'
	}
	e.read += len(to)
	if e.read > 8*maxQueuedBytes {
		return 0, io.ErrUnexpectedEOF
	}
	return len(to), nil
}

// A line that does not end is given up at what the queue may hold.
func TestALineWithoutEnd(t *testing.T) {
	t.Parallel()
	q, line := newLineQueue(), &endless{}
	q.fill(line)
	if _, ok, err := q.take(); ok || !errors.Is(err, errFlooded) {
		t.Errorf("%v, %v; want it given up", ok, err)
	}
	if line.read > 2*maxQueuedBytes {
		t.Errorf("%d bytes were read of it", line.read)
	}
}
