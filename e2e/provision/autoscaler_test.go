//go:build e2e

package provision

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	healthPort = 19095 // of the autoscaler
	apmPlugin  = "nomad-placer-apm"
	targetName = "provision-target"
	// startWithin is how long nodes may take to come or go on a busy machine, the start of an
	// autoscaler included.
	startWithin = 40 * time.Second
)

// autoscaler is the real one, as an operator runs it.
type autoscaler struct {
	bin, config, log string

	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
}

const autoscalerConfig = `
log_level  = "DEBUG"
plugin_dir = %q
http {
  bind_port = %d
}
nomad {
  address = %q
}
apm "placer" {
  driver = "nomad-placer-apm"
  config = {
    address    = %q
    ca_file    = %q
    token_file = %q
  }
}
target "machines" {
  driver = "provision-target"
  config = {
    dir            = %q
    http_port_base = "%d"
  }
}
`

// policyJob is a job that runs nothing and holds the policy: autoscaler 0.4.7 panics when it reads
// one from a file (hashicorp/nomad-autoscaler#1167).
const policyJob = `
job "burst-4" {
  group "policy" {
    count = 0
    scaling {
      enabled = true
      min     = 0
      max     = 3
      policy {
        cooldown            = "1s"
        evaluation_interval = "1s"
        check "wanted" {
          source = "placer"
          query  = "burst-4"
          strategy "pass-through" {}
        }
        target "machines" {
          node_class = "burst-4"
        }
      }
    }
    task "none" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
    }
  }
}
`

// newAutoscaler writes what an autoscaler is configured with. It is started by start.
func newAutoscaler(t *testing.T, r rented, agent *scripted) *autoscaler {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{apmPlugin, targetName} {
		if err := os.Symlink(program(t, plugin, "make build workload"), filepath.Join(dir, "plugins", plugin)); err != nil {
			t.Fatal(err)
		}
	}
	a := &autoscaler{bin: autoscalerBinary(t), config: filepath.Join(dir, "autoscaler.hcl"), log: filepath.Join(dir, "autoscaler.log")}
	text := fmt.Sprintf(autoscalerConfig, filepath.Join(dir, "plugins"), healthPort, r.Addr(), agent.url, agent.ca, agent.token, r.Dir(), burstPort)
	if err := os.WriteFile(a.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	job, err := r.API().Jobs().ParseHCL(policyJob, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.kill(t)
		if t.Failed() {
			text, _ := os.ReadFile(a.log) // what there is
			t.Logf("the autoscaler's log:\n%s", text)
		}
	})
	return a
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

func autoscalerBinary(t *testing.T) string {
	if explicit := os.Getenv("NOMAD_AUTOSCALER_BIN"); explicit != "" {
		return explicit
	}
	return program(t, "nomad-autoscaler", "make autoscaler")
}

// start runs it. It dies with the test, whose thread it is a child of.
func (a *autoscaler) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(a.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	cmd, done, started := exec.Command(a.bin, "agent", "-config", a.config), make(chan struct{}), make(chan error)
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
	a.cmd, a.done = cmd, done
}

// kill ends it at once, as a crash would. Its plugins notice by themselves.
func (a *autoscaler) kill(t *testing.T) {
	t.Helper()
	if a.cmd == nil {
		return
	}
	_ = a.cmd.Process.Kill() // it may have ended
	<-a.done
	a.cmd = nil
}

// restart is what an operator or Nomad does when it, or a plugin of it, ended.
func (a *autoscaler) restart(t *testing.T) {
	t.Helper()
	a.kill(t)
	a.start(t)
}

// killPlugin ends a plugin of the autoscaler.
func (a *autoscaler) killPlugin(t *testing.T, plugin string) {
	t.Helper()
	var pid int
	eventually(t, plugin+" runs", startWithin, func() bool {
		pid = childNamed(t, a.cmd.Process.Pid, plugin)
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

// TestAutoscalerRents: the stock autoscaler rents what the agent wants through nomad-placer-apm,
// its strategy pass-through and a target. Whoever is killed at whatever step, no node is left over
// and none too many is there.
func TestAutoscalerRents(t *testing.T) {
	r, agent := startBase(t), newScripted(t)
	a := newAutoscaler(t, r, agent)
	a.start(t)
	agent.heard(t, 2)
	if names := r.alive(t); len(names) != 0 {
		t.Fatalf("%v are rented, and none is wanted", names)
	}
	for _, victim := range []struct {
		name string
		kill func()
	}{
		{"autoscaler", func() { a.kill(t) }},
		{apmPlugin, func() { a.killPlugin(t, apmPlugin) }},
		{targetName, func() { a.killPlugin(t, targetName) }},
	} {
		began := time.Now()
		agent.want(2)
		eventually(t, "a node starts", startWithin, func() bool { return len(r.alive(t)) > 0 })
		victim.kill() // while nodes start
		a.restart(t)
		names := r.nodes(t, 2, startWithin)

		victim.kill() // while nothing is to do
		a.restart(t)
		agent.heard(t, 3)
		if now := r.nodes(t, 2, startWithin); !slices.Equal(now, names) {
			t.Errorf("%s was killed while nothing was to do, and the nodes %v became %v", victim.name, names, now)
		}

		agent.want(0)
		eventually(t, "a node ends", startWithin, func() bool { return leaving(t, r) })
		victim.kill() // while nodes end
		a.restart(t)
		r.nodes(t, 0, startWithin)
		if found := r.agents(t); len(found) != 2 {
			t.Fatalf("the agents besides the server and the base are left over: %v", found)
		}
		t.Logf("%s was killed three times, %.1f s", victim.name, time.Since(began).Seconds())
	}
}

// leaving reports whether a rented node is drained, or one of the two is gone.
func leaving(t *testing.T, r rented) bool {
	t.Helper()
	nodes, _, err := r.API().Nodes().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	ready := 0
	for _, n := range nodes {
		if n.NodeClass == burst && n.SchedulingEligibility == "eligible" {
			ready++
		}
	}
	return ready < 2
}

// TestSilenceIsNotZero: while the agent cannot be asked, whatever the reason, nodes are neither
// rented nor ended.
func TestSilenceIsNotZero(t *testing.T) {
	r, agent := startBase(t), newScripted(t)
	a := newAutoscaler(t, r, agent)
	agent.want(1)
	a.start(t)
	names := r.nodes(t, 1, startWithin)

	agent.fall(true)
	agent.heard(t, 3)
	unchanged(t, r, names, "the agent answered with an error")
	agent.fall(false)

	a.killPlugin(t, apmPlugin)
	agent.want(0) // which nobody hears
	asked := agent.count()
	time.Sleep(4 * time.Second) // four evaluations: there is nothing to wait for
	if agent.count() != asked {
		t.Fatal("a plugin that was killed asked the agent")
	}
	unchanged(t, r, names, "the plugin was gone")
	a.restart(t)
	r.nodes(t, 0, startWithin)
}

func unchanged(t *testing.T, r rented, names []string, when string) {
	t.Helper()
	if now := r.alive(t); !slices.Equal(now, names) {
		t.Errorf("while %s the nodes %v became %v", when, names, now)
	}
}
