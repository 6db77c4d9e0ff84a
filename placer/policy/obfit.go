package policy

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// obfitSelector is the second baseline of PP-RTTE, reconstructed: what is submitted is
// given all it can use, on the fullest node.
var obfitSelector = SelectorDescriptor{
	Name:    "obfit",
	Summary: "optimistic best fit: full speed, on the busy node with the least cpu left",
	Paper:   "Sampaio, §VI (baseline, reconstructed)",
	New: func(*board.Board, Options) board.Selector {
		return &inTime{choose: leastLeft, slowdown: noSlowdown, fullSpeed: true}
	},
	reason: "the fullest nodes first",
}

// leastLeft prefers the node with the least cpu left afterwards.
func leastLeft(b *board.Board, loads Loads, n board.Index, size cluster.Resources) float64 {
	used, _ := loads.used(b, n)
	return float64(inMHz(b.Node(n), used.Add(size)) - b.Node(n).Total.CPUMHz)
}

// LeastLeft is the node with the least cpu left that holds the size needed there.
func LeastLeft(b *board.Board, loads Loads, size func(board.Index) (cluster.Resources, bool)) (board.Index, cluster.Resources) {
	return Best(b, loads, leastLeft, size)
}
