package shape

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// FromTrace is the cluster of a trace at one moment: what has been added and
// not removed up to then, by size. Configurations are those of the trace, or the
// size where it names none.
func FromTrace(name, source string, r trace.NodeReader, upTo func(trace.NodeEvent) bool) (Cluster, error) {
	c := Cluster{Name: name, Source: source, Summary: "the machines of " + name}
	there := map[string]int{} // group of each node
	var order []string
	var groups grouping
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c, err
		}
		if upTo != nil && !upTo(e) {
			break
		}
		g, was := there[e.Node]
		if was {
			groups.nodes[g].Count.Value--
		}
		if e.Change == trace.Removed {
			delete(there, e.Node)
			continue
		}
		if !was {
			order = append(order, e.Node)
		}
		there[e.Node] = groups.add(fromEvent(e))
	}
	c.Nodes = groups.present()
	if len(order) == 0 {
		return c, fmt.Errorf("%w: %s: the trace has no machines", ErrShape, name)
	}
	return c, c.Check()
}

func fromEvent(e trace.NodeEvent) Node {
	n := Node{
		Configuration: e.Configuration, Cores: known(e.Cores), MemoryBytes: known(e.MemoryBytes), GPUs: traced(float64(e.GPUs)),
	}
	if e.GPUType != "" {
		n.GPUType = Text{e.GPUType, Traced}
	}
	return n
}

func known(v float64) Number {
	if math.IsNaN(v) {
		return Number{}
	}
	return traced(v)
}

// grouping counts nodes that are alike.
type grouping struct {
	places map[Node]int
	names  map[string]int
	nodes  []Node
}

// add counts a node to its group, which it names: by the configuration, with the
// size behind it where several sizes have that name.
func (g *grouping) add(n Node) int {
	if g.places == nil {
		g.places, g.names = map[Node]int{}, map[string]int{}
	}
	if p, ok := g.places[n]; ok {
		g.nodes[p].Count.Value++
		return p
	}
	p := len(g.nodes)
	g.places[n] = p
	g.names[n.Configuration]++
	n.Count = traced(1)
	g.nodes = append(g.nodes, n)
	return p
}

// present lists the groups that have nodes, under names of their own.
func (g *grouping) present() []Node {
	var out []Node
	for _, n := range g.nodes {
		if n.Count.Value == 0 {
			continue
		}
		if n.Configuration == "" || g.names[n.Configuration] > 1 {
			n.Configuration = sizeName(n)
		}
		out = append(out, n)
	}
	return out
}

// sizeName is a configuration with its size, which tells groups apart.
func sizeName(n Node) string {
	name := fmt.Sprintf("%g cores", n.Cores.Value)
	if n.MemoryBytes.Known() {
		name += fmt.Sprintf(" %.4g GiB", n.MemoryBytes.Value/gib)
	}
	if n.GPUs.Value > 0 {
		name += fmt.Sprintf(" %g GPUs", n.GPUs.Value)
	}
	if n.Configuration != "" {
		name = n.Configuration + " " + name
	}
	return name
}
