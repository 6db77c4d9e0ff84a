package blockio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// scratch is a file on a disk: a folder for tests may be in memory.
func scratch(t *testing.T, bytes int64) *blockio.Scratch {
	t.Helper()
	s, err := blockio.NewScratch(t.Context(), folder(t), bytes, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Remove(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "blockio-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := os.ReadDir(dir)
		if len(left) != 0 {
			t.Errorf("%d files are left behind", len(left))
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

// stream is a list of I/Os.
type stream struct{ all []storage.Record }

func (s *stream) Next(r *storage.Record) error {
	if len(s.all) == 0 {
		return io.EOF
	}
	*r, s.all = s.all[0], s.all[1:]
	return nil
}

// Every I/O is done, with its direction, and not before its time.
func TestStreamsArePlayedWhole(t *testing.T) {
	t.Parallel()
	s := scratch(t, 4<<20)
	const ios = 300
	var load stream
	for i := range ios {
		r := storage.Record{At: time.Duration(i) * time.Millisecond, Offset: int64(i * 7919 % 1024 * 4096), Bytes: 4096}
		if i%3 == 0 {
			r.Op = storage.Write
		}
		load.all = append(load.all, r)
	}
	before, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	step, err := blockio.PlayStream(t.Context(), s, &load, blockio.Play{})
	if err != nil {
		t.Fatal(err)
	}
	if step.IOs != ios || step.PlannedIOs != ios || step.ReadIOs != 200 || step.MeanMilliseconds <= 0 || step.P99Milliseconds < step.P50Milliseconds || step.Seconds < 0.299 || step.PlannedSeconds != 0.299 {
		t.Errorf("%+v", step)
	}
	// What is written is at its place, and nothing else is changed.
	after, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	changed := map[int]bool{}
	for at := 0; at < len(after); at += 4096 {
		if !bytes.Equal(before[at:at+4096], after[at:at+4096]) {
			changed[at] = true
		}
	}
	for i := 0; i < ios; i += 3 {
		if at := i * 7919 % 1024 * 4096; !changed[at] {
			t.Errorf("nothing was written at %d", at)
		} else {
			changed[at] = false
		}
	}
	for at, left := range changed {
		if left {
			t.Errorf("something was written at %d", at)
		}
	}
}

// A closed loop does one I/O after another: what is due at once takes its time, and what comes
// after is later by as much.
func TestClosedLoopsWait(t *testing.T) {
	t.Parallel()
	s := scratch(t, 4<<20)
	const ios, gap = 64, 5 * time.Millisecond
	load := func() *stream {
		var out stream
		for range ios {
			out.all = append(out.all, storage.Record{Bytes: 1 << 20})
		}
		out.all = append(out.all, storage.Record{At: gap, Bytes: 4096})
		return &out
	}
	waits, err := blockio.PlayStream(t.Context(), s, load(), blockio.Play{Reads: 1, Writes: 1, Waits: true})
	if err != nil {
		t.Fatal(err)
	}
	// One at a time: their latencies are all of the time before the last gap.
	if took := waits.MeanMilliseconds * (ios + 1); took > 1e3*waits.Seconds || waits.Seconds < gap.Seconds() {
		t.Errorf("%d I/Os one after another had %g ms of latencies in %g s", ios+1, took, waits.Seconds)
	}
}

// What the kernel refuses is an error, and an end from outside ends playing at once.
func TestPlayingFails(t *testing.T) {
	t.Parallel()
	s := scratch(t, 1<<20)
	for name, r := range map[string]storage.Record{
		"behind the end":    {Offset: 1 << 20, Bytes: 4096},
		"not whole sectors": {Offset: 1, Bytes: 4096},
		"too long":          {Bytes: 1 << 30},
	} {
		if _, err := blockio.PlayStream(t.Context(), s, &stream{[]storage.Record{r}}, blockio.Play{}); !errors.Is(err, blockio.ErrIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := blockio.PlayStream(t.Context(), s, &stream{}, blockio.Play{}); !errors.Is(err, blockio.ErrIO) {
		t.Errorf("nothing: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Rated(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := blockio.PlayStream(t.Context(), &blockio.Scratch{Path: "/proc/self/status", Bytes: 4096}, &stream{}, blockio.Play{}); !errors.Is(err, blockio.ErrDirect) {
		t.Errorf("%v", err)
	}
	rated, err := s.Rated(t.Context(), 50*time.Millisecond)
	if err != nil || rated.IOs == 0 || rated.ReadIOs != rated.IOs || rated.BytesPerSec <= 0 {
		t.Errorf("%+v, %v", rated, err)
	}
}

// Where one of two fails, the other one ends, and the cause is what is said.
func TestOneFailureEndsAll(t *testing.T) {
	t.Parallel()
	s, why := scratch(t, 1<<20), errors.New("why")
	_, err := blockio.PlayTogether(t.Context(),
		func(ctx context.Context) (blockio.Step, error) {
			return blockio.PlayStream(ctx, s, &stream{[]storage.Record{{At: time.Hour, Bytes: 4096}}}, blockio.Play{})
		},
		func(context.Context) (blockio.Step, error) { return blockio.Step{}, why })
	if !errors.Is(err, why) || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A scratch file is made in a folder only, where there is room, and never left behind.
func TestScratchFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		folder string
		bytes  int64
		want   error
	}{
		"a file":    {t.Context(), file, 4096, blockio.ErrFolder},
		"a device":  {t.Context(), "/dev/null", 4096, blockio.ErrFolder},
		"missing":   {t.Context(), filepath.Join(dir, "x"), 4096, blockio.ErrFolder},
		"no room":   {t.Context(), dir, 1 << 60, blockio.ErrRoom},
		"cancelled": {cancelled, dir, 4 << 20, context.Canceled},
	} {
		if _, err := blockio.NewScratch(c.ctx, c.folder, c.bytes, func(float64) {}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	blank := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(blank, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := blockio.NewScratch(t.Context(), blank, 4096, func(float64) {}); !errors.Is(err, blockio.ErrFolder) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "data" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"no-such-device": "/dev/no-such-device", "/proc/self": "is on no block device", "/nowhere/at/all": "no such file"} {
		if _, err := blockio.FindDevice(name); !errors.Is(err, blockio.ErrDevice) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	group := filepath.Join(root, "nomad.slice", "share.slice", "5f0c9d5e-1b2c-4d3e-8f90-123456789abc.web.scope")
	if err := os.MkdirAll(filepath.Join(group, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{group: "", filepath.Join(group, "inner"): fmt.Sprintln(os.Getpid())} {
		if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	groups, err := blockio.AllocationGroups(root, "5f0c9d5e")
	if err != nil || len(groups) != 1 || groups[0] != group {
		t.Fatalf("%v, %v", groups, err)
	}
	tasks, err := blockio.TasksOf(groups)
	if err != nil || len(tasks) == 0 || tasks[0] != os.Getpid() {
		t.Errorf("%v, %v", tasks, err)
	}
	for name, err := range map[string]error{
		"short":   errorOf(blockio.AllocationGroups(root, "5f0")),
		"unknown": errorOf(blockio.AllocationGroups(root, "00000000")),
		"missing": errorOf(blockio.TasksOf([]string{filepath.Join(root, "x")})),
		"empty":   errorOf(blockio.TasksOf([]string{t.TempDir()})),
	} {
		if !errors.Is(err, blockio.ErrTasks) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// The disk of a file system is a whole one, whatever part of it the file system has.
func TestWholeDisk(t *testing.T) {
	t.Parallel()
	device, err := blockio.FindDevice(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	disk, err := device.Disk()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/sys/dev/block/" + disk + "/queue"); err != nil { // a partition has none
		t.Errorf("%s (%d:%d): %v", disk, device.Major, device.Minor, err)
	}
	if _, err := (blockio.Device{Major: 4000, Minor: 1}).Disk(); !errors.Is(err, blockio.ErrDevice) {
		t.Error(err)
	}
}
