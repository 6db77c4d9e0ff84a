package policy

import (
	"cmp"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var leastLoadedDescriptor = Descriptor{
	Name:    "least-loaded",
	Summary: "the node with the smallest share of cpu in use; knows neither interference nor speed",
	Paper:   "Delimitrou 2015, §3.5 (baseline LL)",
	New:     func() Policy { return leastLoaded{} },
}

type leastLoaded struct{}

// Place orders by used share of cpu, then of memory, then ID. The paper leaves
// "load" undefined.
func (leastLoaded) Place(r Request) (cluster.Decision, error) {
	return place(r, leastLoadedDescriptor.Name, func(v *view) ranking {
		slices.SortStableFunc(v.options, func(a, b *option) int {
			return cmp.Or(cmp.Compare(a.cpuLoad, b.cpuLoad), cmp.Compare(a.memoryLoad, b.memoryLoad), cmp.Compare(a.node.ID, b.node.ID))
		})
		return v.allGood("the least loaded first")
	})
}
