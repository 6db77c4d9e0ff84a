package cgroup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakeEvents is one counter of a CPU, as the kernel shows it.
type fakeEvents struct {
	count  uint64
	failed bool
	closed bool
}

func (f *fakeEvents) Read(b []byte) (int, error) {
	if f.failed {
		return 0, io.EOF
	}
	return copy(b, binary.NativeEndian.AppendUint64(nil, f.count)), nil
}

func (f *fakeEvents) Close() error {
	f.closed = true
	return nil
}

// fakeMachine has a counter for each CPU that is online; one that comes back is a new one.
type fakeMachine struct {
	online CPUs
	events map[int]*fakeEvents
	closed []*fakeEvents
	gone   error
}

func (m *fakeMachine) counter(t *testing.T) *Counter {
	t.Helper()
	m.events = map[int]*fakeEvents{}
	c := &Counter{
		group:  io.NopCloser(nil),
		alive:  func() error { return m.gone },
		online: func() (CPUs, error) { return m.online, nil },
		open: func(cpu int) (io.ReadCloser, error) {
			if old := m.events[cpu]; old != nil {
				m.closed = append(m.closed, old)
			}
			m.events[cpu] = &fakeEvents{}
			return m.events[cpu], nil
		},
	}
	if err := c.reopen(m.online); err != nil {
		t.Fatal(err)
	}
	return c
}

func wantCount(t *testing.T, c *Counter, want float64) {
	t.Helper()
	if got, err := c.Read(); err != nil || got != want {
		t.Errorf("counted %v, %v; want %v", got, err, want)
	}
}

func wantInterrupted(t *testing.T, c *Counter) {
	t.Helper()
	if n, err := c.Read(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("counted %v, %v; want an error", n, err)
	}
}

func TestCounterAddsCPUsUp(t *testing.T) {
	t.Parallel()
	m := &fakeMachine{online: CPUs{0, 2}}
	c := m.counter(t)
	wantCount(t, c, 0)
	m.events[0].count, m.events[2].count = 100, 20
	wantCount(t, c, 120)
	wantCount(t, c, 120)
}

func TestCounterThatWraps(t *testing.T) {
	t.Parallel()
	m := &fakeMachine{online: CPUs{0}}
	c := m.counter(t)
	c.parts[0].last, m.events[0].count = math.MaxUint64-9, 90
	wantCount(t, c, 100)
}

// A CPU that comes or goes, or whose counters others take, costs a reading or two, and the
// count does not fall.
func TestCounterThatIsInterrupted(t *testing.T) {
	t.Parallel()
	m := &fakeMachine{online: CPUs{0, 1}}
	c := m.counter(t)
	m.events[0].count, m.events[1].count = 100, 50
	wantCount(t, c, 150)
	m.events[1].failed = true
	wantInterrupted(t, c)
	wantInterrupted(t, c) // opened again
	wantCount(t, c, 150)
	m.online = CPUs{0}
	wantInterrupted(t, c)
	m.events[0].count = 7
	wantCount(t, c, 157)
	m.online = CPUs{0, 1, 2}
	wantInterrupted(t, c)
	m.events[2].count = 3
	wantCount(t, c, 160)
	for _, e := range m.closed {
		if !e.closed {
			t.Error("a counter was opened again and left open")
		}
	}
}

func TestCounterOfAGroupThatGoes(t *testing.T) {
	t.Parallel()
	m := &fakeMachine{online: CPUs{0}}
	c := m.counter(t)
	m.events[0].count = 5
	wantCount(t, c, 5)
	m.gone = unix.ENOENT
	if n, err := c.Read(); !errors.Is(err, ErrGroupGone) {
		t.Errorf("counted %v, %v", n, err)
	}
	if err := c.Close(); err != nil || !m.events[0].closed {
		t.Errorf("not closed: %v", err)
	}
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for errno, want := range map[unix.Errno]string{
		unix.ENOENT: "hypervisor", unix.EOPNOTSUPP: "hypervisor", unix.EACCES: "CAP_PERFMON", unix.EPERM: "filter of system calls",
		unix.ENOSYS: "CONFIG_PERF_EVENTS", unix.EINVAL: "CONFIG_CGROUP_PERF", unix.EBUSY: "another program", unix.EMFILE: "too many open files",
	} {
		err := refusal(os.NewSyscallError("perf_event_open", errno))
		if !errors.Is(err, ErrNoCounters) || !errors.Is(err, errno) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v gives %q, want %q in it", errno, err, want)
		}
	}
}

// The machine of the test has counters of instructions or not. Either way it is said, and
// never that there were 0.
func TestInstructionsAreCountedOrRefused(t *testing.T) {
	t.Parallel()
	err := CanCount(Instructions)
	if err != nil {
		if !errors.Is(err, ErrNoCounters) || len(err.Error()) < len(ErrNoCounters.Error())+40 {
			t.Errorf("refused without a reason: %v", err)
		}
		return
	}
	countLoop(t, Instructions)
}

// The time on a CPU is an event that every machine has.
func TestCounterOfAGroup(t *testing.T) {
	t.Parallel()
	countLoop(t, Event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK})
}

// countLoop counts events of two processes in a group, next to one that is in none: it must
// come to what counters of the two themselves say, which know of no group.
func countLoop(t *testing.T, e Event) {
	t.Helper()
	needsRoot(t)
	group := eventGroup(t)
	pids := []int{startLoop(t), startLoop(t)}
	startLoop(t)
	var own []part
	for _, pid := range pids {
		mustWrite(t, filepath.Join(group, "cgroup.procs"), fmt.Sprint(pid))
		events, err := e.open(pid, -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer events.Close()
		own = append(own, part{events: events})
	}
	total := uint64(0)
	counted := func() float64 {
		for i := range own {
			n, err := own[i].since()
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		return float64(total)
	}
	c, err := Count(group, e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := counted()
	first, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	begun := counted()
	awaitLoops(t, pids)
	ended := counted()
	last, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	// The counter of a group begins a little before that of its process, whenever it gets a CPU.
	if n, least, most := last-first, ended-begun, counted()-start; least <= 0 || n < 0.95*least || n > 1.05*most {
		t.Errorf("counted %v for the group, %v to %v for its processes", n, least, most)
	}
}

// awaitLoops waits until processes have used so much time of CPUs together that a few turns
// are in it.
func awaitLoops(t *testing.T, pids []int) {
	t.Helper()
	const loopTime = 100 * time.Millisecond
	used := func() time.Duration {
		_, sum, err := ofProcesses(strings.Trim(fmt.Sprint(pids), "[]"))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	for end := used() + loopTime; used() < end; {
		time.Sleep(time.Millisecond)
	}
}

// The hierarchy that counts events is perf_event's where that is mounted, else version 2; in
// its root group a process has none of its own.
func TestEventsDir(t *testing.T) {
	t.Parallel()
	const (
		perf    = "31 30 0:28 / /c/perf_event rw - cgroup cgroup rw,perf_event\n"
		cpu     = "32 30 0:29 / /c/cpu rw - cgroup cgroup rw,cpu\n"
		unified = "33 30 0:30 / /c/unified rw - cgroup2 cgroup2 rw\n"
	)
	for _, c := range []struct{ mounts, groups, dir, own string }{
		{perf + cpu + unified, "3:perf_event:/a.b\n2:cpu:/x\n0::/y\n", "/c/perf_event/a.b", "/c/perf_event/a.b"},
		{unified + cpu + perf, "3:perf_event:/a.b\n2:cpu:/x\n0::/y\n", "/c/perf_event/a.b", "/c/perf_event/a.b"},
		{cpu + unified, "2:cpu:/x\n0::/y\n", "/c/unified/y", "/c/unified/y"},
		{unified + unified, "0::/y\n", "/c/unified/y", "/c/unified/y"},
		{perf + unified, "3:perf_event:/\n0::/y\n", "/c/perf_event", ""},
		{unified, "0::/\n", "/c/unified", ""},
		{cpu, "2:cpu:/x\n", "", ""},
	} {
		root := t.TempDir()
		mustWrite(t, filepath.Join(root, "mountinfo"), c.mounts)
		mustWrite(t, filepath.Join(root, "cgroup"), c.groups)
		m, err := MembershipOf(filepath.Join(root, "mountinfo"), root)
		if err != nil {
			t.Fatal(err)
		}
		own, err := m.OwnEventsDir()
		if m.EventsDir() != c.dir || own != c.own || errors.Is(err, ErrShared) != (c.own == "") {
			t.Errorf("%s%s: %q, own %q, %v", c.mounts, c.groups, m.EventsDir(), own, err)
		}
	}
}

// Directories that are no groups are told from groups.
func TestCountNoGroup(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	taskClock := Event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone")} {
		if _, err := Count(dir, taskClock); err == nil || errors.Is(err, ErrNoCounters) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	group := eventGroup(t)
	c, err := Count(group, taskClock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wantCount(t, c, 0)
	if err := os.Remove(group); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(); !errors.Is(err, ErrGroupGone) {
		t.Errorf("a group that was removed: %v", err)
	}
}

// eventGroup makes a group by which events are counted.
func eventGroup(t *testing.T) string {
	t.Helper()
	m, err := MembershipOf("/proc/self/mountinfo", "/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(m.EventsDir(), fmt.Sprintf("ibench-test-%d-%s", os.Getpid(), filepath.Base(t.TempDir())))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeDir(context.Background(), dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func startLoop(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed: that is its end
	})
	return cmd.Process.Pid
}

// needsRoot is for tests that count events of other processes. The pipeline runs as root.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("counting events of other processes needs root")
	}
}
