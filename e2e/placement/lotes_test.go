//go:build e2e

package placement

import (
	"strings"
	"testing"
	"time"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// A job that names LoTES is dispatched by its plan of the real cluster, and runs on the
// first node of the shortlist.
func TestAJobMayBePlacedByLoTES(t *testing.T) {
	ctx := t.Context()
	const id = "by-lotes"
	submit(ctx, t, held(id, "policy = \"lotes\"\ntarget {\n best_effort = true\n}\nprofile {\n skip = true\n}\n", counting))
	released(ctx, t, id, time.Minute)
	d, err := book(t).Decision(ctx, workload(id))
	if err != nil {
		t.Fatal(err)
	}
	if d.Policy != "lotes" || d.Outcome != placer.Placed || len(d.Candidates) == 0 || !strings.Contains(d.Reason, "planned mix") {
		t.Fatalf("policy %s, outcome %s, %q, %d candidates, warnings %q", d.Policy, d.Outcome, d.Reason, len(d.Candidates), d.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	allocations, _, err := shared.API().Jobs().Allocations(id, false, nil)
	if err != nil || len(allocations) != 1 {
		t.Fatalf("%d allocations, %v", len(allocations), err)
	}
	if got, want := allocations[0].NodeID, string(d.Candidates[0].Node); got != want {
		t.Errorf("runs on %s, the plan said %s", got, want)
	}
}
