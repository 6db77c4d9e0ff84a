package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// taskClock is an event that every machine has: nanoseconds on a CPU.
var taskClock = cgroup.Event{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK}

// What a task gets is what its own processes did: of a group that it shares nothing is
// counted, and after a restart the count begins again.
func TestInstructionsOfATask(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	id := TaskID{AllocID: "count-" + strconv.Itoa(os.Getpid()), Task: "web"}
	r := &Reach{Procs: liveProc, AllocID: id.AllocID, Event: taskClock}
	if _, err := r.Instructions(t.Context(), "web"); !errors.Is(err, ErrNoProcess) {
		t.Fatalf("a task that has not started: %v", err)
	}
	pid := startTask(t, id, nil)
	if _, err := r.Instructions(t.Context(), "web"); !errors.Is(err, probe.ErrUnsupported) || !errors.Is(err, cgroup.ErrShared) {
		t.Fatalf("a task without a group of its own: %v", err)
	}
	group := newEventGroup(t, "own")
	join(t, group, pid)
	if n, err := r.Instructions(t.Context(), "web"); err != nil || n < 0 {
		t.Fatalf("%v, %v", n, err)
	}
	busy := startTask(t, id, nil, "sh", "-c", "while :; do :; done")
	join(t, group, busy)
	before := clock(t, busy)
	for clock(t, busy) < before+50*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	n, err := r.Instructions(t.Context(), "web")
	if err != nil || time.Duration(n) < 45*time.Millisecond {
		t.Fatalf("a second process used 50 ms after it had joined, counted %s, %v", time.Duration(n), err)
	}
	if _, err := r.Instructions(t.Context(), "db"); !errors.Is(err, ErrNoProcess) {
		t.Errorf("another task: %v", err)
	}
	for _, pid := range []int{pid, busy} {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		awaitState(t, pid, 'Z')
	}
	removeGroup(t, group)
	if _, err := r.Instructions(t.Context(), "web"); !errors.Is(err, ErrNoProcess) {
		t.Errorf("a task that has ended: %v", err)
	}
	join(t, newEventGroup(t, "again"), startTask(t, id, nil))
	if again, err := r.Instructions(t.Context(), "web"); err != nil || again >= n {
		t.Errorf("after a restart it counted %v, %v; %v before", again, err, n)
	}
}

// A name of a task reaches no other group than the task's.
func TestInstructionsOfASharedGroup(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	own := TaskID{AllocID: "shared-" + strconv.Itoa(os.Getpid()), Task: "web"}
	other := TaskID{AllocID: "victim-" + strconv.Itoa(os.Getpid()), Task: "web"}
	r := &Reach{Procs: liveProc, AllocID: own.AllocID, Event: taskClock}
	group := newEventGroup(t, "shared")
	join(t, group, startTask(t, own, nil), startTask(t, other, nil))
	refused := func(task, why string) {
		t.Helper()
		if n, err := r.Instructions(t.Context(), task); !errors.Is(err, probe.ErrUnsupported) {
			t.Errorf("%s: counted %v, %v", why, n, err)
		}
	}
	refused("web", "a group with another's process in it")
	for _, name := range []string{"../" + other.AllocID + ".web", "/", "", other.AllocID + ".web"} {
		if n, err := r.Instructions(t.Context(), name); !errors.Is(err, ErrNoProcess) {
			t.Errorf("%q: counted %v, %v", name, n, err)
		}
	}
	split := TaskID{AllocID: own.AllocID, Task: "split"}
	join(t, newEventGroup(t, "one"), startTask(t, split, nil))
	join(t, newEventGroup(t, "two"), startTask(t, split, nil))
	refused("split", "processes in two groups")
}

// The event that a probe asks for: this machine counts it or refuses with a reason.
func TestInstructionsThemselves(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	id := TaskID{AllocID: "hardware-" + strconv.Itoa(os.Getpid()), Task: "web"}
	join(t, newEventGroup(t, "hardware"), startTask(t, id, nil))
	r := &Reach{Procs: liveProc, AllocID: id.AllocID, Event: cgroup.Instructions}
	_, err := r.Instructions(t.Context(), "web")
	can := cgroup.CanCount(cgroup.Instructions)
	if (err == nil) != (can == nil) || can != nil && !(errors.Is(err, probe.ErrUnsupported) && errors.Is(err, cgroup.ErrNoCounters)) {
		t.Errorf("%v, and the node says %v", err, can)
	}
}

// newEventGroup makes a group by which events are counted. It is removed after its
// processes, which are to be started later.
func newEventGroup(t *testing.T, name string) string {
	t.Helper()
	m, err := cgroup.MembershipOf("/proc/self/mountinfo", "/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(m.EventsDir(), fmt.Sprintf("ibench-test-%d-%s", os.Getpid(), name))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeGroup(t, dir) })
	return dir
}

// removeGroup waits until the kernel has let go of the group's dead processes.
func removeGroup(t *testing.T, dir string) {
	t.Helper()
	var err error
	for range 20_000 {
		if err = os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error(err)
}

func join(t *testing.T, group string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// clock is the CPU time of a process: clock_getcpuclockid(3).
func clock(t *testing.T, pid int) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|2, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}
