package placement

import (
	"context"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Elsewhere asks where a running workload would go now, without some nodes. The decision
// is in flight until the returned function is called.
func (pl *Placer) Elsewhere(ctx context.Context, job cluster.Job, as cluster.Workload, avoid map[cluster.NodeID]bool) (cluster.Decision, func(), error) {
	pl.queue.deciding <- struct{}{}
	defer func() { <-pl.queue.deciding }()
	inFlight := pl.queue.plans()
	snapshot, err := pl.cfg.Decisions.Snapshot(ctx, pl.cfg.World)
	if err != nil {
		return cluster.Decision{}, nil, err
	}
	d, err := pl.Reconsider(ctx, job, as, WithoutNodes(withPlans(snapshot, inFlight), avoid))
	if err != nil {
		return d, nil, err
	}
	if d.Outcome != cluster.Placed {
		return d, func() {}, nil
	}
	pl.queue.plan(job.Version+1, []cluster.Decision{d})
	return d, func() { pl.queue.forget([]cluster.Decision{d}) }, nil
}

// Reconsider asks the workload's policy where it would go now. Its size is as it is:
// that is not what is decided here.
func (pl *Placer) Reconsider(ctx context.Context, job cluster.Job, w cluster.Workload, snapshot *cluster.Snapshot) (cluster.Decision, error) {
	p, err := pl.cfg.Lab.Stored(ctx, w.ID, w.ProfileKey)
	if err != nil {
		return cluster.Decision{}, err
	}
	w.Spec.Scale = performance.ScaleSpec{}
	if pl.cfg.Router != nil {
		w = pl.cfg.Router.Stay(snapshot, w)
	}
	k := profiling.Known{Workload: w, Knowledge: pl.cfg.Estimator.Classify(w.ID.Namespace, w.ProfileKey, p)}
	return pl.ask(job, &k, snapshot)
}

// WithoutNodes is the snapshot with some nodes not ready.
func WithoutNodes(s *cluster.Snapshot, avoid map[cluster.NodeID]bool) *cluster.Snapshot {
	if len(avoid) == 0 {
		return s
	}
	next := *s
	next.Nodes = slices.Clone(s.Nodes)
	for i, n := range next.Nodes {
		if avoid[n.ID] {
			notReady := *n
			notReady.Ready = false
			next.Nodes[i] = &notReady
		}
	}
	return &next
}
