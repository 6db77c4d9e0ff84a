package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// Choice says which nodes a campaign is about; what is empty is about all.
type Choice struct {
	Class string   `json:"class,omitempty"`
	Pool  string   `json:"pool,omitempty"`
	Nodes []string `json:"nodes,omitempty"` // names, or IDs as far as they tell a node from others
}

// IsZero reports whether it is about all nodes.
func (c Choice) IsZero() bool { return c.Class == "" && c.Pool == "" && len(c.Nodes) == 0 }

// Select returns the nodes of a choice, by name. A node that is named and not there is an error.
func (c Choice) Select(nodes []*cluster.Node) ([]*cluster.Node, error) {
	var out []*cluster.Node
	found := map[string]bool{}
	for _, n := range nodes {
		if c.Class != "" && n.Class != c.Class || c.Pool != "" && n.Pool != c.Pool {
			continue
		}
		i := slices.IndexFunc(c.Nodes, func(name string) bool { return n.Name == name || name != "" && strings.HasPrefix(string(n.ID), name) })
		if len(c.Nodes) > 0 && i < 0 {
			continue
		}
		if i >= 0 {
			found[c.Nodes[i]] = true
		}
		out = append(out, n)
	}
	for _, name := range c.Nodes {
		if !found[name] {
			return nil, fmt.Errorf("%w: no node of the choice is called %q", ErrChoice, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no node is of it", ErrChoice)
	}
	slices.SortFunc(out, func(a, b *cluster.Node) int {
		return strings.Compare(a.Name+"\x00"+string(a.ID), b.Name+"\x00"+string(b.ID))
	})
	return out, nil
}

// free is what a node has left for allocations other than those of system jobs, which are on every
// node whatever happens: they are a part of it.
func free(s *cluster.Snapshot, n *cluster.Node) cluster.Resources {
	out := n.Total
	for _, a := range s.Allocations[n.ID] {
		if a.System {
			out.CPUMHz -= a.Resources.CPUMHz + a.Resources.Cores*n.CoreMHz
			out.MemoryMB -= a.Resources.MemoryMB
		}
	}
	return out
}

// tenants says who else runs on a node; ours are of the campaign, whose jobs begin with its ID. Empty
// and false: nobody.
func tenants(s *cluster.Snapshot, n *cluster.Node, campaign string) (others string, ours bool) {
	count := 0
	for _, a := range s.Allocations[n.ID] {
		switch {
		case a.System:
		case strings.HasPrefix(a.Workload.Job, campaign+"/"):
			ours = true
		default:
			count++
		}
	}
	if count > 0 {
		others = wording.Count(count, "allocation") + " of others"
	}
	return others, ours
}
