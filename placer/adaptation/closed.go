package adaptation

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

// Gated is the world in which nothing is placed on closed nodes.
func Gated(world cluster.World, closed func() map[cluster.NodeID]bool) cluster.World {
	return gatedWorld{world, closed}
}

// Snapshot shows closed nodes as not ready.
func (w gatedWorld) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	s, err := w.World.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return placement.WithoutNodes(s, w.closed()), nil
}

// ClosedNodes are the nodes that take nothing more.
func (c *Controller) ClosedNodes() map[cluster.NodeID]bool {
	c.mu.Lock()
	a := c.live
	c.mu.Unlock()
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.closed)
}
