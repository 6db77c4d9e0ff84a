package ibench

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// idleThreads counts a process's threads that give way to everybody else.
func idleThreads(t *testing.T, pid int) int {
	t.Helper()
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	const policyField, schedIdle = 41 - 3, "5" // proc_pid_stat(5), counted after the name
	n := 0
	for _, thread := range threads {
		data, err := os.ReadFile(folder + "/" + thread.Name() + "/stat")
		if err != nil {
			continue // it ended
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(fields) > policyField && fields[policyField] == schedIdle {
			n++
		}
	}
	return n
}

// The threads get only the time no other thread wants, and are gone when they are closed.
func TestKeepAwake(t *testing.T) {
	t.Parallel()
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	joined := 0
	a, err := KeepAwake(cpus[:1], func(pid int) error { joined = pid; return nil })
	if err != nil {
		t.Fatal(err)
	}
	pid := a.cmd.Process.Pid
	for range 1000 {
		if idleThreads(t, pid) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := idleThreads(t, pid); n != 1 || joined != pid {
		t.Errorf("%d threads at idle priority, joined %d of %d", n, joined, pid)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
		t.Error("it is still there")
	}
}

func TestAwakeMainRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {""}, {"x"}, {"1", "2"}} {
		if code := AwakeMain(args); code != ExitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
}
