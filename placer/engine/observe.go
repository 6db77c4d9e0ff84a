package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// publish shows per-node pressure on the nodes themselves.
func (e *Engine) publish(ctx context.Context) error {
	s, err := e.decisions.Snapshot(ctx, e.cfg.World)
	if err != nil {
		return err
	}
	table := cluster.NewPressureTable(s, e.estimator.Columns())
	return e.cfg.World.Publish(ctx, func(yield func(cluster.NodeID, cluster.Pressure) bool) {
		for _, n := range s.Nodes {
			p := table.NodePressure(n)
			if d := diskOf(s, n); d != nil && d.Problem == "" {
				p.DiskFreeMBPerSec = &d.FreeMBPerSec
			}
			if !yield(n.ID, p) {
				return
			}
		}
	})
}

// Nodes returns every node as the placer sees it now.
func (e *Engine) Nodes(ctx context.Context) ([]cluster.NodeRecord, error) {
	s, err := e.cfg.World.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	decisions, err := e.book.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	filled := journal.Filled(s, slices.Values(decisions))
	table := cluster.NewPressureTable(filled, e.estimator.Columns())
	out := make([]cluster.NodeRecord, len(filled.Nodes))
	for i, n := range filled.Nodes {
		residents := filled.Residents(n.ID, cluster.WorkloadID{})
		out[i] = cluster.NodeRecord{
			Node: *n, Used: cluster.Used(residents), Pressure: table.NodePressure(n),
			Residents: groupResidents(residents, filled.Known), Disk: diskOf(filled, n), At: e.cfg.Clock.Now(),
		}
	}
	return out, nil
}

// diskOf is what is promised of a node's disk; nil where the node does not say what its disk
// does.
func diskOf(s *cluster.Snapshot, n *cluster.Node) *cluster.DiskRecord {
	a, err := s.DiskAccount(n, cluster.WorkloadID{})
	switch {
	case errors.Is(err, disk.ErrNotSaid):
		return nil
	case err != nil:
		return &cluster.DiskRecord{Problem: err.Error()}
	}
	return &cluster.DiskRecord{RatedMBPerSec: a.RatedMBPerSec, PromisedMBPerSec: a.PromisedMBPerSec, FreeMBPerSec: a.FreeMBPerSec()}
}

func groupResidents(allocs []cluster.Allocation, known map[cluster.WorkloadID]interference.Sensitivity) []cluster.Resident {
	var out []cluster.Resident
	index := map[cluster.WorkloadID]int{}
	for _, a := range allocs {
		i, ok := index[a.Workload]
		if !ok {
			i = len(out)
			index[a.Workload] = i
			_, isKnown := known[a.Workload]
			out = append(out, cluster.Resident{Workload: a.Workload, Known: isKnown})
		}
		out[i].Allocations++
		out[i].Resources = out[i].Resources.Add(a.Resources)
	}
	return out
}
