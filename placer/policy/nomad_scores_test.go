package policy

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// What a real Nomad 1.11.2 wrote into its allocations' metrics: two jobs of three
// allocations of 400 MHz and 300 MB, one after the other on one idle client, the
// first under the binpack algorithm, the second under spread.
func TestNomadScoresOfARealNomad(t *testing.T) {
	t.Parallel()
	n := board.Node{Total: cluster.Resources{CPUMHz: 4892, MemoryMB: 23593}}
	for _, c := range []struct {
		algorithm        string
		cpuMHz, memoryMB int // in use with the allocation
		collisions       int
		fit, final       float64
	}{
		{"binpack", 400, 300, 0, 0.11137014568762835, 0.11137014568762835},
		{"binpack", 800, 600, 1, 0.2059162810291038, -0.2303751928187814},
		{"binpack", 1200, 900, 2, 0.2864595751709571, -0.35677021241452145},
		{"spread", 1600, 1200, 0, 0.6446610436501021, 0.6446610436501021},
		{"spread", 2000, 1500, 1, 0.5855061848039971, -0.04058024093133478},
		{"spread", 2400, 1800, 2, 0.5344674832488491, -0.23276625837557546},
	} {
		fit := binpackScore
		if c.algorithm == "spread" {
			fit = spreadScore
		}
		got := fit(&n, cluster.Resources{CPUMHz: c.cpuMHz, MemoryMB: c.memoryMB})
		if math.Abs(got-c.fit) > 1e-9 {
			t.Errorf("%s with %d MHz in use: fit %v, Nomad says %v", c.algorithm, c.cpuMHz, got, c.fit)
		}
		if got := finalScore(got, c.collisions, 3); math.Abs(got-c.final) > 1e-9 {
			t.Errorf("%s beside %d: score %v, Nomad says %v", c.algorithm, c.collisions, got, c.final)
		}
	}
}
