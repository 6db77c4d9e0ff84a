//go:build e2e

package placement

import (
	"fmt"
	"testing"
	"time"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TestPairingPoliciesDecide: jobs name a policy of TRACON, which decides alone, and the
// allocation goes where it said. The workload is profiled once; each next job finds the
// earlier ones as co-runners and, as nodes are alike, goes where fewer of them are.
func TestPairingPoliciesDecide(t *testing.T) {
	ctx := t.Context()
	beside := map[placer.NodeID]int{}
	for _, name := range []string{"mios", "mibs", "mix"} {
		id := "pairing-" + name
		submit(ctx, t, held(id, fmt.Sprintf("policy = %q\n%s", name, countingBlock), counting))
		released(ctx, t, id, 3*time.Minute)
		d, err := book(t).Decision(ctx, workload(id))
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != placer.Placed || d.Policy != name || len(d.Candidates) == 0 {
			t.Fatalf("%s: outcome %s by %s (%s), warnings %q", id, d.Outcome, d.Policy, d.Reason, d.Warnings)
		}
		if err := shared.WaitRunning(ctx, id); err != nil {
			t.Fatal(err)
		}
		allocs, _, err := shared.API().Jobs().Allocations(id, true, nil)
		if err != nil || len(allocs) == 0 {
			t.Fatalf("%s: %d allocations, %v", id, len(allocs), err)
		}
		chosen := d.Candidates[0].Node
		if got := placer.NodeID(allocs[0].NodeID); got != chosen {
			t.Errorf("%s runs on %s, decided was %s", id, got, chosen)
		}
		for _, c := range d.Candidates[1:] {
			if beside[c.Node] < beside[chosen] && c.Configuration == d.Candidates[0].Configuration {
				t.Errorf("%s goes beside %d neighbours, %s has %d", id, beside[chosen], c.Name, beside[c.Node])
			}
		}
		beside[chosen]++
		checkOrder(t, id)
	}
}
