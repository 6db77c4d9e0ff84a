//go:build e2e

package placement

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// ofAlone is what the noisy neighbour's victim asks for, as a part of what it does alone. A
// virtual machine may be slowed down by others between two looks: where 0.75 was asked for,
// one of 156 units/s did 85 half a minute later with nothing next to it, and never reached it.
// Next to the three kernels of noise it gets a quarter of the time.
const ofAlone = 0.5

// calm is how long is watched that nothing more is changed; ten minutes for the
// record (go test -tags e2e ./e2e/placement -run Adapt -calm 10m).
var calm = flag.Duration("calm", 30*time.Second, "how long is watched that adaptation comes to rest")

// working does a little arithmetic for each unit and never rests, so that a busy
// neighbour slows it down.
const working = `i=0; while true; do for ((k=0;k<5000;k++)); do :; done; i=$((i+1)); echo "units $i"; done`

// TestAdaptToANoisyNeighbour plants a best-effort interference kernel next to a
// workload that reached its target: it must leave.
func TestAdaptToANoisyNeighbour(t *testing.T) {
	ctx := t.Context()
	// Both versions run on the same node: what it does alone says nothing of another.
	victim := func(block string) *api.Job {
		return held("victim", block, working).Constrain(api.NewConstraint("${node.class}", "=", "fast-a"))
	}
	block := strings.Replace(countingBlock, "rate = 50", "rate = 1", 1)
	submit(ctx, t, victim(block))
	runs(ctx, t, "victim")
	alone := rate(ctx, t, "victim", 10*time.Second)
	// Its profile is known: the second version is released at once.
	block = strings.Replace(countingBlock, "rate = 50", fmt.Sprintf("rate = %.1f", ofAlone*alone), 1)
	if _, _, err := shared.API().Jobs().Register(victim(block), nil); err != nil {
		t.Fatal(err)
	}
	running(ctx, t, "victim")
	node := onNode(t, "victim")
	submit(ctx, t, noise("noise", node))
	if err := shared.WaitRunning(ctx, "noise"); err != nil {
		t.Fatal(err)
	}
	if on := onNode(t, "noise"); on != node {
		t.Fatalf("the kernel was planted on %s, the workload is on %s", on, node)
	}
	planted := time.Now()
	t.Cleanup(func() {
		if t.Failed() {
			readings, err := book(t).Observations(context.Background(), workload("victim"))
			t.Logf("observed %+v (%v); recorded %+v", readings[max(0, len(readings)-5):], err, recorded(context.Background(), t, "noise"))
		}
	})
	eventually(ctx, t, "the kernel left "+node, time.Minute, func() bool { return onNode(t, "noise") != node })
	left := time.Since(planted)
	eventually(ctx, t, "the workload reaches its target again", time.Minute, func() bool {
		return rate(ctx, t, "victim", 3*time.Second) >= 0.95*ofAlone*alone
	})
	cured := time.Since(planted)
	t.Logf("alone %.1f units/s, target %.1f; the kernel left %s after %s, cured after %s", alone, ofAlone*alone, node, left.Round(100*time.Millisecond), cured.Round(100*time.Millisecond))
	if left > 30*time.Second {
		t.Errorf("it took %s, want at most 30 s", left)
	}
	actions := recorded(ctx, t, "noise")
	if len(actions) != 1 || actions[0].Kind != "evict" || !contains(actions[0].Reason, "victim/main") {
		t.Errorf("recorded %+v", actions)
	}
	wantEvent(ctx, t, "noise", "leaves node "+node)
	comesToRest(ctx, t, "victim", "noise")
}

// TestAdaptToALoadSpike makes each unit of work slower: the workload falls below
// its target and gets another allocation.
func TestAdaptToALoadSpike(t *testing.T) {
	ctx := t.Context()
	spike := filepath.Join(t.TempDir(), "spike")
	// It takes 1 to 15 ms to start a sleep, by the machine and its moment. With any of these one
	// allocation does 50 units/s before, misses 95 % of them after, and two reach that.
	script := strings.Replace(counting, "sleep 0.01", fmt.Sprintf("if [ -e %s ]; then sleep 0.021; else sleep 0.005; fi", spike), 1) + " # spike"
	submit(ctx, t, held("spiky", countingBlock+"scale {\n  count = [1, 2]\n}\n", script))
	running(ctx, t, "spiky")
	if before := rate(ctx, t, "spiky", 5*time.Second); before < 50 {
		t.Fatalf("it does %.1f units/s before the spike: this machine is too busy to tell", before)
	}
	if err := os.WriteFile(spike, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(ctx, t, "the count grew", time.Minute, func() bool {
		job, _, err := shared.API().Jobs().Info("spiky", nil)
		return err == nil && *job.TaskGroups[0].Count == 2
	})
	grew := time.Since(began)
	eventually(ctx, t, "the workload reaches its target again", time.Minute, func() bool { return rate(ctx, t, "spiky", 3*time.Second) >= 0.95*50 })
	t.Logf("the count grew after %s, the target was reached after %s", grew.Round(100*time.Millisecond), time.Since(began).Round(100*time.Millisecond))
	if grew > 15*time.Second {
		t.Errorf("it took %s, want at most 15 s", grew)
	}
	actions := recorded(ctx, t, "spiky")
	if len(actions) != 1 || actions[0].Kind != "grow" || actions[0].From != "count 1" || actions[0].To != "count 2" || actions[0].Result != "done" {
		t.Errorf("recorded %+v", actions)
	}
	wantEvent(ctx, t, "spiky", "2 allocations instead of 1")
	d, err := book(t).Decision(ctx, workload("spiky"))
	if err != nil || d.Outcome != placer.Placed || d.Count != 2 {
		t.Errorf("decision %s of %d (%s), %v", d.Outcome, d.Count, d.Reason, err)
	}
	comesToRest(ctx, t, "spiky")
	var out bytes.Buffer
	if err := shared.Placer(ctx, &out, "rebalance", "-dry-run"); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	t.Logf("rebalance -dry-run says:\n%s", out.String())
}

// noise is a best-effort job whose three kernels take CPU time from one node. It goes
// past the gate, as a job that names the run pool would.
func noise(id, node string) *api.Job {
	task := api.NewTask("noise", "ibench").
		SetConfig("kernel", []map[string]any{{"source": "int", "intensity": 100}, {"source": "fp", "intensity": 100}, {"source": "vector", "intensity": 100}}).
		SetConfig("max_duration", "20m").
		Require(&api.Resources{CPU: ptr(1000), MemoryMB: ptr(64)})
	group := api.NewTaskGroup("main", 1).AddTask(task)
	group.Meta = map[string]string{"performance": "target {\n  best_effort = true\n}\n"}
	affinity := api.NewAffinity("${node.unique.name}", "=", node, 100)
	return api.NewServiceJob(id, id, "global", 50).AddTaskGroup(group).AddAffinity(affinity)
}

// runs waits for the job's release and until it runs.
func runs(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	released(ctx, t, id, 2*time.Minute)
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
}

// running also waits for the job's deployment to be over: before, it is left alone.
func running(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	runs(ctx, t, id)
	eventually(ctx, t, id+" is deployed", 2*time.Minute, func() bool {
		d, _, err := shared.API().Jobs().LatestDeployment(id, nil)
		return err == nil && (d == nil || d.Status == "successful")
	})
}

// rate is what the job's allocations do together over a window.
func rate(ctx context.Context, t *testing.T, id string, window time.Duration) float64 {
	t.Helper()
	spec := performance.Spec{
		Target: performance.Target{Kind: performance.Rate, Rate: 1},
		Probe:  &performance.ProbeSpec{Type: "log", Pattern: `units (\d+)`},
	}
	list, err := shared.World.Observe(ctx, placer.Workload{ID: workload(id), Spec: spec}, window)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, o := range list {
		sum += o.Measure.RatePerSec // nothing where there is no number
	}
	return sum
}

// onNode is the node the job's one allocation is on, empty where it has none.
func onNode(t *testing.T, id string) string {
	t.Helper()
	nodes, err := shared.Nodes(id)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(nodes, " ")
}

func recorded(ctx context.Context, t *testing.T, id string) []placer.ActionRecord {
	t.Helper()
	list, err := book(t).Actions(ctx, workload(id))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// wantEvent looks for the reason where a user of Nomad looks: at the scaling events.
// It is recorded when the action has ended, which is after its first effect.
func wantEvent(ctx context.Context, t *testing.T, id, text string) {
	t.Helper()
	eventually(ctx, t, "a scaling event of "+id+" says "+text, time.Minute, func() bool {
		status, _, err := shared.API().Jobs().ScaleStatus(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(status.TaskGroups["main"].Events, func(e api.ScalingEvent) bool { return contains(e.Message, text) })
	})
}

// comesToRest watches that nothing more is written to the jobs.
func comesToRest(ctx context.Context, t *testing.T, ids ...string) {
	t.Helper()
	before := map[string]uint64{}
	for _, id := range ids {
		before[id] = modifyIndex(t, id)
	}
	select {
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	case <-time.After(*calm):
	}
	for _, id := range ids {
		if now := modifyIndex(t, id); now != before[id] {
			t.Errorf("%s was written again within %s: %+v", id, *calm, recorded(ctx, t, id))
		}
	}
}

func modifyIndex(t *testing.T, id string) uint64 {
	t.Helper()
	job, _, err := shared.API().Jobs().Info(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return *job.JobModifyIndex
}
