package nomadapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// reservationTTL bounds how long a decision counts as resources taken when its
// allocations never appear (the job was stopped, or Nomad chose to wait).
const reservationTTL = 60 * time.Second

// reservations are decisions already written whose allocations are not seen
// yet, so that two decisions in one second do not choose the same free space.
type reservations struct {
	mu   sync.Mutex
	open map[cluster.WorkloadID]reservation
}

type reservation struct {
	version uint64 // of the job as released
	expires time.Time
	allocs  []cluster.Allocation
}

// reserve notes the nodes a released job will most likely use: its count best
// candidates, over again where there are fewer candidates than allocations.
func (r *reservations) reserve(d cluster.Decision, version uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.Outcome != cluster.Placed || len(d.Candidates) == 0 {
		delete(r.open, d.Workload)
		return
	}
	if r.open == nil {
		r.open = map[cluster.WorkloadID]reservation{}
	}
	open := reservation{version: version, expires: now.Add(reservationTTL)}
	for i := range d.Count {
		open.allocs = append(open.allocs, cluster.Allocation{
			ID:        fmt.Sprintf("reserved:%s[%d]", d.Workload, i),
			Workload:  d.Workload,
			Node:      d.Candidates[i%len(d.Candidates)].Node,
			Resources: d.Resources,
			Version:   version,
		})
	}
	r.open[d.Workload] = open
}

// unseen returns the reservations that live does not show yet, and forgets
// those that are all seen or expired.
func (r *reservations) unseen(live map[cluster.NodeID][]cluster.Allocation, now time.Time) map[cluster.NodeID][]cluster.Allocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) == 0 {
		return nil
	}
	seen := r.seen(live)
	out := map[cluster.NodeID][]cluster.Allocation{}
	for id, open := range r.open {
		left := withoutSeen(open.allocs, seen[id])
		if len(left) == 0 || now.After(open.expires) {
			delete(r.open, id)
			continue
		}
		for _, a := range left {
			out[a.Node] = append(out[a.Node], a)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b cluster.Allocation) int { return strings.Compare(a.ID, b.ID) })
	}
	return out
}

// seen lists, per reserved workload, the nodes of its allocations of the
// released version or a later one.
func (r *reservations) seen(live map[cluster.NodeID][]cluster.Allocation) map[cluster.WorkloadID][]cluster.NodeID {
	out := map[cluster.WorkloadID][]cluster.NodeID{}
	for node, list := range live {
		for _, a := range list {
			if open, ok := r.open[a.Workload]; ok && a.Version >= open.version {
				out[a.Workload] = append(out[a.Workload], node)
			}
		}
	}
	return out
}

// withoutSeen drops one reservation per seen node: the one on that node where
// there is one, else, Nomad having chosen another node, the last.
func withoutSeen(reserved []cluster.Allocation, seen []cluster.NodeID) []cluster.Allocation {
	left := slices.Clone(reserved)
	elsewhere := 0
	for _, node := range seen {
		i := slices.IndexFunc(left, func(a cluster.Allocation) bool { return a.Node == node })
		if i < 0 {
			elsewhere++
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	return left[:max(0, len(left)-elsewhere)]
}

// drop forgets what was reserved for the groups of a job.
func (r *reservations) drop(job cluster.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.open {
		if id.JobID() == job {
			delete(r.open, id)
		}
	}
}
