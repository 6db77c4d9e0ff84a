package engine

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

// Outlook is which nodes will be short of disk bandwidth in the next interval, and which can be
// emptied. expected is what allocations will use in MB/s, where more is known than promises.
func (e *Engine) Outlook(ctx context.Context, expected map[cluster.WorkloadID]float64) ([]consolidate.Outlook, error) {
	if err := e.decisions.Load(ctx); err != nil {
		return nil, err
	}
	jobs, err := e.cfg.World.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	s, err := e.decisions.Snapshot(ctx, e.cfg.World)
	if err != nil {
		return nil, err
	}
	c := consolidate.Cluster{Snapshot: s, Jobs: jobs, Expected: expected}
	return c.Look(consolidate.PaperRules()), nil
}
