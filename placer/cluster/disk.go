package cluster

import (
	"iter"

	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// DiskAccount is what is promised of a node's disk to its allocations and reservations,
// without those of the workload except. An error says why nothing is counted there.
func (s *Snapshot) DiskAccount(n *Node, except WorkloadID) (disk.Account, error) {
	rated, err := disk.Rated(n.Meta)
	if err != nil {
		return disk.Account{}, err
	}
	a := disk.NewAccount(rated)
	for _, r := range s.Residents(n.ID, except) {
		if p, ok := s.Disk[r.Workload]; ok {
			a.Add(p)
		}
	}
	return a, nil
}

// DiskRoom is how many allocations of a workload the node's disk suffices for, up to a
// limit; the limit where nothing is counted.
func (s *Snapshot) DiskRoom(n *Node, w *Workload, limit int) int {
	if w.Spec.Disk == nil {
		return limit
	}
	a, err := s.DiskAccount(n, w.ID)
	if err != nil {
		return limit
	}
	return a.Room(*w.Spec.Disk, limit)
}

// DiskSaid is what the ledger of disk bandwidth said when a decision was made.
type DiskSaid struct {
	Promise performance.DiskSpec `json:"promise"` // to each allocation
	Said    string               `json:"said,omitempty"`
}

// DiskPromises are those that decisions made, by workload.
func DiskPromises(decisions iter.Seq[Decision]) map[WorkloadID]performance.DiskSpec {
	out := map[WorkloadID]performance.DiskSpec{}
	for d := range decisions {
		if d.Disk != nil {
			out[d.Workload] = d.Disk.Promise
		}
	}
	return out
}
