package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A kernel thread has the CPU weight of one control group, and next to a far heavier one
// Linux 6.18 was seen not to run it for a minute. Where that thread ends RCU grace periods,
// forks and writes to control groups wait for it, and no memory of ended processes is
// freed: tasks whose limit is tight are ended for want of memory.

// gracePeriodThreads are the names under which kernels have it.
var gracePeriodThreads = map[string]bool{"rcu_preempt": true, "rcu_sched": true}

// starvable are the threads that end grace periods and have no more right to run than any
// process. Kernels with priority boosting for RCU start them with more.
func starvable() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for kernel threads: %w", err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !isGracePeriodThread(pid) {
			continue
		}
		if attr, err := unix.SchedGetAttr(pid, 0); err == nil && attr.Policy == unix.SCHED_NORMAL {
			out = append(out, pid)
		}
	}
	return out, nil
}

// isGracePeriodThread tells a kernel thread from a process of that name by its command
// line, which is empty.
func isGracePeriodThread(pid int) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil || !gracePeriodThreads[strings.TrimSpace(string(name))] {
		return false
	}
	command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	return err == nil && len(command) == 0
}

// raise lets kernel threads run before all processes, as the kernel's own parameter
// rcutree.kthread_prio=1 does from boot.
func raise(threads []int) error {
	return setPolicy(threads, unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: 1})
}

// lower undoes raise.
func lower(threads []int) error {
	return setPolicy(threads, unix.SchedAttr{Policy: unix.SCHED_NORMAL})
}

func setPolicy(threads []int, attr unix.SchedAttr) error {
	attr.Size = unix.SizeofSchedAttr
	var errs []error
	for _, pid := range threads {
		if !isGracePeriodThread(pid) { // of an earlier boot
			continue
		}
		if err := unix.SchedSetAttr(pid, &attr, 0); err != nil {
			errs = append(errs, fmt.Errorf("schedule kernel thread %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}
