package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The time slices that a kernel takes (6.12 and later, kernel/sched/syscalls.c,
// __setparam_fair).
const (
	LeastSlice = 100 * time.Microsecond
	MostSlice  = 100 * time.Millisecond
)

// The policies whose threads share CPUs by weight, and so have slices.
const (
	schedNormal = 0
	schedBatch  = 3
)

// SetSlices asks that the group's threads run in turns of that length where they share a
// CPU with others. Who asks for shorter turns than who runs now gets the CPU as soon as
// it wakes, as far as its weight goes; it gets no more of it. Threads started later
// inherit it from those that start them. Where was is not 0, only threads with that
// slice are changed; a slice of 0 is the kernel's own. A kernel before 6.12 does nothing.
func (g Group) SetSlices(slice, was time.Duration) error {
	pids, err := g.Pids()
	if err != nil {
		return err
	}
	var errs []error
	for _, pid := range pids {
		threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		if err != nil {
			errs = append(errs, ignoreGone(err))
			continue
		}
		for _, t := range threads {
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				return fmt.Errorf("thread of process %d: %w", pid, err)
			}
			if err := setSlice(tid, slice, was); err != nil && !errors.Is(err, unix.ESRCH) {
				errs = append(errs, fmt.Errorf("time slice of thread %d: %w", tid, err))
			}
		}
	}
	return errors.Join(errs...)
}

func setSlice(tid int, slice, was time.Duration) error {
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return err
	}
	has := time.Duration(attr.Runtime) // nanoseconds, at most MostSlice
	if attr.Policy != schedNormal && attr.Policy != schedBatch || was != 0 && has != was || has == slice {
		return nil
	}
	attr.Flags, attr.Runtime = 0, uint64(slice)
	return unix.SchedSetAttr(tid, attr, 0)
}
