//go:build e2e

package placement

import (
	"strings"
	"testing"
	"time"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TestLSHPlacesAJob asks for the policy lsh by name: its look-up decides, Nomad
// obeys, and everybody may read how the node was found. The second job is the same
// workload: its profile is known.
func TestLSHPlacesAJob(t *testing.T) {
	ctx := t.Context()
	block := "policy = \"lsh\"\n" + strings.Replace(countingBlock, "rate = 50", "rate = 5", 1)
	script := strings.Replace(counting, "sleep 0.01", "sleep 0.1", 1)
	for _, id := range []string{"lsh-first", "lsh-second"} {
		submit(ctx, t, held(id, block, script))
		released(ctx, t, id, 2*time.Minute)
		d, err := book(t).Decision(ctx, workload(id))
		if err != nil {
			t.Fatal(err)
		}
		if d.Policy != "lsh" || d.Outcome != placer.Placed || len(d.Candidates) == 0 || !contains(d.Reason, "1 allocation found through the index, 0 by looking at every node") {
			t.Fatalf("policy %s, outcome %s (%s), candidates %+v, warnings %q", d.Policy, d.Outcome, d.Reason, d.Candidates, d.Warnings)
		}
		if err := shared.WaitRunning(ctx, id); err != nil {
			t.Fatal(err)
		}
		if nodes, err := shared.Nodes(id); err != nil || len(nodes) != 1 || nodes[0] != d.Candidates[0].Name {
			t.Errorf("%s runs on %v (%v), decided was %s", id, nodes, err, d.Candidates[0].Name)
		}
		checkOrder(t, id)
		checkExplained(ctx, t, id, "every bound is kept")
	}
}
