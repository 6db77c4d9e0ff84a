package policy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
)

// Where a group runs, and what is on the same machine as a node that was drawn, is not left out.
func TestWhatIsAlwaysDrawn(t *testing.T) {
	t.Parallel()
	var nodes []*cluster.Node
	for i := range 60 {
		n := clustertest.Node(fmt.Sprintf("n%02d", i), "one")
		if i >= 50 {
			n.Machine = "shared"
		}
		nodes = append(nodes, n)
	}
	s := clustertest.Snapshot(nodes...)
	w := clustertest.Workload("newcomer")
	const home = "n31"
	s.Allocations[home] = []cluster.Allocation{{ID: "a", Workload: w.ID, Node: home, Resources: w.Ask}}
	for seed := range uint64(8) {
		v, err := open(Request{Workload: w, RunPool: clustertest.Pool, Snapshot: s, Columns: clustertest.Columns(1), Seed: seed, drawn: 5}, &workspace{})
		if err != nil {
			t.Fatal(err)
		}
		var drawn, shared []cluster.NodeID
		for _, o := range v.candidates {
			drawn = append(drawn, o.node.ID)
			if o.node.Machine != "" {
				shared = append(shared, o.node.ID)
			}
		}
		if !slices.Contains(drawn, home) || len(drawn) < 5 || len(drawn) > 6 || !slices.IsSorted(drawn) {
			t.Errorf("seed %d: drew %v, want 5 and %s where it is not one of them", seed, drawn, home)
		}
		if want := len(drawn) - len(shared); len(shared) > 0 && len(v.snapshot.Nodes) != want+10 || len(shared) == 0 && len(v.snapshot.Nodes) != want {
			t.Errorf("seed %d: %d nodes are known of, drawn were %v", seed, len(v.snapshot.Nodes), drawn)
		}
	}
}
