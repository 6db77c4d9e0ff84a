package engine

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Preview decides what would become of a job now, from stored profiles alone:
// nothing is profiled, written or recorded. The groups without a stored profile
// are named in unprofiled; they would be profiled first, which may change their
// decision.
func (e *Engine) Preview(ctx context.Context, job cluster.Job) (decisions []cluster.Decision, unprofiled []cluster.WorkloadID, err error) {
	if err := e.recall(ctx); err != nil {
		return nil, nil, err
	}
	known := make([]knownWorkload, 0, len(job.Workloads))
	for _, w := range job.Workloads {
		p, err := e.storedProfile(ctx, w.ProfileKey)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			unprofiled = append(unprofiled, w.ID)
		}
		known = append(known, knownWorkload{workload: w, knowledge: e.classify(p)})
	}
	decisions, err = e.decide(ctx, job, known)
	return decisions, unprofiled, err
}
