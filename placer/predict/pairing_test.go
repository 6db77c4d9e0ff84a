package predict_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/predict"
)

// The four tasks of the MIBS example: two that use the disk cost 200 together, one of them with
// another 55, two others 24. The best pairing costs 110, in whatever order they come.
func TestPairedFindsTheBestOfFour(t *testing.T) {
	t.Parallel()
	cost := func(a, b int) float64 { return []float64{24, 55, 200}[a+b] }
	for _, order := range [][]int{{1, 1, 0, 0}, {0, 0, 1, 1}, {0, 1, 1, 0}} {
		got := predict.Paired(order, cost)
		if sum := cost(got[0], got[1]) + cost(got[2], got[3]); sum != 110 {
			t.Errorf("%v: %v costs %v", order, got, sum)
		}
	}
}

// Against every pairing of six: never more than the order they came in, within a quarter of the
// best, and within a fiftieth of it on average.
func TestPairedAgainstAllPairings(t *testing.T) {
	t.Parallel()
	const seeds = 50
	excess := 0.0
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 1))
		var matrix [6][6]float64
		for i := range matrix {
			for j := range i {
				matrix[i][j] = 1 + random.Float64()
				matrix[j][i] = matrix[i][j]
			}
		}
		cost := func(a, b int) float64 { return matrix[a][b] }
		sum := func(order []int) float64 {
			s := 0.0
			for i := 0; i+1 < len(order); i += 2 {
				s += cost(order[i], order[i+1])
			}
			return s
		}
		given := []int{0, 1, 2, 3, 4, 5}
		least := math.Inf(1)
		permute(given, func(order []int) { least = min(least, sum(order)) })
		got := predict.Paired(given, cost)
		excess += sum(got)/least - 1
		if s := sum(got); s > sum(given) || s > 1.25*least {
			t.Errorf("seed %d: %v costs %v, the best %v", seed, got, s, least)
		}
		if slices.Sort(got); !slices.Equal(got, given) {
			t.Errorf("seed %d: %v are no longer those that came", seed, got)
		}
	}
	if excess /= seeds; excess > 0.02 {
		t.Errorf("on average %v of the best is missing", excess)
	}
}

// permute calls with every order.
func permute(all []int, f func([]int)) {
	var rest func(done, left []int)
	rest = func(done, left []int) {
		if len(left) == 0 {
			f(done)
			return
		}
		for i := range left {
			rest(append(slices.Clone(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	rest(nil, all)
}
