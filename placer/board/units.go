package board

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// A resource unit is one core with an equal share of its node's memory (Delimitrou 2015,
// §7.2.1). A size takes as many as it needs of whichever of the two it needs more of.

// Units is how many resource units a node is cut into; at least 1.
func (n *Node) Units() int {
	switch {
	case n.Total.Cores > 0:
		return n.Total.Cores
	case n.CoreMHz > 0:
		return max(1, n.Total.CPUMHz/n.CoreMHz)
	default:
		return 1
	}
}

// UnitsOf is how many resource units a size takes on a node; it may be a part of one.
func (n *Node) UnitsOf(size cluster.Resources) float64 {
	cores := float64(size.Cores)
	if n.CoreMHz > 0 {
		cores += float64(size.CPUMHz) / float64(n.CoreMHz)
	}
	memory := 0.0
	if n.Total.MemoryMB > 0 {
		memory = float64(size.MemoryMB) / float64(n.Total.MemoryMB) * float64(n.Units())
	}
	return max(cores, memory)
}

// WholeUnits rounds up, but for errors of floats: a unit in part use is not free.
func WholeUnits(replicas float64) int { return int(math.Ceil(replicas - 1e-9)) }

// FreeUnits is how many units of a node are not reserved.
func (b *Board) FreeUnits(n Index) int {
	if !b.Ready(n) {
		return 0
	}
	node := b.Node(n)
	return max(0, node.Units()-WholeUnits(node.UnitsOf(b.Used(n))))
}

// Contention fills out with what a free unit of a node experiences: the mean of the
// caused scores over the node's other units, 0 for free ones, where a resident counts
// once for each of its own (Delimitrou 2015, §7.2.2, Eq. 7.3).
func (b *Board) Contention(n Index, out []float64) {
	clear(out)
	node := b.Node(n)
	others := node.Units() - 1
	if others < 1 {
		return
	}
	for i := range b.Residents(n) {
		r := &b.Residents(n)[i]
		share := min(1, node.UnitsOf(r.Size)/float64(others))
		for k, v := range r.Caused {
			out[k] += share * v
		}
	}
}
