package engine

import (
	"context"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// publish shows per-node pressure on the nodes themselves.
func (e *Engine) publish(ctx context.Context) error {
	s, err := e.decisions.Snapshot(ctx, e.cfg.World)
	if err != nil {
		return err
	}
	pressure := make(map[cluster.NodeID]cluster.Pressure, len(s.Nodes))
	table := cluster.NewPressureTable(s, e.estimator.Columns())
	for _, n := range s.Nodes {
		pressure[n.ID] = table.NodePressure(n)
	}
	return e.cfg.World.Publish(ctx, pressure)
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
	filled := *s
	filled.Known = journal.ScoresOf(slices.Values(decisions))
	table := cluster.NewPressureTable(&filled, e.estimator.Columns())
	out := make([]cluster.NodeRecord, len(filled.Nodes))
	for i, n := range filled.Nodes {
		residents := filled.Residents(n.ID, cluster.WorkloadID{})
		out[i] = cluster.NodeRecord{
			Node: *n, Used: cluster.Used(residents), Pressure: table.NodePressure(n),
			Residents: groupResidents(residents, filled.Known), At: e.cfg.Clock.Now(),
		}
	}
	return out, nil
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
