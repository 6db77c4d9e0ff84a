//go:build e2e

package provision

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// noiseJob is another customer of the machine that all nodes of this test share: kernels on owned
// nodes.
func noiseJob() *api.Job {
	var kernels []map[string]any
	for _, source := range []string{"int", "fp", "vector", "mem_bw", "l2_cap", "prefetch"} {
		kernels = append(kernels, map[string]any{"source": source, "intensity": 100})
	}
	task := api.NewTask("noise", "ibench").SetConfig("kernel", kernels).Require(&api.Resources{CPU: ptr(500), MemoryMB: ptr(512)})
	job := api.NewServiceJob("noise", "noise", "global", 50).AddTaskGroup(api.NewTaskGroup("main", 1).AddTask(task))
	return job.Constrain(api.NewConstraint("${node.class}", "=", "base"))
}

// submitLarge registers a job, held, of which a rented node has room for one.
func (r renting) submitLarge(t *testing.T, id string) {
	t.Helper()
	job := surgeJob(id, "wary")
	job.TaskGroups[0].Tasks[0].Resources.MemoryMB = ptr(600)
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
}

// reported is what the agent says of rented nodes, by name.
func (r renting) reported(t *testing.T) map[string]provision.NodeReport {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/v1/provision", agentPort), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Nomad-Token", r.rig.Token())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var report provision.Report
	if err := json.NewDecoder(response.Body).Decode(&report); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", response.Status, err)
	}
	out := map[string]provision.NodeReport{}
	for _, n := range report.Nodes {
		out[n.Name] = n
	}
	return out
}

// cpuPercent is how much of a CPU a job of one allocation takes; 0: that is not known yet.
func (r renting) cpuPercent(t *testing.T, job string) float64 {
	t.Helper()
	allocations, _, err := r.API().Jobs().Allocations(job, false, nil)
	if err != nil || len(allocations) != 1 {
		t.Fatalf("%+v, %v", allocations, err)
	}
	usage, err := r.API().Allocations().Stats(&api.Allocation{ID: allocations[0].ID, NodeID: allocations[0].NodeID}, nil)
	if err != nil || usage.ResourceUsage == nil || usage.ResourceUsage.CpuStats == nil {
		return 0
	}
	return usage.ResourceUsage.CpuStats.Percent
}

// TestANoisyNodeIsNotRetained: nodes are measured by kernels before they get a job. Of one on whose
// machine others press more than its job tolerates the agent says so, the job gets it all the same,
// and it leaves as soon as that has ended. All nodes here are one machine: they are measured one after
// the other, for two at the same time would press on each other.
func TestANoisyNodeIsNotRetained(t *testing.T) {
	r := startRenting(t)
	r.submitLarge(t, "wary-1")
	r.know(t, "wary-1", 25) // so that it demands 75, which P2 sends to rented nodes
	began := time.Now()
	phase := func(what string) {
		t.Logf("%5.1f s: %s", time.Since(began).Seconds(), what)
	}
	r.agent.start(t)
	quiet := r.nodes(t, 1, startWithin)[0]
	r.on(t, "wary-1")
	phase(quiet + ": " + r.reported(t)[quiet].Why)

	if _, _, err := r.API().Jobs().Register(noiseJob(), nil); err != nil {
		t.Fatal(err)
	}
	r.on(t, "noise")
	eventually(t, "its kernels run", startWithin, func() bool { return r.cpuPercent(t, "noise") > 100 })
	phase("others press on the machine")
	r.submitLarge(t, "wary-2")
	names := r.nodes(t, 2, startWithin)
	noisy := names[slices.IndexFunc(names, func(n string) bool { return n != quiet })]
	r.on(t, "wary-2")
	got := r.reported(t)[noisy]
	phase(fmt.Sprintf("%s: %s", noisy, got.Why))
	if !strings.Contains(got.Why, "was not good enough") {
		t.Fatalf("%+v", got)
	}
	if err := r.rig.Purge(t.Context(), "wary-2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the noisy node has gone", goneWithin, func() bool {
		n, there := r.reported(t)[noisy]
		if n.State == provision.Vacant {
			t.Errorf("it is retained: %+v", n)
		}
		return !there
	})
	phase("its job has ended, and it is gone")
	nodes, err := r.run.Nodes(burst)
	if err != nil || slices.ContainsFunc(nodes, func(n cluster.Rented) bool { return n.Name == noisy && n.PID != 0 }) {
		t.Errorf("%+v, %v", nodes, err)
	}
}
