package executor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// These tests use real processes. A child of the test stands for a task; so
// that it is found although it descends from the test, Proc.Self is no process.

var liveProc = Proc{Root: "/proc", Self: -1}

// startTask starts a process that looks like a task of Nomad; without a command it sleeps.
func startTask(t *testing.T, id TaskID, attributes *syscall.SysProcAttr, command ...string) int {
	t.Helper()
	if len(command) == 0 {
		command = []string{"sleep", "60"}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NOMAD_ALLOC_ID=" + id.AllocID, "NOMAD_TASK_NAME=" + id.Task, "GREETING=hello"}
	cmd.Dir = "/"
	cmd.SysProcAttr = attributes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed: that is its end
	})
	return cmd.Process.Pid
}

func state(t *testing.T, pid int) byte {
	t.Helper()
	s, err := liveProc.stat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.state
}

// awaitState waits for a process to be in a state: a signal takes a moment.
func awaitState(t *testing.T, pid int, want byte) {
	t.Helper()
	for range 20_000 {
		if state(t, pid) == want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("process %d is in state %c, want %c", pid, state(t, pid), want)
}

// Without a control group of its own the target is stopped by signals. What is
// paused is on record while it is, so that another process can resume it.
func TestPauseBySignal(t *testing.T) {
	t.Parallel()
	id := TaskID{AllocID: "pause-" + strconv.Itoa(os.Getpid()), Task: "web"}
	pid := startTask(t, id, nil)
	record := filepath.Join(t.TempDir(), PausedFile)
	target := &Target{Procs: liveProc, Tasks: []TaskID{id}, Record: record}
	for range 2 {
		if err := target.Pause(context.Background()); err != nil {
			t.Fatal(err)
		}
		awaitState(t, pid, 'T')
		if _, err := os.Stat(record); err != nil {
			t.Errorf("no record of the pause: %v", err)
		}
		// As the driver does after its child was killed.
		if err := Release(cgroup.Tree{}, liveProc, record); err != nil {
			t.Fatal(err)
		}
		awaitState(t, pid, 'S')
		if err := target.Resume(); err != nil {
			t.Errorf("resuming what runs: %v", err)
		}
	}
}

func TestPauseGone(t *testing.T) {
	t.Parallel()
	target := &Target{Procs: liveProc, Tasks: []TaskID{{AllocID: "nobody", Task: "web"}}, Record: filepath.Join(t.TempDir(), PausedFile)}
	if err := target.Pause(context.Background()); !errors.Is(err, ErrNoProcess) {
		t.Errorf("paused a target that is not there: %v", err)
	}
	// A record of a process that is gone, or is another one now, is no error.
	write(t, target.Record, `{"processes":[{"pid":`+strconv.Itoa(os.Getpid())+`,"start_ticks":1},{"pid":4194304,"start_ticks":1}]}`)
	if err := target.Resume(); err != nil {
		t.Error(err)
	}
}

// A command runs as the target: its environment, directory, user and
// namespaces.
func TestExecAsTarget(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	id := TaskID{AllocID: "exec-" + strconv.Itoa(os.Getpid()), Task: "web"}
	pid := startTask(t, id, &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
	})
	awaitState(t, pid, 'S')
	reach := &Reach{Procs: liveProc, AllocID: id.AllocID}
	out, err := reach.Exec(t.Context(), "web", []string{"sh", "-c", "echo $GREETING $NOMAD_TASK_NAME; id -u; readlink /proc/self/ns/mnt /proc/self/ns/uts"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"hello", "web", "65534"}
	for _, n := range []string{"mnt", "uts"} {
		space, err := os.Readlink(liveProc.file(pid, "ns/"+n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, space)
	}
	if got := strings.Fields(string(out)); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("ran with %q, want %q", got, want)
	}
	if _, err := reach.Exec(t.Context(), "web", []string{"sh", "-c", "echo broken >&2; exit 3"}); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a failing command: %v", err)
	}
	if _, err := reach.Exec(t.Context(), "web", []string{"no-such-program"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a missing program: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reach.Exec(ctx, "web", []string{"sleep", "30"}); err == nil {
		t.Error("a command outlived its context")
	}
	// This process is where and who it was.
	if host, err := os.Readlink("/proc/self/ns/uts"); err != nil || host == want[4] || os.Geteuid() != 0 {
		t.Errorf("the test itself is in %s, %v", host, err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	id := TaskID{AllocID: "status-" + strconv.Itoa(os.Getpid()), Task: "web"}
	reach := &Reach{Procs: liveProc, AllocID: id.AllocID}
	s, err := reach.Status(t.Context(), "web")
	if err != nil || s.Running || !s.StartedAt.IsZero() {
		t.Errorf("before its start: %+v, %v", s, err)
	}
	pid := startTask(t, id, nil)
	s, err = reach.Status(t.Context(), "web")
	if err != nil || !s.Running || time.Since(s.StartedAt) > time.Hour {
		t.Errorf("running: %+v, %v", s, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitState(t, pid, 'Z')
	if _, err = reach.Status(t.Context(), "web"); !errors.Is(err, ErrEndUnknown) {
		t.Errorf("ended: %v, want ErrEndUnknown", err)
	}
	reach.exits = &exits{now: func() time.Time { return time.Unix(7, 0) }, ended: map[int]ending{}}
	reach.exits.record(pid, unix.WaitStatus(unix.SIGKILL))
	if s, err = reach.Status(t.Context(), "web"); err != nil || s.Running || s.ExitCode != 137 || s.FinishedAt.Unix() != 7 {
		t.Errorf("heard of its end: %+v, %v", s, err)
	}
}

func TestHearExits(t *testing.T) {
	t.Parallel()
	e, err := hearExits(t.Context(), time.Now)
	if err != nil {
		t.Skipf("this kernel or user has no process connector: %v", err)
	}
	for _, want := range []int{0, 7} {
		cmd := exec.Command("sh", "-c", "exit "+strconv.Itoa(want))
		_ = cmd.Run() // its exit code is looked at below
		for range 20_000 {
			if _, ok := e.of(cmd.Process.Pid); ok {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if end, ok := e.of(cmd.Process.Pid); !ok || end.code != want {
			t.Errorf("heard %+v, %v; want exit code %d", end, ok, want)
		}
	}
	if _, ok := e.of(os.Getpid()); ok {
		t.Error("heard of the end of a process that runs")
	}
}

// The newest ends are kept, the others forgotten.
func TestExitsBounded(t *testing.T) {
	t.Parallel()
	e := &exits{now: time.Now, ended: map[int]ending{}}
	for pid := range maxEndings + 5 {
		e.record(pid, 0)
	}
	if _, ok := e.of(4); ok || len(e.ended) != maxEndings {
		t.Errorf("%d ends kept", len(e.ended))
	}
	if _, ok := e.of(maxEndings + 4); !ok {
		t.Error("the newest end is forgotten")
	}
}

// The page is the workload's: where it points is not asked.
func TestAPageThatPointsElsewhereIsNotFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer host.Close()
	page := httptest.NewServer(http.RedirectHandler(host.URL, http.StatusFound))
	defer page.Close()
	r := &Reach{Procs: liveProc, AllocID: "pages", Env: map[string]string{"NOMAD_ADDR_metrics": strings.TrimPrefix(page.URL, "http://")}}
	if data, err := r.HTTPGet(t.Context(), "metrics", "/"); err == nil || followed {
		t.Errorf("read %q, %v; followed: %v", data, err, followed)
	}
}

// needsRoot is for tests that enter another process's root and namespaces, take rights
// away, or count what others do. The pipeline runs as root, and its end-to-end tests fail without.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("entering another process's root and namespaces, and counting what it does, needs root")
	}
}
