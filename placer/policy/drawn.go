package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// drawnPerAllocation of a group (chosen by us): a large one needs more nodes to choose from.
const drawnPerAllocation = 4

// draw leaves so many of the feasible nodes as the policy looks at, drawn at random, and those
// on which the group runs. The snapshot is then that of their machines: what a decision costs
// does not grow with the cluster.
func (v *candidateSet) draw(fit []*cluster.Node) []*cluster.Node {
	most := max(v.drawn, drawnPerAllocation*v.Workload.Count)
	if v.drawn <= 0 || len(fit) <= most {
		return fit
	}
	v.drawnFrom = len(fit)
	at := drawnOf(len(fit), most, Draws(v.Seed))
	if !v.MaySize { // it may run already
		for i, n := range fit {
			if v.snapshot.Host(n).Has(v.Workload.ID) {
				at = append(at, i)
			}
		}
	}
	slices.Sort(at)
	drawn := make([]*cluster.Node, 0, len(at))
	for _, i := range slices.Compact(at) {
		drawn = append(drawn, fit[i])
	}
	part := *v.snapshot
	part.Nodes = withMachines(v.snapshot.Nodes, drawn)
	v.snapshot = &part
	return drawn
}

// drawnOf are so many of the numbers below n, each once.
func drawnOf(n, most int, random *rand.Rand) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	for i := range most {
		j := i + random.IntN(n-i)
		at[i], at[j] = at[j], at[i]
	}
	return at[:most]
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
	if v.drawnFrom == 0 {
		return ""
	}
	return fmt.Sprintf(", of %d nodes drawn at random from the %d with room", len(v.candidates), v.drawnFrom)
}
