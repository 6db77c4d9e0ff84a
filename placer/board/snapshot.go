package board

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// FromSnapshot builds the board of a snapshot as the workload except sees it:
// its own allocations and profiling copies are left out. Nodes keep their order.
// An unknown score of a resident is assumed as cluster.ServerPressure does.
func FromSnapshot(s *cluster.Snapshot, columns []interference.Source, except cluster.WorkloadID) *Board {
	var configurations []string
	seen := map[string]int{}
	for _, n := range s.Nodes {
		if _, ok := seen[n.Configuration]; !ok {
			seen[n.Configuration] = 0
			configurations = append(configurations, n.Configuration)
		}
	}
	slices.Sort(configurations)
	for i, c := range configurations {
		seen[c] = i
	}
	b := New(columns, configurations)
	ref := Ref(0)
	for _, n := range s.Nodes {
		i := b.Add(Node{ID: n.ID, Configuration: seen[n.Configuration], Total: n.Total, CoreMHz: n.CoreMHz})
		b.SetReady(i, n.Ready)
		for _, a := range s.Residents(n.ID, except) {
			if a.Profiling {
				continue
			}
			ref++
			b.Place(i, residentOf(s, n, a, columns, ref))
		}
	}
	return b
}

func residentOf(s *cluster.Snapshot, n *cluster.Node, a cluster.Allocation, columns []interference.Source, ref Ref) Resident {
	known := s.Known[a.Workload]
	r := Resident{Ref: ref, Size: a.Resources, Tolerated: known.Tolerated.Vector(columns), Caused: known.Caused.Vector(columns)}
	share := cluster.ShareOf(n, a.Resources)
	for k := range columns {
		if math.IsNaN(r.Tolerated[k]) {
			r.Tolerated[k] = 100 * (1 - share)
		}
		if math.IsNaN(r.Caused[k]) {
			r.Caused[k] = 100 * share
		}
	}
	return r
}
