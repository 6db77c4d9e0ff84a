package board_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Delimitrou 2015, §7.2.1: a unit is a core with its share of the memory, so whoever
// needs more memory than its cores have takes the units that the memory belongs to.
func TestUnitsCountMemory(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{interference.Integer}, []string{"one"})
	n := b.Add(board.Node{CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 4000, Cores: 4, MemoryMB: 4000}})
	out := make([]float64, 1)
	for _, x := range []struct {
		size       cluster.Resources
		free       int
		contention float64
	}{
		{cluster.Resources{CPUMHz: 2000, MemoryMB: 100}, 2, 40},
		{cluster.Resources{CPUMHz: 100, MemoryMB: 2000}, 2, 40},
		{cluster.Resources{Cores: 1, MemoryMB: 1000}, 3, 20},
		{cluster.Resources{CPUMHz: 500, MemoryMB: 500}, 3, 10},
		{cluster.Resources{CPUMHz: 4000, MemoryMB: 4000}, 0, 60},
	} {
		b.Place(n, board.Resident{Handle: 1, Size: x.size, Tolerated: []float64{50}, Caused: []float64{60}})
		b.Contention(n, out)
		if got := b.FreeUnits(n); got != x.free || math.Abs(out[0]-x.contention) > 1e-9 {
			t.Errorf("%+v leaves %d units with %g points, want %d with %g", x.size, got, out[0], x.free, x.contention)
		}
		b.Remove(n, 1)
	}
}

func TestUnitsOfANode(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		node board.Node
		want int
	}{
		{board.Node{CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 4500}}, 4},
		{board.Node{CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 500}}, 1},
		{board.Node{CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 4500, Cores: 3}}, 3},
		{board.Node{Total: cluster.Resources{CPUMHz: 4500}}, 1},
	} {
		if got := x.node.Units(); got != x.want {
			t.Errorf("%+v has %d units, want %d", x.node, got, x.want)
		}
	}
}
