package cgroup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event is what a Counter counts: a type and a number of perf_event_open(2).
type Event struct {
	Type   uint32
	Config uint64
}

// Instructions are those that the processor has completed.
var Instructions = Event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}

// Errors of a Counter.
var (
	ErrNoCounters = errors.New("events of the hardware cannot be counted here")
	// ErrInterrupted: part of the events between two readings is not known.
	ErrInterrupted = errors.New("the counting was interrupted")
	ErrGroupGone   = errors.New("the control group whose events were counted is gone")
)

// Counter counts the events that programs of one control group, and of those below it,
// cause on all CPUs. Work of the kernel for them is not counted.
//
// An event keeps its hardware counter while the group runs (it is pinned), or is not counted
// and says so. If events took turns, what was counted would have to be scaled by the times
// that the kernel gives with it, and those of control groups run ahead where a CPU is shared
// (seen with Linux 6.18).
type Counter struct {
	group  io.Closer
	alive  func() error // an error once the group is gone
	open   func(cpu int) (io.ReadCloser, error)
	online func() (CPUs, error)

	cpus  CPUs // that events are counted on; nil: it is to be opened again
	parts []part
	total float64
}

// part is what was counted on one CPU.
type part struct {
	events io.ReadCloser
	last   uint64
}

// Count opens a counter of the group in that directory, which starts at 0. ErrNoCounters:
// this machine or its kernel refuses, for whatever group.
func Count(dir string, e Event) (*Counter, error) {
	// On its own the kernel says whether there is such an event; of a group it says the same
	// where the directory is none.
	own, err := e.open(0, -1, 0)
	if err != nil {
		return nil, refusal(err)
	}
	if err := own.Close(); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	group, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	c := &Counter{group: group, online: onlineCPUs}
	c.alive = func() error { return unix.Faccessat(int(group.Fd()), "cgroup.procs", unix.F_OK, 0) }
	c.open = func(cpu int) (io.ReadCloser, error) {
		events, err := e.open(int(group.Fd()), cpu, unix.PERF_FLAG_PID_CGROUP)
		switch {
		case errors.Is(err, unix.ENODEV):
			return nil, fmt.Errorf("%w: CPU %d went", ErrInterrupted, cpu)
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EBADF):
			return nil, fmt.Errorf("cgroup: %s is no group by which events are counted on CPU %d: %w", dir, cpu, err)
		case err != nil:
			return nil, refusal(err)
		}
		return events, nil
	}
	cpus, err := c.online()
	if err == nil {
		err = c.reopen(cpus)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open opens an event of what the kernel calls pid: 0 is the calling thread, and with
// PERF_FLAG_PID_CGROUP it is the directory of a group.
func (e Event) open(pid, cpu, flags int) (*os.File, error) {
	attr := unix.PerfEventAttr{
		Type: e.Type, Config: e.Config,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitPinned | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, pid, cpu, -1, flags|unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("perf_event_open", err)
	}
	return os.NewFile(uintptr(fd), "perf event"), nil
}

// refusal says why the kernel refuses, and what an operator can do.
func refusal(err error) error {
	why := "the kernel does not say more"
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		why = "this machine shows no such counter; a virtual machine has the counters of the processor only where its hypervisor passes them on (in libvirt: <pmu state='on'/>)"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		why = "this program may not: it needs to be root or to have CAP_PERFMON, without a filter of system calls that refuses perf_event_open"
	case errors.Is(err, unix.ENOSYS):
		why = "the kernel is built without performance events (CONFIG_PERF_EVENTS)"
	case errors.Is(err, unix.EINVAL):
		why = "the kernel is built without performance events of control groups (CONFIG_CGROUP_PERF)"
	case errors.Is(err, unix.EBUSY):
		why = "another program has the counters for itself"
	}
	return fmt.Errorf("%w: %s: %w", ErrNoCounters, why, err)
}

// reopen counts on these CPUs from now on; what was counted before stays counted.
func (c *Counter) reopen(cpus CPUs) error {
	if err := c.closeParts(); err != nil {
		return err
	}
	for _, cpu := range cpus {
		events, err := c.open(cpu)
		if err != nil {
			return errors.Join(err, c.closeParts())
		}
		c.parts = append(c.parts, part{events: events})
	}
	c.cpus = cpus
	return nil
}

// Read is how many events there were since the counter was opened. It never falls. After an
// error the next reading is one to compare with again, but for ErrGroupGone: there is no next.
func (c *Counter) Read() (float64, error) {
	if err := c.alive(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrGroupGone, err)
	}
	cpus, err := c.online()
	if err != nil {
		return 0, err
	}
	if !slices.Equal(cpus, c.cpus) {
		// What there was on a CPU since it was read, before it went or after it came, is not known.
		return 0, errors.Join(fmt.Errorf("%w: CPUs came or went", ErrInterrupted), c.reopen(cpus))
	}
	for i := range c.parts {
		n, err := c.parts[i].since()
		if err != nil {
			c.cpus = nil
			return 0, fmt.Errorf("CPU %d: %w", cpus[i], err)
		}
		c.total += float64(n)
	}
	return c.total, nil
}

// since is how many events there were since the last time.
func (p *part) since() (uint64, error) {
	var b [8]byte
	switch _, err := io.ReadFull(p.events, b[:]); {
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%w: others hold its hardware counters, or it went", ErrInterrupted)
	case err != nil:
		return 0, fmt.Errorf("read a counter: %w", err)
	}
	now := binary.NativeEndian.Uint64(b[:])
	n := now - p.last
	p.last = now
	return n, nil
}

// Close ends the counting.
func (c *Counter) Close() error { return errors.Join(c.closeParts(), c.group.Close()) }

func (c *Counter) closeParts() error {
	var errs []error
	for _, p := range c.parts {
		errs = append(errs, p.events.Close())
	}
	c.cpus, c.parts = nil, nil
	return errors.Join(errs...)
}

// CanCount says why the events of tasks cannot be counted on this machine; nil if they can.
func CanCount(e Event) error {
	m, err := MembershipOf("/proc/self/mountinfo", "/proc/self")
	if err != nil {
		return err
	}
	c, err := Count(m.EventsDir(), e)
	if err != nil {
		return err
	}
	return c.Close()
}

func onlineCPUs() (CPUs, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("CPUs that are online: %w", err)
	}
	return ParseCPUs(strings.TrimSpace(string(text)))
}
