package placement

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// keptSize is the size that an earlier decision gave a group that runs, where it has not
// been changed since: the same job submitted again keeps what it has. What a user or an
// autoscaler changed stays as they set it.
func (pl *Placer) keptSize(w cluster.Workload, s *cluster.Snapshot) (cluster.Workload, *cluster.Sizing) {
	earlier, ok := pl.cfg.Decisions.Of(w.ID)
	running := liveAllocations(s, w.ID)
	was := earlier.Sizing
	if !ok || was == nil || !was.Chosen || len(running) == 0 {
		return w, nil
	}
	kept := cluster.Sizing{
		Chosen: true, Kept: true, Task: was.Task, Own: w.Sizable.Own, OwnWas: w.Sizable.Own, CountWas: w.Count,
		Speed: was.Speed, Reaches: was.Reaches, Why: "as decided when the group was first placed: " + was.Why,
	}
	asGiven := !slices.ContainsFunc(running, func(a cluster.Allocation) bool { return a.Given() != earlier.Resources })
	if was.Task == w.Sizable.Task && was.OwnWas == w.Sizable.Own && asGiven {
		kept.Own = was.Own
		w.Ask = w.Sizable.Group(was.Own)
	}
	// Nomad may have stopped some already: the version under evaluation says CountWas.
	if was.CountWas == w.Count && len(running) <= earlier.Count && w.Sizable.CountFixed == "" {
		w.Count = earlier.Count
	}
	if !kept.Changes(w.Count) {
		return w, nil
	}
	return w, &kept
}

func liveAllocations(s *cluster.Snapshot, id cluster.WorkloadID) []cluster.Allocation {
	var out []cluster.Allocation
	for _, list := range s.Allocations {
		for _, a := range list {
			if a.Workload == id && !a.Profiling {
				out = append(out, a)
			}
		}
	}
	return out
}

// sized is the workload and the request's leave to size it: only a group without
// allocations is sized here; one that runs is the adapter's.
func (pl *Placer) sized(k *profiling.Known, s *cluster.Snapshot) (w cluster.Workload, knowledge cluster.Knowledge, kept *cluster.Sizing, maySize bool) {
	w, knowledge = k.Workload, k.Knowledge
	if len(liveAllocations(s, w.ID)) == 0 {
		return w, knowledge, nil, true
	}
	w, kept = pl.keptSize(w, s)
	if kept != nil && kept.Own != kept.OwnWas {
		knowledge = *knowledge.AtSize(kept.Speed)
	}
	return w, knowledge, kept, false
}
