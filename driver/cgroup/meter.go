package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Meter reads the CPU time that the processes of one group have used, finely enough for
// windows of some 10 ms: proc(5) has ticks of 10 ms.
type Meter struct {
	group Group
	procs string // cgroup.procs, where the group counts no time itself; else empty
	pids  []int  // of procs, as last read
}

// Errors of a meter.
var (
	ErrNoMeter          = errors.New("no control group counts the CPU time of this task alone")
	ErrProcessesChanged = errors.New("processes of the group began or ended, so what they used cannot be compared")
)

// TaskMeter is the meter of a task's own group. Some drivers of Nomad make none in the
// hierarchy that counts time (cgroup v1, cpuacct); the clocks of its processes stand in.
func (t Tree) TaskMeter(allocID, task string) (*Meter, error) {
	name := allocID + "." + task
	paths := []string{filepath.Join("/nomad", name)}
	if t.version == V2 {
		paths = []string{filepath.Join("/nomad.slice/share.slice", name+".scope"), filepath.Join("/nomad.slice/reserve.slice", name+".scope")}
	}
	for _, path := range paths {
		m := &Meter{group: t.Open(path)}
		if _, err := m.Read(); err == nil {
			return m, nil
		}
		m.procs = m.group.file(controllerCPU, "cgroup.procs")
		if _, err := m.Read(); err == nil && m.procs != "" {
			return m, nil
		}
	}
	return nil, fmt.Errorf("cgroup: %s: %w", name, ErrNoMeter)
}

// Read returns the time used so far. After ErrProcessesChanged the next reading is one to
// compare with again.
func (m *Meter) Read() (time.Duration, error) {
	if m.procs == "" {
		return m.group.cpuTime()
	}
	list, err := os.ReadFile(m.procs)
	if err != nil {
		return 0, fmt.Errorf("cgroup: %w", err)
	}
	pids, sum, err := ofProcesses(string(list))
	if err != nil {
		m.pids = nil
		return 0, fmt.Errorf("%w: %s: %w", ErrProcessesChanged, m.procs, err)
	}
	before := m.pids
	if m.pids = pids; before != nil && !slices.Equal(before, pids) {
		return 0, ErrProcessesChanged
	}
	return sum, nil
}

// ofProcesses sums the clocks of processes, which hold their threads that have ended. Of a
// process that has ended, nothing can be read any more.
func ofProcesses(list string) (pids []int, sum time.Duration, err error) {
	for _, field := range strings.Fields(list) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, 0, err
		}
		var used unix.Timespec
		if err := unix.ClockGettime(processClock(pid), &used); err != nil {
			return nil, 0, fmt.Errorf("process %d: %w", pid, err)
		}
		pids, sum = append(pids, pid), sum+time.Duration(used.Nano())
	}
	slices.Sort(pids)
	return pids, sum, nil
}

// processClock is the identifier of a process's CPU-time clock, clock_getcpuclockid(3).
func processClock(pid int) int32 {
	const schedClock = 2
	return int32(^pid)<<3 | schedClock
}
