package engine

import (
	"context"
	"maps"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/placement"
)

// gatedWorld is a world in which nothing is placed on nodes that the adapter closed.
type gatedWorld struct {
	cluster.World
	closed func() map[cluster.NodeID]bool
}

// Snapshot shows closed nodes as not ready.
func (w gatedWorld) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	s, err := w.World.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return placement.WithoutNodes(s, w.closed()), nil
}

// closedNodes are the nodes that take nothing more.
func (e *Engine) closedNodes() map[cluster.NodeID]bool {
	e.mu.Lock()
	a := e.live
	e.mu.Unlock()
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.closed)
}
