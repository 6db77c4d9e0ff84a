//go:build e2e

package placement

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// fifty does at most fifty units a second, and says so.
const fifty = `i=0; while true; do i=$((i+1)); echo "units $i"; sleep 0.02; done`

// fiftyBlock asks for more than one allocation does and less than two do. Whole
// cores cannot be sized on this rig: under control groups v1 Nomad fails a task
// that would reserve the last core of a node.
const fiftyBlock = `
policy = "quasar"
target {
  rate = 55
}
probe "log" {
  pattern = "units (\\d+)"
}
scale {
  count = [1, 2]
}
profile {
  seconds = 8
  sources = ["int"]
}
`

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

// TestSizeARateJobGetsTheAllocationsItNeeds: one does not suffice, so it gets two
// before its first allocation; everybody may read why; the same job submitted again
// keeps them; strip gives back what the user wrote.
func TestSizeARateJobGetsTheAllocationsItNeeds(t *testing.T) {
	ctx := t.Context()
	const id = "size-rate"
	submit(ctx, t, held(id, fiftyBlock, fifty))
	d, group := sizedAs(ctx, t, id)
	if *group.Count != 2 || d.Count != 2 || !d.Sizing.Reaches || d.Sizing.CountWas != 1 {
		t.Fatalf("count %d; sizing %+v; warnings %q", *group.Count, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	checkOrder(t, id)
	checkExplained(ctx, t, id, "smallest size that reaches 55")
	if _, _, err := shared.API().Jobs().Register(held(id, fiftyBlock, fifty), nil); err != nil {
		t.Fatal(err)
	}
	if d, group := sizedAs(ctx, t, id); *group.Count != 2 || !d.Sizing.Kept {
		t.Errorf("submitted again its count is %d: %+v", *group.Count, d.Sizing)
	}
	if _, err := shared.World.StripJob(ctx, placer.JobID{Namespace: "default", ID: id}); err != nil {
		t.Fatal(err)
	}
	job, _, err := shared.API().Jobs().Info(id, nil)
	if err != nil || *job.TaskGroups[0].Count != 1 {
		t.Errorf("stripped its count is %d, %v", *job.TaskGroups[0].Count, err)
	}
	for _, c := range job.TaskGroups[0].Constraints {
		if contains(c.RTarget, placerMark) {
			t.Errorf("stripped it carries %s", c)
		}
	}
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

// TestSizeABatchJobFinishesInTime: 1,650 units within 30 s are more than one
// allocation does.
func TestSizeABatchJobFinishesInTime(t *testing.T) {
	ctx := t.Context()
	const id = "size-batch"
	block := strings.NewReplacer("rate = 55", `finish_within = "30s"`, `pattern =`, "work = 1650\n  pattern =").Replace(fiftyBlock)
	script := strings.Replace(fifty, "while true", "while [ $i -lt 900 ]", 1)
	submit(ctx, t, held(id, block, script, func(j *api.Job) { j.Type = ptr("batch") }))
	d, group := sizedAs(ctx, t, id)
	if *group.Count != 2 || !d.Sizing.Reaches {
		t.Errorf("count %d; sizing %+v; warnings %q", *group.Count, d.Sizing, d.Warnings)
	}
}

// TestSizeBestEffortGetsTheSmallestUseful: as little memory as holds what it was
// seen to use.
func TestSizeBestEffortGetsTheSmallestUseful(t *testing.T) {
	ctx := t.Context()
	const id = "size-rest"
	block := strings.NewReplacer("rate = 55", "best_effort = true", "count = [1, 2]", "memory = [48, 96]").Replace(fiftyBlock)
	submit(ctx, t, held(id, block, fifty, func(j *api.Job) {
		j.TaskGroups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(100), MemoryMB: ptr(96)}
	}))
	d, group := sizedAs(ctx, t, id)
	if *group.Tasks[0].Resources.MemoryMB != 48 {
		t.Errorf("given %d MB; sizing %+v; warnings %q", *group.Tasks[0].Resources.MemoryMB, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Error(err)
	}
}

// TestSizeATargetOutOfReachRuns at the best possible, and says so.
func TestSizeATargetOutOfReachRuns(t *testing.T) {
	ctx := t.Context()
	const id = "size-beyond"
	submit(ctx, t, held(id, strings.Replace(fiftyBlock, "rate = 55", "rate = 100000", 1), fifty))
	d, group := sizedAs(ctx, t, id)
	if *group.Count != d.Count || d.Sizing.Reaches || len(d.Sizing.Tried) != 2 {
		t.Errorf("count %d; sizing %+v; warnings %q", *group.Count, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	checkExplained(ctx, t, id, "best possible")
}

// TestSizeAnAutoscalersCountStays: the group has a scaling block, so its count is
// not ours.
func TestSizeAnAutoscalersCountStays(t *testing.T) {
	ctx := t.Context()
	const id = "size-scaled"
	submit(ctx, t, held(id, fiftyBlock, fifty, func(j *api.Job) {
		j.TaskGroups[0].Scaling = &api.ScalingPolicy{Min: ptr(int64(1)), Max: ptr(int64(2)), Enabled: ptr(true)}
	}))
	d, group := sizedAs(ctx, t, id)
	if *group.Count != 1 || !contains(fmt.Sprint(d.Warnings), "scaling block") {
		t.Errorf("count %d; sizing %+v; warnings %q", *group.Count, d.Sizing, d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
}
