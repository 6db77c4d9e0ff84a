package blockio_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// capture records what is done, on the disk of a folder.
func capture(t *testing.T, tasks []int, do func(dir string)) (*blockio.Captured, string, error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("tracing block I/O needs root, which continuous integration has")
	}
	dir := folder(t)
	device, err := blockio.FindDevice(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var begun sync.Once
	var work sync.WaitGroup
	now := func() time.Time { // it is asked for first when the events are on
		begun.Do(func() {
			work.Go(func() {
				do(dir)
				cancel()
			})
		})
		return time.Now()
	}
	var out bytes.Buffer
	done, err := blockio.Capture{Device: device, Length: time.Minute, Tasks: tasks, Now: now, After: time.After}.Run(ctx, &out)
	work.Wait()
	return done, out.String(), err
}

// directWrites writes past the page cache, one after the other.
func directWrites(t *testing.T, dir string, writes int) {
	t.Helper()
	path := filepath.Join(dir, "file")
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_DIRECT, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer os.Remove(path)
	defer unix.Close(fd)
	page, err := unix.Mmap(-1, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = unix.Munmap(page) }()
	for i := range writes {
		if _, err := unix.Pwrite(fd, page, int64(i)*8192); err != nil {
			t.Error(err)
			return
		}
	}
}

// What this process writes past the page cache is captured, I/O by I/O, and our own reader
// reads it.
func TestCaptureOfRealWrites(t *testing.T) {
	const writes = 200
	done, text, err := capture(t, nil, func(dir string) { directWrites(t, dir, writes) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := trace.New("capture", "", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got.Format() != "blkparse" {
		t.Errorf("it is read as %s", got.Format())
	}
	ours, all := 0, int64(0)
	var r storage.Record
	for got.Next(&r) == nil {
		all++
		if r.Op == storage.Write && r.Bytes == 8192 {
			ours++
		}
	}
	if ours < writes || all != done.IOs || done.Lost != 0 {
		t.Errorf("%d of %d writes among %d I/Os, %+v", ours, writes, all, done)
	}
}

// Only the given threads are captured: a process that is not this one did nothing.
func TestCaptureOfTasks(t *testing.T) {
	_, text, err := capture(t, []int{os.Getppid()}, func(dir string) { directWrites(t, dir, 50) })
	if err == nil && strings.Count(text, "+ 16 [") >= 50 {
		t.Errorf("another's writes are captured:\n%s", text)
	}
	if err != nil && !errors.Is(err, blockio.ErrIdle) {
		t.Error(err)
	}
}

// No trace instance is left in the kernel.
func TestCapturesLeaveNothing(t *testing.T) {
	_, _, err := capture(t, nil, func(dir string) { directWrites(t, dir, 10) })
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"} {
		left, _ := filepath.Glob(filepath.Join(place, "nomad-placer-*"))
		if len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
