//go:build e2e

package provision

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

const (
	// agentPort serves the pages of the agent.
	agentPort = 19090
	// goneWithin bounds how long nodes stay whose jobs are gone: another agent leads after 15 s, and
	// an idle node is kept for twice its spin-up.
	goneWithin = time.Minute
)

// rentingConfig is the agent's: the base for jobs that demand more than 80 of a resource, rented
// nodes for all others, each for two jobs.
const rentingConfig = `
exec_probes = true
listen      = "127.0.0.1:%d"

pools {
  hold = "placer"
  run  = "default"
}

provision {
  strategy     = "HM"
  mapping      = "P2"
  max_per_hour = 1
  retention    = 2

  reserved {
    attribute = "node.class"
    value     = "base"
  }

  instance_type "burst-4" {
    cores          = 2
    memory_mb      = 1024
    price_per_hour = 0.25
    spin_up        = "5s"
    max            = 3
  }

  target_plugin {
    command = %q
    config = {
      dir            = %q
      http_port_base = "%d"
      hcl_file       = %q
      memory_mb      = "1024"
      nomad_token    = %q
    }
  }
}
`

// renting is a cluster whose agent rents nodes by itself.
type renting struct {
	rented
	rig   *rig.Rig
	agent *daemon
	token string // a file
}

// startRenting starts a base with the driver, and writes what an agent that rents is configured
// with. The agent is not started yet.
func startRenting(t *testing.T) renting {
	t.Helper()
	return startConfigured(t, func(r *rig.Rig, dir string) string {
		return fmt.Sprintf(rentingConfig, agentPort, program(t, targetName, "make provision-target"), r.Dir(), burstPort, filepath.Join(dir, "node.hcl"), r.Token())
	})
}

// startConfigured is startRenting with another configuration, in a directory.
func startConfigured(t *testing.T, config func(r *rig.Rig, dir string) string) renting {
	t.Helper()
	ctx := t.Context()
	r, err := rig.Start(ctx, rig.Options{Bin: binDir, BasePort: basePort, RunID: "prov", Clients: []cluster.Client{{Name: "base", Class: "base"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := r.CreateHoldPool(); err != nil {
		t.Fatal(err)
	}
	run, err := cluster.Join(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"token":     r.Token(),
		"node.hcl":  rig.DriverHCL("prov", "NODE", ""),
		"agent.hcl": config(r, dir),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	agent := newDaemon(t, program(t, "nomad-placer", "make build"),
		"agent", "-config", filepath.Join(dir, "agent.hcl"), "-address", r.Addr(), "-token-file", filepath.Join(dir, "token"))
	return renting{rented{r.Cluster, run}, r, agent, filepath.Join(dir, "token")}
}

// work does a hundred units a second, and says so.
const work = `i=0; while true; do i=$((i+1)); echo "units $i"; sleep 0.01; done # %s`

// surgeJob is a job of a kind, "sensitive" or "tolerant": what it does is the same, but the text of
// its command and so its profile are not.
func surgeJob(id, kind string) *api.Job {
	task := api.NewTask("main", "raw_exec").
		SetConfig("command", "/bin/bash").
		SetConfig("args", []string{"-c", fmt.Sprintf(work, kind)}).
		Require(&api.Resources{CPU: ptr(500), MemoryMB: ptr(64)})
	task.KillSignal = "SIGKILL" // a shell between two sleeps hears nothing gentler
	group := api.NewTaskGroup("main", 1).AddTask(task)
	group.Meta = map[string]string{"performance": "target {\n  rate = 5\n}\nprobe \"log\" {\n  pattern = \"units (\\\\d+)\"\n}\n"}
	job := api.NewServiceJob(id, id, "global", 50).AddTaskGroup(group)
	job.NodePool = ptr(rig.HoldPool)
	return job
}

func ptr[T any](v T) *T { return &v }

// submit registers a job, held.
func (r renting) submit(t *testing.T, id, kind string) {
	t.Helper()
	if _, _, err := r.API().Jobs().Register(surgeJob(id, kind), nil); err != nil {
		t.Fatal(err)
	}
}

// know has the placer know what a job tolerates, as if it had profiled it before: from every source
// so many percent.
func (r renting) know(t *testing.T, id string, tolerated float64) {
	t.Helper()
	ctx := t.Context()
	job, err := r.rig.World.Job(ctx, placer.JobID{Namespace: "default", ID: id})
	if err != nil || len(job.Workloads) != 1 {
		t.Fatalf("%+v, %v", job, err)
	}
	w := job.Workloads[0]
	p := profile.Profile{
		Format: profile.Format, Key: w.ProfileKey, Workload: w.ID.String(), Taken: time.Now(), SlowdownMax: 5, Target: w.Spec.Target, Complete: true,
		Machine:     profile.Machine{Configuration: "base", CPUs: []int{0}},
		Isolated:    map[string]profile.Measurement{"base": isolated, burst: isolated},
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
	}
	for _, s := range interference.Sources() {
		p.Sensitivity.Tolerated[s.Source] = interference.Estimate{Score: interference.Percent(tolerated), Origin: interference.Measured}
		p.Sensitivity.Caused[s.Source] = interference.Estimate{Score: interference.Percent(0), Origin: interference.Measured}
	}
	if _, err := (store.Profiles{Store: r.records(t)}).Put(ctx, p, store.Any); err != nil {
		t.Fatal(err)
	}
}

// isolated is the speed of the work.
var isolated = profile.Measurement{Value: 90, Low: 85, High: 95, Unit: "units/s", Windows: 10}

func (r renting) records(t *testing.T) store.Store {
	t.Helper()
	s, err := nomadvars.New(r.API(), nomadvars.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// on waits until jobs run, and returns the class of the node of each.
func (r renting) on(t *testing.T, jobs ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	classes := map[string]string{}
	for _, id := range jobs {
		if err := r.rig.WaitRunning(ctx, id); err != nil {
			t.Fatalf("%s: %v; its decision: %s", id, err, r.decided(t, id))
		}
		names, err := r.rig.Nodes(id)
		if err != nil || len(names) != 1 {
			t.Fatalf("%s runs on %v, %v", id, names, err)
		}
		classes[id] = "base"
		if strings.HasPrefix(names[0], burst) {
			classes[id] = burst
		}
	}
	return classes
}

// decided is what the record says of a job, for messages.
func (r renting) decided(t *testing.T, id string) string {
	t.Helper()
	d, err := journal.Book{Store: r.records(t)}.Decision(t.Context(), placer.WorkloadID{Namespace: "default", Job: id, Group: "main"})
	return fmt.Sprintf("%s: %s, rental %+v, warnings %q, %v", d.Outcome, d.Reason, d.Rental, d.Warnings, err)
}

// onRecord is how many nodes the account has as ready, for another agent that leads.
func (r renting) onRecord(t *testing.T) int {
	t.Helper()
	state, err := journal.Book{Store: r.records(t)}.Provision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ready := 0
	for _, s := range state.Slots {
		if s.Ready {
			ready++
		}
	}
	return ready
}

// asked is how many nodes an autoscaler would hear that are wanted, by its own plugin.
func (r renting) asked(t *testing.T) float64 {
	t.Helper()
	process := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: autoscaler.Handshake, Plugins: plugin.PluginSet{}, Cmd: exec.Command(program(t, apmPlugin, "make build")),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	defer process.Kill()
	client, err := process.Client()
	if err != nil {
		t.Fatal(err)
	}
	conn := client.(*plugin.GRPCClient).Conn
	config := map[string]string{"address": fmt.Sprintf("http://127.0.0.1:%d", agentPort), "token_file": r.token}
	if _, err := protocol.NewBasePluginServiceClient(conn).SetConfig(t.Context(), &protocol.SetConfigRequest{Config: config}); err != nil {
		t.Fatal(err)
	}
	answer, err := protocol.NewAPMPluginServiceClient(conn).Query(t.Context(), &protocol.QueryRequest{Query: burst})
	if err != nil || len(answer.GetTimestampedMetric()) != 1 {
		t.Fatalf("%v, %v", answer, err)
	}
	return answer.GetTimestampedMetric()[0].GetValue()
}

// TestAgentRents: the agent drives a target plugin by itself. In a surge jobs that tolerate much go
// to rented nodes, those that do not stay on the base; afterwards the nodes go. Agent and plugin are
// killed on the way, and no node is left over and no job lost.
func TestAgentRents(t *testing.T) {
	r := startRenting(t)
	sensitive, tolerant := []string{"sensitive-1", "sensitive-2"}, []string{"tolerant-1", "tolerant-2", "tolerant-3"}
	r.submit(t, sensitive[0], "sensitive")
	r.submit(t, tolerant[0], "tolerant")
	r.know(t, sensitive[0], 5)
	r.know(t, tolerant[0], 95)
	began := time.Now()
	phase := func(what string) {
		t.Logf("%5.1f s: %s", time.Since(began).Seconds(), what)
	}

	r.agent.start(t)
	for _, id := range tolerant[1:] {
		r.submit(t, id, "tolerant")
	}
	r.submit(t, sensitive[1], "sensitive")
	// Before the plugin has answered, its end is a failed order, and jobs go where there is room.
	r.agent.says(t, "rented nodes")
	phase("nodes are ordered; the target plugin is killed")
	r.agent.killChild(t, targetName)
	names := r.nodes(t, 2, startWithin)
	phase("two nodes are rented")
	for id, class := range r.on(t, slices.Concat(sensitive, tolerant)...) {
		if want := map[bool]string{true: "base", false: burst}[strings.HasPrefix(id, "sensitive")]; class != want {
			t.Errorf("%s runs on a node of class %s, want %s; %s", id, class, want, r.decided(t, id))
		}
	}
	if wanted := r.asked(t); wanted != 2 {
		t.Errorf("the agent tells nomad-placer-apm that %g nodes are wanted", wanted)
	}
	// Of a node whose start no agent has on record the time until another one leads counts as its
	// spin-up, and it is kept for twice that: too long for this test.
	eventually(t, "both nodes are on record", startWithin, func() bool { return r.onRecord(t) == 2 })
	phase("all jobs run, and the plugin of the autoscaler hears of both nodes; the agent is killed")

	r.agent.kill(t)
	for _, id := range tolerant {
		if err := r.rig.Purge(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	r.agent.start(t)
	if now := r.alive(t); !slices.Equal(now, names) {
		t.Errorf("the agent was killed, and the nodes %v became %v", names, now)
	}
	r.nodes(t, 0, goneWithin)
	phase("the jobs of the rented nodes are gone, and so are the nodes")
	for id, class := range r.on(t, sensitive...) {
		if class != "base" {
			t.Errorf("%s runs on a node of class %s now", id, class)
		}
	}
	if found := r.agents(t); len(found) != 2 {
		t.Errorf("the agents besides the server and the base are left over: %v", found)
	}
}
