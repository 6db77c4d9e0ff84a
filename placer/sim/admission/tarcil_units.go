package admission

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// A resource unit is one core with an equal share of its node's memory
// (Delimitrou 2015, §7.2.1).

// unitsOf is how many units a node is cut into; at least 1.
func unitsOf(n *board.Node) int {
	if n.CoreMHz > 0 {
		return max(1, n.Total.CPUMHz/n.CoreMHz)
	}
	return max(1, n.Total.Cores)
}

// unitsFor is how many units a size takes on a node, by whatever it needs most
// of; at least a part of one.
func unitsFor(n *board.Node, size cluster.Resources) float64 {
	cores := float64(size.Cores)
	if n.CoreMHz > 0 {
		cores += float64(size.CPUMHz) / float64(n.CoreMHz)
	}
	memory := 0.0
	if n.Total.MemoryMB > 0 {
		memory = float64(size.MemoryMB) / float64(n.Total.MemoryMB) * float64(unitsOf(n))
	}
	return max(cores, memory)
}

// wholeUnits rounds up, but for errors of floats.
func wholeUnits(units float64) int { return max(1, int(math.Ceil(units-1e-9))) }

// freeUnits is how many units of a node nobody holds.
func freeUnits(b *board.Board, n board.Index) int {
	if !b.Ready(n) {
		return 0
	}
	node := b.Node(n)
	return max(0, unitsOf(node)-int(math.Ceil(unitsFor(node, b.Used(n))-1e-9)))
}
