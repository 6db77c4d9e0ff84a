package placement

import (
	"maps"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// plan is a decision whose write is under way.
type plan struct {
	outcome     uint64 // the version of the job that the write makes
	sensitivity interference.Sensitivity
	disk        *performance.DiskSpec // nil: nothing is promised
	allocations []cluster.Allocation
}

// plan notes decisions that are about to be written, as a version of their job.
func (q *queue) plan(outcome uint64, decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inFlight == nil {
		q.inFlight = map[cluster.WorkloadID]plan{}
	}
	for _, d := range decisions {
		p := plan{outcome: outcome, sensitivity: d.Bounds(), allocations: reservedFor(d)}
		if d.Disk != nil {
			p.disk = &d.Disk.Promise
		}
		q.inFlight[d.Workload] = p
	}
}

// plans is what is being written now.
func (q *queue) plans() map[cluster.WorkloadID]plan {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.inFlight)
}

func (q *queue) forget(decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range decisions {
		delete(q.inFlight, d.Workload)
	}
}
