package blockio_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

// player is the machine's fio: make setup installs it.
func player(t *testing.T) *blockio.Player {
	t.Helper()
	p, err := blockio.NewPlayer(t.Context(), "fio")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

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
	// The name of a test has characters that fio cannot read.
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

// Every I/O of a log is done, with its direction, in the log's time.
func TestLogsArePlayedWhole(t *testing.T) {
	t.Parallel()
	p, s := player(t), scratch(t, 4<<20)
	var log strings.Builder
	fmt.Fprintf(&log, "fio version 3 iolog\n0 %s add\n0 %s open\n", s.Path, s.Path)
	const ios = 300
	for i := range ios {
		op := "read"
		if i%3 == 0 {
			op = "write"
		}
		fmt.Fprintf(&log, "%d %s %s %d 4096\n", i*1000, s.Path, op, i*7919%1024*4096)
	}
	fmt.Fprintf(&log, "%d %s close\n", ios*1000, s.Path)
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// On a busy machine fio may start late and hurry, or be told of ends late: not every time.
	var got *blockio.Played
	for range 3 {
		var err error
		if got, err = p.Log(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if got.IOs != ios || got.ReadIOs != 200 || got.MeanMilliseconds <= 0 || got.P99Milliseconds < got.P50Milliseconds {
			t.Errorf("%+v", got)
		}
		// With ends that are seen only when 256 I/Os are outstanding, the mean would be 128 ms.
		if got.MeanMilliseconds <= 60 && got.Seconds >= 0.29 {
			return
		}
	}
	t.Errorf("300 ms of load were played in %g s, with a mean of %g ms", got.Seconds, got.MeanMilliseconds)
}

// What fio says is wrong is in the error, and an end from outside ends it at once.
func TestPlayingFails(t *testing.T) {
	t.Parallel()
	p, s := player(t), scratch(t, 1<<20)
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("no log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Log(t.Context(), path); !errors.Is(err, blockio.ErrFio) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := p.Rated(ctx, s, time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		program string
		want    error
	}{
		"missing": {filepath.Join(dir, "nothing"), blockio.ErrNoFio},
		"old":     {program("old", "echo fio-3.30"), blockio.ErrOldFio},
		"other":   {program("other", "echo hello"), blockio.ErrOldFio},
		"fails":   {program("fails", "echo no >&2; exit 3"), blockio.ErrFio},
	} {
		if _, err := blockio.NewPlayer(t.Context(), c.program); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
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
