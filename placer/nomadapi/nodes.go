package nomadapi

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"sync"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// metaConfiguration is the node meta key that names a node's server
// configuration where the node class does not.
const metaConfiguration = "placer_sc"

// kernelDriver is the task driver that runs interference kernels.
const kernelDriver = "ibench"

// nodeCache keeps each node until its ModifyIndex moves.
type nodeCache struct {
	mu    sync.Mutex
	index uint64
	list  []*cluster.Node
	byID  map[cluster.NodeID]cachedNode
}

type cachedNode struct {
	modifyIndex uint64
	node        *cluster.Node
}

// nodeStub is a row of the node list.
type nodeStub struct {
	ID          string
	ModifyIndex uint64
}

// nodeDetail is the part of a node that is looked at.
type nodeDetail struct {
	ID                    string
	Name                  string
	Datacenter            string
	NodePool              string
	NodeClass             string
	HTTPAddr              string
	Status                string
	SchedulingEligibility string
	Drain                 bool
	Attributes            map[string]string
	Meta                  map[string]string
	Drivers               map[string]struct{ Detected, Healthy bool }
	NodeResources         nodeResources
	ReservedResources     struct {
		CPU struct {
			CPUShares        int
			ReservedCPUCores []int
		}
		Memory struct{ MemoryMB int }
		Disk   struct{ DiskMB int }
	}
}

type nodeResources struct {
	CPU        struct{ CPUShares int }
	Memory     struct{ MemoryMB int }
	Disk       struct{ DiskMB int }
	Processors struct {
		Topology struct {
			OverrideTotalCompute int
			Cores                []processorCore
		}
	}
}

type processorCore struct {
	ID                              int
	Disable                         bool
	BaseSpeed, MaxSpeed, GuessSpeed int
}

// mhz is the speed Nomad counts a reserved core with.
func (c processorCore) mhz() int { return cmp.Or(c.BaseSpeed, c.MaxSpeed, c.GuessSpeed) }

func (w *World) listNodes(ctx context.Context) ([]*cluster.Node, uint64, error) {
	c := &w.nodes
	c.mu.Lock()
	defer c.mu.Unlock()
	if index, err := w.tableIndex(ctx, "/v1/nodes", ""); err == nil && index == c.index {
		return c.list, c.index, nil
	}
	var stubs []nodeStub
	index, err := w.nomad.get(ctx, "/v1/nodes", api.QueryOptions{}, &stubs)
	if err != nil {
		return nil, 0, err
	}
	byID := make(map[cluster.NodeID]cachedNode, len(stubs))
	list := make([]*cluster.Node, 0, len(stubs))
	for _, s := range stubs {
		id := cluster.NodeID(s.ID)
		cached, ok := c.byID[id]
		if !ok || cached.modifyIndex != s.ModifyIndex {
			node, err := w.readNode(ctx, s.ID)
			if isNotFound(err) {
				continue // purged between the list and the read
			}
			if err != nil {
				return nil, 0, err
			}
			cached = cachedNode{s.ModifyIndex, node}
		}
		byID[id] = cached
		list = append(list, cached.node)
	}
	slices.SortFunc(list, func(a, b *cluster.Node) int { return cmp.Compare(a.ID, b.ID) })
	c.index, c.list, c.byID = index, list, byID
	return list, index, nil
}

func (w *World) readNode(ctx context.Context, id string) (*cluster.Node, error) {
	var d nodeDetail
	if _, err := w.nomad.get(ctx, "/v1/node/"+url.PathEscape(id), api.QueryOptions{}, &d); err != nil {
		return nil, err
	}
	return d.node(), nil
}

func (d nodeDetail) node() *cluster.Node {
	kernels := d.Drivers[kernelDriver]
	total, coreMHz := d.usable()
	return &cluster.Node{
		ID:            cluster.NodeID(d.ID),
		Name:          d.Name,
		Datacenter:    d.Datacenter,
		Pool:          d.NodePool,
		Class:         d.NodeClass,
		Configuration: cmp.Or(d.Meta[metaConfiguration], d.NodeClass, d.Attributes["cpu.modelname"], "unknown"),
		Address:       d.HTTPAddr,
		Total:         total,
		CoreMHz:       coreMHz,
		Ready:         d.Status == "ready" && d.SchedulingEligibility == "eligible" && !d.Drain,
		Kernels:       kernels.Detected && kernels.Healthy,
		Attributes:    d.Attributes,
		Meta:          d.Meta,
	}
}

// usable is what allocations may take: the node's resources without the
// reserved ones, and the speed of one core.
func (d nodeDetail) usable() (total cluster.Resources, coreMHz int) {
	topology := d.NodeResources.Processors.Topology
	sumMHz := 0
	for _, core := range topology.Cores {
		if core.Disable {
			continue
		}
		total.Cores++
		sumMHz += core.mhz()
	}
	if total.Cores > 0 {
		coreMHz = sumMHz / total.Cores
	}
	total.CPUMHz = max(0, cmp.Or(d.NodeResources.CPU.CPUShares, topology.OverrideTotalCompute, sumMHz)-d.ReservedResources.CPU.CPUShares)
	total.MemoryMB = max(0, d.NodeResources.Memory.MemoryMB-d.ReservedResources.Memory.MemoryMB)
	total.DiskMB = max(0, d.NodeResources.Disk.DiskMB-d.ReservedResources.Disk.DiskMB)
	return total, coreMHz
}
