package placement

import (
	"maps"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// promise is a decision whose write is under way.
type promise struct {
	outcome     uint64 // the version of the job that the write makes
	sensitivity interference.Sensitivity
	allocations []cluster.Allocation
}

// promise notes decisions that are about to be written, as a version of their job.
func (q *queue) promise(outcome uint64, decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.promises == nil {
		q.promises = map[cluster.WorkloadID]promise{}
	}
	for _, d := range decisions {
		q.promises[d.Workload] = promise{outcome: outcome, sensitivity: d.Bounds(), allocations: reservedFor(d)}
	}
}

// promised is what is being written now.
func (q *queue) promised() map[cluster.WorkloadID]promise {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.promises)
}

func (q *queue) forget(decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range decisions {
		delete(q.promises, d.Workload)
	}
}
