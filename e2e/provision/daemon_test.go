//go:build e2e

package provision

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// daemon is a program that runs until it is killed, as an operator runs it.
type daemon struct {
	argv []string
	log  string

	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
}

// newDaemon does not start it yet. It is killed when the test ends, and its log is shown where the
// test failed.
func newDaemon(t *testing.T, argv ...string) *daemon {
	t.Helper()
	d := &daemon{argv: argv, log: filepath.Join(t.TempDir(), "log")}
	t.Cleanup(func() {
		d.kill(t)
		if t.Failed() {
			text, _ := os.ReadFile(d.log) // what there is
			t.Logf("the log of %s:\n%s", argv[0], text)
		}
	})
	return d
}

// program is the absolute path of a built program.
func program(t *testing.T, name, target string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(binDir, name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("run `%s` first: %v", target, err)
	}
	return path
}

// start runs it. It dies with the test, whose thread it is a child of.
func (d *daemon) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	cmd, done, started := exec.Command(d.argv[0], d.argv[1:]...), make(chan struct{}), make(chan error)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	go func() {
		runtime.LockOSThread() // the signal comes when the thread ends
		defer log.Close()
		started <- cmd.Start()
		if cmd.Process != nil {
			_ = cmd.Wait() // it is killed, mostly
		}
		close(done)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	d.cmd, d.done = cmd, done
}

// kill ends it at once, as a crash would. Its plugins notice by themselves.
func (d *daemon) kill(t *testing.T) {
	t.Helper()
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Kill() // it may have ended
	<-d.done
	d.cmd = nil
}

// restart is what an operator or Nomad does when it, or a plugin of it, ended.
func (d *daemon) restart(t *testing.T) {
	t.Helper()
	d.kill(t)
	d.start(t)
}

// says waits until a line of its log has the text.
func (d *daemon) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, strconv.Quote(text)+" is logged", startWithin, func() bool {
		log, err := os.ReadFile(d.log)
		return err == nil && strings.Contains(string(log), text)
	})
}

// killChild ends a plugin of it.
func (d *daemon) killChild(t *testing.T, plugin string) {
	t.Helper()
	var pid int
	eventually(t, plugin+" runs", startWithin, func() bool {
		pid = childNamed(t, d.cmd.Process.Pid, plugin)
		return pid != 0
	})
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// childNamed is the child of a process that runs a program, or 0.
func childNamed(t *testing.T, parent int, program string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it ended meanwhile
		}
		// The fields after the name, which may have blanks: state, parent.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		argv, err := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		first, _, _ := strings.Cut(string(argv), "\x00")
		if err != nil || len(fields) < 2 || fields[1] != strconv.Itoa(parent) || filepath.Base(first) != program {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			return pid
		}
	}
	return 0
}
