package nomadapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Snapshot returns the nodes, the live allocations and what was decided but is
// not yet visible. What has not changed since the last one is shared with it,
// not fetched again. Known is left to the engine.
func (w *World) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	if !w.snapshotsFollowed() {
		w.askToFollow()
	}
	nodes, nodesIndex, err := w.listNodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	allocs, allocsIndex, err := w.listAllocations(ctx)
	if err != nil {
		return nil, fmt.Errorf("allocations: %w", err)
	}
	allocs = withTransfers(allocs)
	return &cluster.Snapshot{
		Index:       max(nodesIndex, allocsIndex),
		Nodes:       nodes,
		Allocations: allocs,
		Reserved:    w.reservations.unseen(allocs, w.clock.Now()),
	}, nil
}

// tableIndex asks for one row of a list: its answer carries the index at which
// the table last changed, for the price of that row.
func (w *World) tableIndex(ctx context.Context, path string, namespace string) (uint64, error) {
	var rows []struct{ ModifyIndex uint64 }
	index, err := w.nomad.get(ctx, path, api.QueryOptions{Namespace: namespace, PerPage: 1}, &rows)
	if err != nil {
		return 0, err
	}
	if index == 0 {
		return 0, errors.New("the list carries no index")
	}
	return index, nil
}
