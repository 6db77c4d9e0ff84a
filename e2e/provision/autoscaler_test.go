//go:build e2e

package provision

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const (
	healthPort = 19095 // of the autoscaler
	apmPlugin  = "nomad-placer-apm"
	targetName = "provision-target"
	// startWithin is how long nodes may take to come or go on a busy machine, the start of an
	// autoscaler included. It waits half a minute before it starts a killed plugin again.
	startWithin = 90 * time.Second
)

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

// newAutoscaler writes what an autoscaler is configured with. It is not started yet.
func newAutoscaler(t *testing.T, r rented, agent *scripted) *daemon {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{apmPlugin, targetName} {
		if err := os.Symlink(program(t, plugin, "make build provision-target"), filepath.Join(dir, "plugins", plugin)); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "autoscaler.hcl")
	text := fmt.Sprintf(autoscalerConfig, filepath.Join(dir, "plugins"), healthPort, r.Addr(), agent.url, agent.ca, agent.token, r.Dir(), burstPort)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	job, err := r.API().Jobs().ParseHCL(policyJob, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	return newDaemon(t, autoscalerBinary(t), "agent", "-config", config)
}

func autoscalerBinary(t *testing.T) string {
	if explicit := os.Getenv("NOMAD_AUTOSCALER_BIN"); explicit != "" {
		return explicit
	}
	return program(t, "nomad-autoscaler", "make autoscaler")
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
		{apmPlugin, func() { a.killChild(t, apmPlugin) }},
		{targetName, func() { a.killChild(t, targetName) }},
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

	a.killChild(t, apmPlugin)
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
