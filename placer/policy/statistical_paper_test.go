package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// §3.4.2: the printed quality takes the sign of the sum, so surplus hides want.
func TestColocationQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		tolerated, caused []float64
		sum, strict       float64
	}{
		{"perfect match", []float64{40, 60}, []float64{40, 60}, 1, 1},
		{"all wasted", []float64{100, 100}, []float64{0, 0}, 0, 0},
		{"half wasted", []float64{100, 100}, []float64{50, 50}, 0.5, 0.5},
		{"all short", []float64{10, 10}, []float64{40, 40}, -0.7, -0.7},
		{"one short, hidden by the other", []float64{20, 100}, []float64{40, 40}, 0.6, -0.6},
	} {
		if got := sumQuality(c.tolerated, c.caused); math.Abs(got-c.sum) > 1e-12 {
			t.Errorf("%s: as printed %v, want %v", c.name, got, c.sum)
		}
		if got := strictQuality(c.tolerated, c.caused); math.Abs(got-c.strict) > 1e-12 {
			t.Errorf("%s: strict %v, want %v", c.name, got, c.strict)
		}
	}
}

// §3.4.2: Pr(best of R < 0.9) for R = 16, 64, 128.
func TestPublishedProbabilities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ r, probability float64 }{{16, 0.185}, {64, 1.2e-3}, {128, 1.4e-6}} {
		if got := math.Pow(0.9, c.r); math.Abs(got/c.probability-1) > 0.05 {
			t.Errorf("0.9^%v = %v, the text says %v", c.r, got, c.probability)
		}
		if got := sampleSize(0.1, math.Pow(0.9, c.r)*1.0001); got != c.r {
			t.Errorf("R for that probability is %v, want %v", got, c.r)
		}
	}
}

// Figure 3.3: at 1,000 nodes the rank of the best of R follows x^R up to 128
// candidates, drawn by hash as by lot. The text gives no bound on the deviation;
// that of Tarcil's figure is used.
func TestStatisticalRankFollowsPower(t *testing.T) {
	t.Parallel()
	const decisions, bound = 3000, 0.05
	for _, uniform := range []bool{false, true} {
		for _, r := range []int{16, 64, 128} {
			t.Run(fmt.Sprintf("R %d, uniform %v", r, uniform), func(t *testing.T) {
				t.Parallel()
				var ranks []float64
				for seed := range uint64(3) {
					ranks = append(ranks, statisticalRanks(seed, r, uniform, decisions/3)...)
				}
				if d := powerDistance(ranks, float64(r)); d > bound {
					t.Errorf("Kolmogorov distance from x^%d is %.3f", r, d)
				}
			})
		}
	}
}

// statisticalRanks are the rank qualities of the best of r on a random cluster of
// 1,000 nodes, ties by lot.
func statisticalRanks(seed uint64, r int, uniform bool, decisions int) []float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(r)))
	shape := boardtest.Shape{Nodes: 1000, Cores: 16, Configurations: 4, Columns: 10, Load: 0.4, Caused: 20}
	b := boardtest.Random(rng, shape)
	s := paragonStatisticalSelector.New(b, Options{Candidates: r, Uniform: uniform, Literal: true}).(*statistical)
	var ranks []float64
	for range decisions {
		a := boardtest.Ask(rng, shape)
		s.tentative.begin(b, &a, 0)
		s.sample(rng)
		best := math.Inf(-1)
		for i := range s.tentative.nodes {
			best = max(best, s.rank(i).quality)
		}
		s.tentative.gather()
		var all []unitCandidate
		for i := range s.tentative.nodes {
			all = append(all, unitCandidate{quality: s.rank(i).quality})
		}
		ranks = append(ranks, rankOf(all, best, rng))
	}
	return ranks
}
