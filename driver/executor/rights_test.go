package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// A command that a job names for its probe has the rights of the task, not those of the
// driver, which runs as root: else it is a way from a container to its host.
func TestExecHasTheRightsOfTheTask(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatalf("setpriv, of util-linux, which every Debian has: %v", err)
	}
	group := newGroup(t)
	id := TaskID{AllocID: "rights-" + strconv.Itoa(os.Getpid()), Task: "web"}
	cmd := exec.Command(setpriv, "--bounding-set=-all,+chown", "--inh-caps=-all", "--no-new-privs", "sleep", "60")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NOMAD_ALLOC_ID=" + id.AllocID, "NOMAD_TASK_NAME=" + id.Task}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed: that is its end
	})
	pid := cmd.Process.Pid
	awaitState(t, pid, 'S')
	if err := group.Join(pid); err != nil {
		t.Fatal(err)
	}

	reach := &Reach{Procs: liveProc, AllocID: id.AllocID}
	out, err := reach.Exec(t.Context(), "web", []string{"cat", "/proc/self/status", "/proc/self/cgroup"})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"} {
		want, err := liveProc.statusField(pid, name)
		if err != nil {
			t.Fatal(err)
		}
		if line := name + ":\t" + want; !slices.Contains(lines, line) {
			t.Errorf("the task has %s, its probe has not", line)
		}
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, group.Path()) }) {
		t.Errorf("the probe is not in the task's control group %s: %s", group.Path(), out)
	}
	device := filepath.Join(t.TempDir(), "device")
	if _, err := reach.Exec(t.Context(), "web", []string{"mknod", device, "b", "7", "0"}); err == nil {
		t.Error("the probe made a block device, which the task cannot")
	}
	// This thread and this process have what they had.
	if own, err := liveProc.capabilities(os.Getpid(), "CapBnd"); err != nil || own == 1 {
		t.Errorf("the test itself has %x, %v", own, err)
	}
}

// newGroup is a control group that is removed when what was started later has ended.
func newGroup(t *testing.T) cgroup.Group {
	t.Helper()
	tree, err := cgroup.Detect("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	g, err := tree.Create(fmt.Sprintf("rights-test-%d", os.Getpid()), cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestRestrictionsThatCannotBeCopied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, p Proc)
		want   string // in the error; empty: none
	}{
		{"as the driver's own", func(*testing.T, Proc) {}, ""},
		{"filtered system calls", func(t *testing.T, p Proc) {
			setStatus(t, p, "Seccomp:\t2\n")
		}, "seccomp"},
		{"another user namespace", func(t *testing.T, p Proc) {
			link(t, "user:[7]", filepath.Join(p.Root, "200/ns/user"))
			link(t, "user:[1]", filepath.Join(p.Root, "100/ns/user"))
		}, "user namespace"},
		{"confined by a security module", func(t *testing.T, p Proc) {
			if err := os.Mkdir(filepath.Join(p.Root, "200/attr"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(p.Root, "200/attr/current"), "docker-default (enforce)\n")
		}, "docker-default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := fakeProc(t, fakeProcess{pid: 200, parent: 1, start: 60})
			setStatus(t, p, "Seccomp:\t0\n")
			c.change(t, p)
			got, err := p.rights(200, 0)
			if c.want == "" {
				if want := (rights{capabilities: 0x20, ambient: 0x20, noNewPrivs: true}); err != nil || got != want {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
				return
			}
			if !errors.Is(err, ErrRestricted) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want ErrRestricted because of %q", err, c.want)
			}
		})
	}
}

// setStatus gives process 200 capabilities and one more line of its status.
func setStatus(t *testing.T, p Proc, line string) {
	t.Helper()
	write(t, filepath.Join(p.Root, "200/status"), "Name:\tx\nCapPrm:\t0000000000000021\nCapBnd:\t0000000000000030\nCapAmb:\t0000000000000061\nNoNewPrivs:\t1\n"+line)
}
