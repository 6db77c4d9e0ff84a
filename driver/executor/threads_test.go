package executor

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// The threads of several processes are told apart, those that end meanwhile are left out, and
// neither what is unreadable nor a workload of very many threads is taken for an answer.
func TestThreads(t *testing.T) {
	t.Parallel()
	proc := fakeProc(t, fakeProcess{pid: 200, parent: 1, start: 60}, fakeProcess{pid: 300, parent: 1, start: 60})
	thread := func(pid, tid int, ran, waits string) {
		dir := filepath.Join(proc.Root, fmt.Sprint(pid), "task", fmt.Sprint(tid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if ran != "" {
			write(t, filepath.Join(dir, "schedstat"), ran+" 17 99\n")
			write(t, filepath.Join(dir, "status"), "Name:\tx\nvoluntary_ctxt_switches:\t"+waits+"\nnonvoluntary_ctxt_switches:\t5\n")
		}
	}
	thread(200, 200, "5000000", "10")
	thread(200, 201, "0", "0")
	thread(200, 202, "", "") // ended
	thread(300, 300, "7", "9")
	got, err := proc.Threads([]int{200, 300, 400}) // 400 has ended
	want := map[int]profiler.ThreadTime{200: {Ran: 5 * time.Millisecond, Waits: 10}, 201: {}, 300: {Ran: 7, Waits: 9}}
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%v, %v", got, err)
	}
	for _, bad := range [][2]string{{"x", "0"}, {"0", "x"}, {"0", ""}} {
		thread(300, 300, bad[0], bad[1])
		if _, err := proc.Threads([]int{200, 300}); err == nil {
			t.Errorf("no error of %q", bad)
		}
	}
	for tid := range mostThreads {
		thread(300, 1000+tid, "0", "0")
	}
	if _, err := proc.Threads([]int{200, 300}); !errors.Is(err, ErrManyThreads) {
		t.Errorf("%d threads: %v", mostThreads+3, err)
	}
}

// On this machine: this process has run.
func TestThreadsOfThisProcess(t *testing.T) {
	t.Parallel()
	got, err := Proc{Root: "/proc"}.Threads([]int{os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	var sum profiler.ThreadTime
	for _, x := range got {
		sum.Ran, sum.Waits = sum.Ran+x.Ran, sum.Waits+x.Waits
	}
	if sum.Ran <= 0 || sum.Waits <= 0 {
		t.Errorf("%+v", sum)
	}
}
