package placement

import (
	"context"
	"maps"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Evaluations are those under way, one of a job at a time, and what is done. Writing
// a job that runs counts as one.
type Evaluations struct {
	mu      sync.Mutex
	running map[cluster.JobID]evaluation
	done    map[cluster.JobID]uint64 // newest JobModifyIndex that needs no more work
}

// evaluation is one under way.
type evaluation struct {
	modifyIndex uint64
	cancel      context.CancelFunc
}

// NewEvaluations has none.
func NewEvaluations() *Evaluations {
	return &Evaluations{running: map[cluster.JobID]evaluation{}, done: map[cluster.JobID]uint64{}}
}

// Consider begins the evaluation of a job's version, unless one is under way or nothing
// is left to do for it. end is called with the index after which nothing is left to do,
// 0 for none.
func (v *Evaluations) Consider(ctx context.Context, job cluster.Job) (_ context.Context, end func(index uint64), begun bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if running, ok := v.running[job.ID]; ok {
		// A newer held version, or a stop, always wins; the next pass starts
		// afresh. A version that is not held is usually our own release, whose
		// evaluation has a few words left to write.
		if job.Stopped || job.Held && running.modifyIndex != job.ModifyIndex {
			running.cancel()
		}
		return nil, nil, false
	}
	if job.Stopped || v.done[job.ID] >= job.ModifyIndex { // also a list from before our own write
		return nil, nil, false
	}
	ctx, end = v.begin(ctx, job)
	return ctx, end, true
}

// Begin makes a job count as under evaluation until end is called. ctx ends then, and
// where the job is changed or stopped meanwhile. Not begun where it counts as such.
func (v *Evaluations) Begin(ctx context.Context, job cluster.Job) (_ context.Context, end func(index uint64), begun bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.running[job.ID]; ok {
		return nil, nil, false
	}
	ctx, end = v.begin(ctx, job)
	return ctx, end, true
}

// begin needs the lock.
func (v *Evaluations) begin(ctx context.Context, job cluster.Job) (context.Context, func(index uint64)) {
	ctx, cancel := context.WithCancel(ctx)
	v.running[job.ID] = evaluation{modifyIndex: job.ModifyIndex, cancel: cancel}
	return ctx, func(index uint64) {
		cancel()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.running, job.ID)
		v.done[job.ID] = max(v.done[job.ID], index)
	}
}

// UnderWay reports that a job is worked on.
func (v *Evaluations) UnderWay(id cluster.JobID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.running[id]
	return ok
}

// ForgetAllBut cancels evaluations of jobs that are gone.
func (v *Evaluations) ForgetAllBut(present map[cluster.JobID]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, running := range v.running {
		if !present[id] {
			running.cancel()
		}
	}
	maps.DeleteFunc(v.done, func(id cluster.JobID, _ uint64) bool { return !present[id] })
}
