package nomadapi

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// metaConfiguration is the node meta key that names a node's server
// configuration where the node class does not.
const metaConfiguration = "placer_sc"

// metaMachine is the node meta key that names the machine a node is a part of, where
// several nodes are of one: virtual machines of one host, or control groups.
const metaMachine = "placer_machine"

// KernelDriver is the task driver that runs interference kernels.
const KernelDriver = "ibench"

// What the placer asks of the driver, by the names of the driver's option allow.
const (
	DriverProfile  = "profile"
	DriverTransfer = "lend"
)

// driverAllow is the node attribute that lists what the operator lets tasks do.
const driverAllow = "driver." + KernelDriver + ".allow"

// DriverAllows reports whether the driver of a node with those attributes takes tasks that
// do such work. One that does not say so is of an earlier release, which takes all.
func DriverAllows(attributes cluster.Attributes, work string) bool {
	list, says := attributes.Of(driverAllow)
	return !says || slices.Contains(strings.Split(list, ","), work)
}

// nodeCache keeps each node until its ModifyIndex moves.
type nodeCache struct {
	following
	index uint64
	list  []*cluster.Node // by ID; never written to once it was handed out
	byID  map[cluster.NodeID]cachedNode
	names *nodeNames
	stale bool // byID has moved on from list
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
	ModifyIndex           uint64
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
	c.asked = true
	if c.follow {
		c.sort()
		return c.list, c.index, nil
	}
	if index, err := w.tableIndex(ctx, "/v1/nodes", ""); err == nil && index == c.index {
		c.sort()
		return c.list, c.index, nil
	}
	if err := w.readNodes(ctx); err != nil {
		return nil, 0, err
	}
	return c.list, c.index, nil
}

// readNodes reads the list and the nodes that changed, some at a time. The
// caller holds the cache's lock.
func (w *World) readNodes(ctx context.Context) error {
	c := &w.nodes
	var stubs []nodeStub
	index, err := w.nomad.get(ctx, "/v1/nodes", api.QueryOptions{}, &stubs)
	if err != nil {
		return err
	}
	byID := make(map[cluster.NodeID]cachedNode, len(stubs))
	var changed []nodeStub
	for _, s := range stubs {
		if cached, ok := c.byID[cluster.NodeID(s.ID)]; ok && cached.modifyIndex == s.ModifyIndex {
			byID[cluster.NodeID(s.ID)] = cached
		} else {
			changed = append(changed, s)
		}
	}
	if c.names == nil || len(c.names.interner) > maxNames {
		c.names = &nodeNames{interner: interner{}, lists: map[string][]string{}}
	}
	details := make([]*nodeDetail, len(changed))
	err = eachAtOnce(ctx, len(changed), func(ctx context.Context, i int) error {
		d, err := w.readNode(ctx, changed[i].ID)
		details[i] = d
		return err
	}, func(i int) {
		if d := details[i]; d != nil {
			details[i] = nil // a few kB each
			byID[cluster.NodeID(d.ID)] = cachedNode{changed[i].ModifyIndex, d.node(c.names)}
		}
	})
	if err != nil {
		return err
	}
	c.index, c.since, c.byID, c.stale = index, index, byID, true
	c.sort()
	return nil
}

// sort brings the list up to date.
func (c *nodeCache) sort() {
	if !c.stale {
		return
	}
	list := make([]*cluster.Node, 0, len(c.byID))
	for _, cached := range c.byID {
		list = append(list, cached.node)
	}
	slices.SortFunc(list, func(a, b *cluster.Node) int { return cmp.Compare(a.ID, b.ID) })
	c.list, c.stale = list, false
}

// fold brings an event of a node in.
func (c *nodeCache) fold(index uint64, gone bool, d *nodeDetail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.news(index) {
		return
	}
	id := cluster.NodeID(d.ID)
	known, ok := c.byID[id]
	c.index = index
	if gone {
		delete(c.byID, id)
		c.stale = true
		return
	}
	next := cachedNode{d.ModifyIndex, d.node(c.names)}
	c.byID[id] = next
	if c.stale || !ok {
		c.stale = true
		return
	}
	// The same nodes: only a place in the list changes.
	i, found := slices.BinarySearchFunc(c.list, id, func(n *cluster.Node, id cluster.NodeID) int { return cmp.Compare(n.ID, id) })
	if !found || c.list[i] != known.node {
		c.stale = true
		return
	}
	c.list = slices.Clone(c.list) // others hold the old one
	c.list[i] = next.node
}

// readNode returns nil for a node that was purged after it was listed.
func (w *World) readNode(ctx context.Context, id string) (*nodeDetail, error) {
	var d nodeDetail
	err := w.nomad.stream(ctx, "/v1/node/"+url.PathEscape(id), api.QueryOptions{}, func(body io.Reader) error {
		return json.NewDecoder(body).Decode(&d)
	})
	if isNotFound(err) {
		return nil, nil
	}
	return &d, err
}

// maxNames bounds the texts kept once for all nodes; they are collected anew
// beyond it.
const maxNames = 1 << 16

// nodeNames are the texts of nodes, and which attributes those have.
type nodeNames struct {
	interner
	lists map[string][]string // by all of them
}

// attributes keeps what nodes have in common once: the names, and values but for those that
// no two have.
func (n *nodeNames) attributes(a cluster.Attributes) cluster.Attributes {
	return a.Shared(n.list, func(name, value string) string {
		if strings.HasPrefix(name, "unique.") {
			return value
		}
		return n.one(value)
	})
}

func (n *nodeNames) list(names []string) []string {
	key := strings.Join(names, "\x00")
	if kept, ok := n.lists[key]; ok {
		return kept
	}
	own := make([]string, len(names))
	for i, name := range names {
		own[i] = n.one(name)
	}
	n.lists[key] = own
	return own
}

// node keeps texts that many nodes have in common once.
func (d *nodeDetail) node(names *nodeNames) *cluster.Node {
	kernels := d.Drivers[KernelDriver]
	total, coreMHz := d.usable()
	attributes := names.attributes(cluster.NewAttributes(d.Attributes))
	return &cluster.Node{
		ID:            cluster.NodeID(d.ID),
		Name:          d.Name,
		Datacenter:    names.one(d.Datacenter),
		Pool:          names.one(d.NodePool),
		Class:         names.one(d.NodeClass),
		Configuration: names.one(cmp.Or(d.Meta[metaConfiguration], d.NodeClass, d.Attributes["cpu.modelname"], "unknown")),
		Machine:       names.one(d.Meta[metaMachine]),
		Address:       d.HTTPAddr,
		Total:         total,
		CoreMHz:       coreMHz,
		Ready:         d.Status == "ready" && d.SchedulingEligibility == "eligible" && !d.Drain,
		Kernels:       kernels.Detected && kernels.Healthy && DriverAllows(attributes, DriverProfile),
		Attributes:    attributes,
		Meta:          names.all(d.Meta),
	}
}

// usable is what allocations may take: the node's resources without the
// reserved ones, and the speed of one core.
func (d *nodeDetail) usable() (total cluster.Resources, coreMHz int) {
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
