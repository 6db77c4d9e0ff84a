package policy_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

const manyNodes = 1200

// onMany places a workload on a cluster with more nodes than expected looks at.
func onMany(t *testing.T, seed uint64, change func(*policy.Request, *cluster.Snapshot)) cluster.Decision {
	t.Helper()
	columns := clustertest.Columns(3)
	s := clustertest.Random(rand.New(rand.NewPCG(1, 2)), manyNodes, 2, []string{"one", "two"}, columns)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{30, 40, 50}, []float64{20, 10, 10}), map[string]float64{"one": 100, "two": 70})
	r := policy.Request{
		Workload: clustertest.Workload("newcomer"), JobType: "service", RunPool: clustertest.Pool, Knowledge: k, Snapshot: s, Columns: columns, Seed: seed, MaySize: true,
	}
	if change != nil {
		change(&r, s)
	}
	desc, err := policy.Lookup("expected")
	if err != nil {
		t.Fatal(err)
	}
	d, err := desc.New().Place(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func nodesOf(d cluster.Decision) []cluster.NodeID {
	var out []cluster.NodeID
	for _, c := range d.Candidates {
		out = append(out, c.Node)
	}
	return out
}

// On a large cluster it looks at some nodes, says so, and finds one that is hardly worse.
func TestNodesAreDrawnOnALargeCluster(t *testing.T) {
	t.Parallel()
	first, again, other := onMany(t, 1, nil), onMany(t, 1, nil), onMany(t, 2, nil)
	if first.Outcome != cluster.Placed || !strings.Contains(first.Reason, ", of 500 nodes with room that were drawn at random") {
		t.Fatalf("%s: %s", first.Outcome, first.Reason)
	}
	if !slices.Equal(nodesOf(first), nodesOf(again)) {
		t.Errorf("the same seed gave %v and %v", nodesOf(first), nodesOf(again))
	}
	if slices.Equal(nodesOf(first), nodesOf(other)) {
		t.Errorf("two seeds drew the same nodes: %v", nodesOf(first))
	}
	if first.Considered < 500 || first.Considered >= manyNodes {
		t.Errorf("considered %d nodes of %d", first.Considered, manyNodes)
	}
}

// A large group has more nodes to choose from.
func TestALargeGroupHasMoreNodesDrawn(t *testing.T) {
	t.Parallel()
	d := onMany(t, 1, func(r *policy.Request, _ *cluster.Snapshot) { r.Workload.Count = 150 })
	if !strings.Contains(d.Reason, "of 600 nodes with room") {
		t.Errorf("150 allocations: %s", d.Reason)
	}
}
