// Package endpoints says which node and which task group is behind an address, as
// Nomad knows it, so that captured traffic has names.
//
// A task group is known by the ports that Nomad gave its allocations on their nodes, and on
// the own node by the addresses of its allocations, too. What a peer reaches by an address
// that only an overlay network knows is not found here.
package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// ErrNode: the node whose traffic is captured is not known.
var ErrNode = errors.New("which node this is cannot be told")

// Endpoint is who is behind an address.
type Endpoint struct {
	At    netip.AddrPort // port 0: the address as a whole
	Node  string         // ID
	Group string         // namespace/job/group; empty: the node itself
}

// Cluster asks Nomad. It is for one goroutine at a time.
type Cluster struct {
	nomad    *api.Client
	rackMeta string
	names    map[string]string // of nodes, by ID
}

// New asks through a client. rackMeta is the key of a node's meta that names its rack.
func New(nomad *api.Client, rackMeta string) *Cluster {
	return &Cluster{nomad: nomad, rackMeta: rackMeta, names: map[string]string{}}
}

// Self is the ID of the node of the agent that is asked.
func (c *Cluster) Self(ctx context.Context) (string, error) {
	var self api.AgentSelf
	if _, err := c.nomad.Raw().Query("/v1/agent/self", &self, new(api.QueryOptions).WithContext(ctx)); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNode, err)
	}
	id := self.Stats["client"]["node_id"]
	if id == "" {
		return "", fmt.Errorf("%w: the Nomad agent that answers is no client", ErrNode)
	}
	return id, nil
}

// Name is datacenter/rack/node, without the rack where the node's meta has none.
func (c *Cluster) Name(ctx context.Context, id string) (string, error) {
	if name, known := c.names[id]; known {
		return name, nil
	}
	node, _, err := c.nomad.Nodes().Info(id, new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return "", fmt.Errorf("node %s: %w", id, err)
	}
	parts := []string{node.Datacenter, node.Meta[c.rackMeta], node.Name}
	if parts[1] == "" {
		parts = []string{parts[0], parts[2]}
	}
	c.names[id] = path(parts...)
	return c.names[id], nil
}

// List reads who is where, as seen from a node.
func (c *Cluster) List(ctx context.Context, self string) ([]Endpoint, error) {
	nodes, _, err := c.nomad.Nodes().List(new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	var out []Endpoint
	for _, n := range nodes {
		if address, err := netip.ParseAddr(n.Address); err == nil {
			out = append(out, Endpoint{At: netip.AddrPortFrom(address, 0), Node: n.ID})
		}
	}
	all := api.QueryOptions{
		Namespace: api.AllNamespacesNamespace, Filter: `ClientStatus == "running"`,
		Params: map[string]string{"resources": "true", "task_states": "false"},
	}
	allocations, _, err := c.nomad.Allocations().List(all.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("allocations: %w", err)
	}
	for _, a := range allocations {
		group := groupName(a.Namespace, a.JobID, a.TaskGroup)
		out = append(out, ports(a.AllocatedResources, Endpoint{Node: a.NodeID, Group: group})...)
	}
	own, err := c.own(ctx, self)
	return append(out, own...), err
}

// ports are where an allocation answers on its node.
func ports(r *api.AllocatedResources, e Endpoint) []Endpoint {
	if r == nil {
		return nil
	}
	var out []Endpoint
	for _, p := range r.Shared.Ports {
		address, err := netip.ParseAddr(p.HostIP)
		if err != nil || p.Value <= 0 || p.Value > 1<<16-1 {
			continue
		}
		e.At = netip.AddrPortFrom(address, uint16(p.Value))
		out = append(out, e)
	}
	return out
}

// own are the addresses of the allocations of a node. Other nodes may have the same.
func (c *Cluster) own(ctx context.Context, node string) ([]Endpoint, error) {
	allocations, _, err := c.nomad.Nodes().Allocations(node, new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("allocations of node %s: %w", node, err)
	}
	var out []Endpoint
	for _, a := range allocations {
		if a.NetworkStatus == nil || a.ClientTerminalStatus() {
			continue
		}
		for _, text := range []string{a.NetworkStatus.Address, a.NetworkStatus.AddressIPv6} {
			if address, err := netip.ParseAddr(text); err == nil {
				out = append(out, Endpoint{At: netip.AddrPortFrom(address, 0), Node: node, Group: groupName(a.Namespace, a.JobID, a.TaskGroup)})
			}
		}
	}
	return out, nil
}

// groupName is one name for all instances of a job.
func groupName(namespace, job, group string) string {
	return path(namespace, cluster.ParentJob(job), group)
}

// path joins names; a slash in one of them is escaped.
func path(parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
