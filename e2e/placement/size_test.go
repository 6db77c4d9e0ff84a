//go:build e2e

package placement

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// wideClass is the class of the one node of several CPUs. Only the tests of sizes
// make it eligible: it shares its CPUs with all other nodes.
const wideClass = "wide"

// wideMHz leaves the agent and a profiler room beside two reserved cores.
const wideMHz = 20000

// wideNode is a node of all CPUs, or none on a machine of one.
func wideNode(cpus []int) []cluster.Client {
	if len(cpus) < 2 {
		return nil
	}
	return []cluster.Client{{Name: wideClass, Class: wideClass, CPUs: cpus, CPUMHz: wideMHz}}
}

// openWide makes the wide node eligible until the test ends.
func openWide(ctx context.Context, t *testing.T) {
	t.Helper()
	if i, ok := shared.ClientNamed(wideClass); !ok {
		cpus, err := cluster.AllowedCPUs(os.Getpid())
		t.Fatalf("no node of two CPUs is there: client %d of CPUs %v, %v", i, cpus, err)
	}
	setWide(t, true)
	t.Cleanup(func() { setWide(t, false) })
	eventually(ctx, t, "the placer sees the wide node", 30*time.Second, func() bool {
		s, err := shared.World.Snapshot(ctx)
		if err != nil {
			return false
		}
		for _, n := range s.Nodes {
			if n.Class == wideClass && n.Ready {
				return true
			}
		}
		return false
	})
}

func setWide(t *testing.T, eligible bool) {
	t.Helper()
	if err := toggleWide(shared.API(), eligible); err != nil {
		t.Error(err)
	}
}

func toggleWide(nomad *api.Client, eligible bool) error {
	nodes, _, err := nomad.Nodes().List(nil)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.NodeClass == wideClass {
			_, err := nomad.Nodes().ToggleEligibility(n.ID, eligible, nil)
			return err
		}
	}
	return nil
}

// perCPU is a program that starts as many workers as it has CPUs, as most do; each
// does at most fifty units a second.
const perCPU = `n=$(nproc); i=0; while true; do i=$((i+n)); echo "units $i"; sleep 0.02; done`

// perCPUBlock asks for more than one of its workers does and less than two do.
const perCPUBlock = `
policy = "quasar"
target {
  rate = 60
}
probe "log" {
  pattern = "units (\\d+)"
}
scale {
  cores = [1, 2]
}
profile {
  seconds = 8
  sources = ["int"]
}
`

// onWide asks for whole cores on the wide node.
func onWide(cores int) func(*api.Job) {
	return func(j *api.Job) {
		j.Constraints = append(j.Constraints, api.NewConstraint("${node.class}", "=", wideClass))
		j.TaskGroups[0].Tasks[0].Resources = &api.Resources{Cores: ptr(cores), MemoryMB: ptr(64)}
	}
}

// sizedAs waits for the release and returns what was decided and given.
func sizedAs(ctx context.Context, t *testing.T, id string) (placer.Decision, *api.TaskGroup) {
	t.Helper()
	job := released(ctx, t, id, 3*time.Minute)
	d, err := book(t).Decision(ctx, workload(id))
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != placer.Placed || d.Sizing == nil {
		t.Fatalf("outcome %s (%s), sizing %+v, warnings %q", d.Outcome, d.Reason, d.Sizing, d.Warnings)
	}
	return d, job.TaskGroups[0]
}

func cores(g *api.TaskGroup) int { return *g.Tasks[0].Resources.Cores }

// TestSizeARateJobGetsTheCoresItNeeds: one core does not suffice, so it gets two
// before its first allocation; everybody may read why; the same job submitted again
// keeps them; strip gives back what the user wrote.
func TestSizeARateJobGetsTheCoresItNeeds(t *testing.T) {
	ctx := t.Context()
	openWide(ctx, t)
	const id = "size-rate"
	submit(ctx, t, held(id, perCPUBlock, perCPU, onWide(1)))
	d, group := sizedAs(ctx, t, id)
	if cores(group) != 2 || d.Resources.Cores != 2 || !d.Sizing.Reaches || d.Sizing.OwnWas.Cores != 1 {
		t.Fatalf("given %d cores; sizing %+v; warnings %q", cores(group), d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	checkOrder(t, id)
	first := onlyAlloc(t, id)
	if got := reservedCores(ctx, t, id); got != 2 {
		t.Errorf("Nomad reserved %d cores", got)
	}
	eventually(ctx, t, "two workers are at work", 30*time.Second, func() bool { return workers(ctx, t, id) > 1.5 })
	checkExplained(ctx, t, id, "2 cores")

	again := held(id, perCPUBlock, perCPU, onWide(1))
	if _, _, err := shared.API().Jobs().Register(again, nil); err != nil {
		t.Fatal(err)
	}
	if d, group := sizedAs(ctx, t, id); cores(group) != 2 || !d.Sizing.Kept {
		t.Errorf("submitted again it has %d cores: %+v", cores(group), d.Sizing)
	}
	if now := onlyAlloc(t, id); now.ID != first.ID {
		t.Error("submitted again without a change it was replaced")
	}
	if _, err := shared.World.StripJob(ctx, placer.JobID{Namespace: "default", ID: id}); err != nil {
		t.Fatal(err)
	}
	job, _, err := shared.API().Jobs().Info(id, nil)
	if err != nil || cores(job.TaskGroups[0]) != 1 {
		t.Errorf("stripped it has %d cores, %v", cores(job.TaskGroups[0]), err)
	}
	for _, c := range job.TaskGroups[0].Constraints {
		if contains(c.RTarget, placerMark) {
			t.Errorf("stripped it carries %s", c)
		}
	}
}

// onlyAlloc is the one allocation of a job that is to run.
func onlyAlloc(t *testing.T, id string) *api.Allocation {
	t.Helper()
	stubs, _, err := shared.API().Jobs().Allocations(id, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var running []string
	for _, a := range stubs {
		if a.DesiredStatus == api.AllocDesiredStatusRun {
			running = append(running, a.ID)
		}
	}
	if len(running) != 1 {
		t.Fatalf("%s has allocations %v", id, running)
	}
	alloc, _, err := shared.API().Allocations().Info(running[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return alloc
}

// reservedCores is how many cores Nomad has reserved for the job's allocations.
func reservedCores(ctx context.Context, t *testing.T, id string) int {
	t.Helper()
	s, err := shared.World.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, list := range s.Allocations {
		for _, a := range list {
			if a.Workload == workload(id) {
				sum += a.Resources.Cores
			}
		}
	}
	return sum
}

// workers is how many of the workload's workers run, by its own measured rate; 0
// while there is no measurement.
func workers(ctx context.Context, t *testing.T, id string) float64 {
	t.Helper()
	observations, err := book(t).Observations(ctx, workload(id))
	if err != nil || len(observations) == 0 {
		return 0
	}
	const mostPerWorker = 50
	return observations[len(observations)-1].Measure.RatePerSec / mostPerWorker * 1.1 // a loop takes a little more than its sleep
}

// checkExplained reads the command line and the job's page.
func checkExplained(ctx context.Context, t *testing.T, id string, want ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := shared.Placer(ctx, &out, "job", "explain", id); err != nil {
		t.Fatal(err)
	}
	job, _, err := shared.API().Jobs().Info(id, nil)
	if err != nil || job.UI == nil {
		t.Fatalf("no page: %v", err)
	}
	for _, w := range want {
		if !contains(strings.Join(strings.Fields(out.String()), " "), w) {
			t.Errorf("job explain lacks %q:\n%s", w, out.String())
		}
		if !contains(job.UI.Description, w) {
			t.Errorf("the job page lacks %q:\n%s", w, job.UI.Description)
		}
	}
}

// TestSizeABatchJobFinishesInTime: 1,800 units within 30 s are more than one core
// does.
func TestSizeABatchJobFinishesInTime(t *testing.T) {
	ctx := t.Context()
	openWide(ctx, t)
	const id = "size-batch"
	block := strings.NewReplacer("rate = 60", `finish_within = "30s"`, `pattern =`, "work = 1800\n  pattern =").Replace(perCPUBlock)
	script := strings.Replace(perCPU, "while true", "while [ $i -lt 1800 ]", 1)
	submit(ctx, t, held(id, block, script, onWide(1), func(j *api.Job) { j.Type = ptr("batch") }))
	d, group := sizedAs(ctx, t, id)
	if cores(group) != 2 || !d.Sizing.Reaches {
		t.Errorf("given %d cores; sizing %+v; warnings %q", cores(group), d.Sizing, d.Warnings)
	}
	eventually(ctx, t, id+" has done its work", 3*time.Minute, func() bool {
		return onlyAlloc(t, id).ClientStatus == api.AllocClientStatusComplete
	})
}

// TestSizeBestEffortGetsTheSmallestUseful: one core of the two it wrote, and as
// little memory as holds what it was seen to use.
func TestSizeBestEffortGetsTheSmallestUseful(t *testing.T) {
	ctx := t.Context()
	openWide(ctx, t)
	const id = "size-rest"
	block := "policy = \"quasar\"\ntarget {\n best_effort = true\n}\nscale {\n cores = [1, 2]\n memory = [32, 64]\n}\nprofile {\n seconds = 8\n sources = [\"int\"]\n}\n"
	submit(ctx, t, held(id, block, perCPU, onWide(2)))
	d, group := sizedAs(ctx, t, id)
	if cores(group) != 1 || *group.Tasks[0].Resources.MemoryMB != 32 {
		t.Errorf("given %d cores and %d MB; sizing %+v; warnings %q", cores(group), *group.Tasks[0].Resources.MemoryMB, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Error(err)
	}
}

// TestSizeATargetOutOfReachRuns at the best possible, and says so.
func TestSizeATargetOutOfReachRuns(t *testing.T) {
	ctx := t.Context()
	openWide(ctx, t)
	const id = "size-beyond"
	submit(ctx, t, held(id, strings.Replace(perCPUBlock, "rate = 60", "rate = 100000", 1), perCPU, onWide(1)))
	d, group := sizedAs(ctx, t, id)
	if cores(group) != 2 || d.Sizing.Reaches {
		t.Errorf("given %d cores; sizing %+v; warnings %q", cores(group), d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	checkExplained(ctx, t, id, "best possible")
}

// TestSizeAnAutoscalersCountStays: the group has a scaling block, so its count is
// not ours, neither before its first allocation nor after somebody scaled it.
func TestSizeAnAutoscalersCountStays(t *testing.T) {
	ctx := t.Context()
	openWide(ctx, t)
	const id = "size-scaled"
	block := strings.Replace(perCPUBlock, "cores = [1, 2]", "count = [1, 2]", 1)
	submit(ctx, t, held(id, block, perCPU, onWide(1), func(j *api.Job) {
		j.TaskGroups[0].Scaling = &api.ScalingPolicy{Min: ptr(int64(1)), Max: ptr(int64(2)), Enabled: ptr(true)}
	}))
	d, group := sizedAs(ctx, t, id)
	if *group.Count != 1 || !contains(fmt.Sprint(d.Warnings), "scaling block") {
		t.Errorf("count %d; sizing %+v; warnings %q", *group.Count, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "its deployment has ended and it is scaled by hand", time.Minute, func() bool {
		_, _, err := shared.API().Jobs().Scale(id, "main", ptr(2), "by hand", false, nil, nil)
		return err == nil
	})
	time.Sleep(5 * time.Second) // two polls of the placer, in which it could do wrong
	job, _, err := shared.API().Jobs().Info(id, nil)
	if err != nil || *job.TaskGroups[0].Count != 2 {
		t.Errorf("count %d after it was scaled to 2, %v", *job.TaskGroups[0].Count, err)
	}
}
