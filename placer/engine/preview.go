package engine

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// Preview decides what would become of a job now, from stored profiles alone:
// nothing is profiled, written or recorded. The groups without a stored profile
// are named in unprofiled; they would be profiled first, which may change their
// decision.
func (e *Engine) Preview(ctx context.Context, job cluster.Job) (decisions []cluster.Decision, unprofiled []cluster.WorkloadID, err error) {
	if err := e.recall(ctx); err != nil {
		return nil, nil, err
	}
	known := make([]profiling.Known, 0, len(job.Workloads))
	for _, w := range job.Workloads {
		p, err := e.lab.Stored(ctx, w.ID, w.ProfileKey)
		if err != nil {
			return nil, nil, err
		}
		k := profiling.Known{Workload: w, Knowledge: e.estimator.Classify(w.ID.Namespace, w.ProfileKey, p)}
		switch {
		case p == nil && w.NotCopied != "":
			k.Warnings = []string{profiling.NotCopied(w, p)}
		case p == nil:
			unprofiled = append(unprofiled, w.ID)
		}
		known = append(known, k)
	}
	decisions, err = e.placer.Decide(ctx, job, known)
	return decisions, unprofiled, err
}
