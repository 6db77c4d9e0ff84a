package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// The documented fit: 18 for a node that is full or, spreading, empty.
func TestNomadFit(t *testing.T) {
	t.Parallel()
	n := board.Node{Total: cluster.Resources{CPUMHz: 2048, MemoryMB: 4096}, CoreMHz: 1024}
	half := 2 * math.Sqrt(10)
	for _, c := range []struct {
		used            cluster.Resources
		binpack, spread float64
	}{
		{cluster.Resources{CPUMHz: 2048, MemoryMB: 4096}, 1, 0},
		{cluster.Resources{}, 0, 1},
		{cluster.Resources{CPUMHz: 1024, MemoryMB: 2048}, (20 - half) / 18, (half - 2) / 18},
		{cluster.Resources{Cores: 1, MemoryMB: 2048}, (20 - half) / 18, (half - 2) / 18},
	} {
		if got := binpackScore(&n, c.used); math.Abs(got-c.binpack) > 1e-12 {
			t.Errorf("%+v: binpack %v, want %v", c.used, got, c.binpack)
		}
		if got := spreadScore(&n, c.used); math.Abs(got-c.spread) > 1e-12 {
			t.Errorf("%+v: spread %v, want %v", c.used, got, c.spread)
		}
	}
	if got := finalScore(0.8, 1, 4); math.Abs(got-(0.8-0.5)/2) > 1e-12 {
		t.Errorf("beside one of four of its own: %v", got)
	}
}

func TestNomadLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes int
		batch bool
		want  int
	}{{1, false, 2}, {2, false, 2}, {3, false, 2}, {5, false, 3}, {1000, false, 10}, {1024, false, 10}, {1025, false, 11}, {1000, true, 2}} {
		if got := nomadLimit(c.nodes, c.batch); got != c.want {
			t.Errorf("%d nodes, batch %v: %d scored, want %d", c.nodes, c.batch, got, c.want)
		}
	}
}

// Binpack fills, spread empties, and neither looks at more than its limit of
// feasible nodes while all are.
func TestNomadChoices(t *testing.T) {
	t.Parallel()
	s := boardtest.Shape{Nodes: 4, Cores: 8, Configurations: 1, Columns: 1, Caused: 10}
	rng := rand.New(rand.NewPCG(1, 1))
	b := boardtest.Random(rng, s)
	b.Place(2, board.Resident{Handle: 1, Size: boardtest.Cores(3), Tolerated: []float64{50}, Caused: []float64{10}})
	a := boardtest.Ask(rng, s)
	took := map[string]int{}
	for seed := range uint64(400) {
		for _, d := range []SelectorDescriptor{nomadBinpackSelector, nomadSpreadSelector} {
			c := d.New(b, Options{}).Select(b, &a, rand.New(rand.NewPCG(seed, 2)))
			if c.Examined != 2 {
				t.Fatalf("%s examined %d of 4 nodes, log2 is 2", d.Name, c.Examined)
			}
			if c.Replicas[0].Node == 2 {
				took[d.Name]++
			}
		}
	}
	// The used node is among two of four half the time: 200 ± 5 standard errors.
	if got := took["nomad-binpack"]; got < 150 || got > 250 {
		t.Errorf("binpack took the used node %d times of 400, half were expected", got)
	}
	if got := took["nomad-spread"]; got != 0 {
		t.Errorf("spread took the used node %d times", got)
	}
}
