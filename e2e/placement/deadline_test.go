//go:build e2e

package placement

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// inTimeBlock is for batch work whose end is predicted: see placer/predict/deadline.
const inTimeBlock = `
policy = "pp-rtte"
target {
  finish_within = "%s"
}
probe "log" {
  pattern = "units (\\d+)"
  work    = %d
}
`

// The batch job of the test, alone: aloneFor is what it takes, sparedShare the rate it
// needs at the least to end in time.
const (
	aloneFor    = 45 * time.Second
	sparedShare = 0.7
)

// TestADeadlineInDangerIsSeen plants a best-effort interference kernel next to batch work
// that would end in time without it and would not with it: long before its deadline it is
// predicted to be late, and the kernel must leave.
func TestADeadlineInDangerIsSeen(t *testing.T) {
	ctx := t.Context()
	pace := held("pace", strings.Replace(countingBlock, "rate = 50", "rate = 1", 1)+"policy = \"least-loaded\"\n", working, offGamma)
	submit(ctx, t, pace)
	runs(ctx, t, "pace")
	alone := rate(ctx, t, "pace", 10*time.Second)
	if _, _, err := shared.API().Jobs().Deregister("pace", false, nil); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "pace is gone", time.Minute, func() bool { return onNode(t, "pace") == "" })
	work := int(alone * aloneFor.Seconds())
	within := time.Duration(aloneFor.Seconds() / sparedShare * float64(time.Second)).Round(time.Second)
	script := strings.Replace(working, "while true", fmt.Sprintf("while [ $i -lt %d ]", work), 1)
	submit(ctx, t, held("in-time", fmt.Sprintf(inTimeBlock, within, work), script, offGamma, func(j *api.Job) { j.Type = ptr("batch") }))
	released(ctx, t, "in-time", time.Minute)
	if err := shared.WaitRunning(ctx, "in-time"); err != nil {
		t.Fatal(err)
	}
	node := onNode(t, "in-time")
	submit(ctx, t, noise("in-the-way", node))
	if err := shared.WaitRunning(ctx, "in-the-way"); err != nil {
		t.Fatal(err)
	}
	if on := onNode(t, "in-the-way"); on != node {
		t.Fatalf("the kernel was planted on %s, the work is on %s", on, node)
	}
	planted := time.Now()
	t.Cleanup(func() {
		if t.Failed() {
			readings, err := book(t).Observations(context.Background(), workload("in-time"))
			t.Logf("alone %.1f units/s; observed %+v (%v); recorded %+v and %+v", alone, readings[max(0, len(readings)-5):], err,
				recorded(context.Background(), t, "in-the-way"), recorded(context.Background(), t, "in-time"))
		}
	})
	eventually(ctx, t, "the kernel left "+node, within, func() bool { return onNode(t, "in-the-way") != node })
	left := time.Since(planted)
	actions := recorded(ctx, t, "in-the-way")
	if len(actions) != 1 || actions[0].Kind != "evict" || !contains(actions[0].Reason, "predicted to end") || !contains(actions[0].Reason, "in-time/main") {
		t.Fatalf("recorded %+v", actions)
	}
	wantEvent(ctx, t, "in-the-way", "leaves node "+node)
	t.Logf("alone %.1f units/s, %d units within %s; the kernel left %s after %s: %s", alone, work, within, node, left.Round(100*time.Millisecond), actions[0].Reason)
}

// offGamma keeps a job off the small node, which has no room for the kernel as well.
func offGamma(j *api.Job) { j.Constrain(api.NewConstraint("${node.unique.name}", "!=", "gamma")) }
