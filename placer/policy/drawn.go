package policy

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// drawnPerAllocation of a group (chosen by us): a large one needs more nodes to choose from.
const drawnPerAllocation = 4

// feasible are the nodes that the policy chooses from: all with room or, where it looks at some
// only, so many drawn at random and those on which the group runs. The snapshot is then that of
// their machines, so that what a decision costs grows little with the cluster.
func (v *candidateSet) feasible() (fit []*cluster.Node) {
	most := max(v.drawn, drawnPerAllocation*v.Workload.Count)
	all := len(v.snapshot.Nodes)
	if v.drawn <= 0 || all <= most {
		fit, v.rejected, v.counts = cluster.Feasible(v.snapshot, v.Workload, v.RunPool)
		return fit
	}
	var runs func(n *cluster.Node) bool
	if !v.MaySize { // else it has no allocations
		runs = func(n *cluster.Node) bool { return v.snapshot.Host(n).Has(v.Workload.ID) }
	}
	looked := 0
	fit, v.rejected, v.counts, looked = cluster.FeasibleDrawn(v.snapshot, v.Workload, v.RunPool, most, runs, Draws(v.Seed))
	if looked == all {
		return fit
	}
	v.looked = looked
	part := *v.snapshot
	part.Nodes = withMachines(v.snapshot.Nodes, fit)
	v.snapshot = &part
	return fit
}

// withMachines adds the nodes that share a machine with one of those drawn; all stay in order.
func withMachines(all, drawn []*cluster.Node) []*cluster.Node {
	machines := map[string]bool{}
	for _, n := range drawn {
		if n.Machine != "" {
			machines[n.Machine] = true
		}
	}
	if len(machines) == 0 {
		return drawn
	}
	chosen := make(map[cluster.NodeID]bool, len(drawn))
	for _, n := range drawn {
		chosen[n.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(n *cluster.Node) bool { return !chosen[n.ID] && !machines[n.Machine] })
}

// drawnWords say so in a reason.
func (v *candidateSet) drawnWords() string {
	if v.looked == 0 {
		return ""
	}
	return fmt.Sprintf(", of %d nodes with room that were drawn at random", len(v.candidates))
}
