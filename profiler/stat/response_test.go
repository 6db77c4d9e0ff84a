package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

var bound5 = math.Log(0.95)

// someRatios are of a response with a knee, with noise and an outlier.
func someRatios(random *rand.Rand, n, levels int) []LevelRatio {
	var out []LevelRatio
	for range n {
		level := 1 + random.IntN(levels)
		x := float64(level) / float64(levels)
		out = append(out, LevelRatio{level, -0.2*x*x + 0.03*random.NormFloat64()})
	}
	return append(out, LevelRatio{levels, 0.4})
}

// naive is solve by the definition: every transition by itself, and the sum over
// paths as products of matrices from both ends.
func (c *responseChain) naive(ratios []LevelRatio, sigma float64) (lost []float64, logEvidence float64) {
	logEvidence = c.emit(ratios, sigma)
	n, kinds := len(c.values), len(steepFalls)
	step := func(z, from, to int) float64 {
		if to < from {
			return 0
		}
		mean := steepFalls[z] * -c.bound * referenceLevels / float64(c.levels)
		weight := func(k int) float64 { return c.width[k] * math.Exp((c.values[k]-c.values[from])/mean) }
		norm := 0.0
		for k := from; k < n; k++ {
			norm += weight(k)
		}
		return weight(to) / norm
	}
	move := make([][][]float64, kinds)
	for z := range move {
		move[z] = make([][]float64, n)
		for from := range move[z] {
			move[z][from] = make([]float64, n)
			for to := range move[z][from] {
				move[z][from][to] = step(z, from, to)
			}
		}
	}
	keep := func(a, b int) float64 {
		if a == b {
			return steepKept
		}
		return (1 - steepKept) / float64(kinds-1)
	}
	forward := make([]message, c.levels+1)
	for j := range forward {
		forward[j] = c.message()
	}
	c.initial(&forward[0])
	for j := 1; j <= c.levels; j++ {
		for z := range kinds {
			for to := range n {
				for before := range kinds {
					for from := range to + 1 {
						forward[j][z][to] += forward[j-1][before][from] * keep(before, z) * move[z][from][to] * c.emissions[j][to]
					}
				}
			}
		}
	}
	backward := c.message()
	for z := range kinds {
		for k := range n {
			backward[z][k] = 1
		}
	}
	lost = make([]float64, c.levels+1)
	for j := c.levels; j >= 0; j-- {
		for k, p := range c.marginal(forward[j], backward) {
			if c.values[k] < c.bound {
				lost[j] += p
			}
		}
		if j == 0 {
			break
		}
		before := c.message()
		for z := range kinds {
			for from := range n {
				for after := range kinds {
					for to := from; to < n; to++ {
						before[z][from] += keep(z, after) * move[after][from][to] * c.emissions[j][to] * backward[after][to]
					}
				}
			}
		}
		backward = before
	}
	total := 0.0
	for z := range kinds {
		for _, v := range forward[c.levels][z] {
			total += v
		}
	}
	return lost, logEvidence + math.Log(total)
}

func TestChainAgainstNaive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	for _, levels := range []int{1, 2, 5} {
		c := newResponseChain(levels, bound5)
		ratios := someRatios(random, 6, levels)
		want, evidence := c.naive(ratios, 0.03)
		got := c.solve(c.emit(ratios, 0.03))
		lost := c.mixed([]responsePart{got}, got.logWeight).lost
		near(t, "evidence", got.logWeight, evidence, 1e-9)
		for j := range want {
			near(t, "lost", lost[j], want[j], 1e-9)
		}
	}
}

// Whatever the ratios are: the chance of a loss rises with the level, crossings
// with their quantile, and everything is a number.
func TestResponseInvariants(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		var ratios []LevelRatio
		for range random.IntN(12) {
			ratios = append(ratios, LevelRatio{1 + random.IntN(20), math.Exp(4*random.NormFloat64()) * (random.Float64() - 0.9)})
		}
		r := FitResponse(ratios, 20, math.Log1p(-0.9*(1-random.Float64())), NoiseGuess{0.001 + random.Float64(), random.Float64()})
		for j := range r.lost {
			if !(r.lost[j] >= 0 && r.lost[j] <= 1+rounding) || math.IsNaN(r.Mean(j)) || j > 0 && (r.lost[j] < r.lost[j-1]-rounding || r.Mean(j) > r.Mean(j-1)+rounding) {
				t.Fatalf("%v: lost %v, at %v", ratios, r.lost, r.at)
			}
		}
		last := 0.0
		for q := 0.01; q < 1; q += 0.07 {
			at := r.Crossing(q)
			if !(at >= last && at <= 20) {
				t.Fatalf("%v: crossing %v after %v", ratios, at, last)
			}
			last = at
		}
		if !(r.Sigma() > 0) || !(r.HalfWidth(2) > 0) || !(r.HalfWidth(8) < r.HalfWidth(2)) {
			t.Fatalf("sigma %v", r.Sigma())
		}
	}
}

func TestResponseKnowsWhatItSaw(t *testing.T) {
	t.Parallel()
	guess := NoiseGuess{0.02, 0.5}
	at := func(level int, logs ...float64) (out []LevelRatio) {
		for _, v := range logs {
			out = append(out, LevelRatio{level, v})
		}
		return out
	}
	kept, lost, far := at(20, 0.01, -0.01, 0, 0.005), at(10, -0.2, -0.25, -0.22), at(9, 0, 0.01, -0.01)
	if r := FitResponse(kept, 20, bound5, guess); !(r.Kept() > 0.98) || r.Crossing(0.5) != 20 {
		t.Errorf("no loss at the top: kept with %v, crossing %v", r.Kept(), r.Crossing(0.5))
	}
	if r := FitResponse(append(lost, far...), 20, bound5, guess); !(r.Crossing(0.03) >= 8.9) || !(r.Crossing(0.97) <= 10) {
		t.Errorf("a step between 9 and 10: crossing in [%v, %v]", r.Crossing(0.03), r.Crossing(0.97))
	}
	// One wild ratio among four does not make a loss.
	if r := FitResponse(append(kept, at(20, -0.9)...), 20, bound5, guess); !(r.Kept() > 0.9) {
		t.Errorf("an outlier: kept with %v", r.Kept())
	}
	// Knowing nothing is an interval of nearly everything.
	if r := FitResponse(nil, 20, bound5, guess); !(r.Crossing(0.975)-r.Crossing(0.025) > 15) {
		t.Errorf("nothing: crossing in [%v, %v]", r.Crossing(0.025), r.Crossing(0.975))
	}
	// A standstill is far below the grid, and a ratio like others.
	if r := FitResponse(at(1, minLogRatio, minLogRatio, minLogRatio), 20, bound5, guess); !(r.Crossing(0.975) <= 1) {
		t.Errorf("a standstill at the first level: crossing at %v", r.Crossing(0.975))
	}
}

func BenchmarkFitResponse(b *testing.B) {
	ratios := someRatios(rand.New(rand.NewPCG(1, 1)), 20, 20)
	for b.Loop() {
		FitResponse(ratios, 20, bound5, NoiseGuess{0.03, 0.5})
	}
}

// The means of levels say nearly what the ratios that they are of say, and never more
// certainly than one more visit would.
func TestMeansOfLevels(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	const sigma = 0.04
	bound := math.Log(0.95)
	for _, perLevel := range []float64{-0.002, -0.01, -0.05} {
		var ratios []LevelRatio
		var means []LevelMean
		for level := 2; level <= 20; level += 2 {
			sum := 0.0
			for range 4 {
				v := perLevel*float64(level) + sigma*random.NormFloat64()
				ratios, sum = append(ratios, LevelRatio{level, v}), sum+v/4
			}
			means = append(means, LevelMean{Level: level, Log: sum, Error: sigma * math.Sqrt(7.0/5/4), Count: 4})
		}
		whole, kept := FitResponse(ratios, 20, bound, NoiseGuess{sigma, 0.1}), FitMeans(means, 20, bound, nil)
		for _, q := range []float64{0.025, 0.5, 0.975} {
			if a, b := whole.Crossing(q), kept.Crossing(q); math.Abs(a-b) > 2 {
				t.Errorf("falls by %v: quantile %v at level %.1f of the ratios, %.1f of the means", perLevel, q, a, b)
			}
		}
		for _, level := range []int{5, 20} {
			near(t, "mean", kept.Mean(level), whole.Mean(level), 0.02)
			if kept.Deviation(level) < 0.7*whole.Deviation(level) {
				t.Errorf("falls by %v: level %d is %v ± %v of the means, ± %v of the ratios", perLevel, level, kept.Mean(level), kept.Deviation(level), whole.Deviation(level))
			}
		}
	}
}

// Levels that contradict each other, each as certain as can be, leave a response all the same.
func TestMeansThatContradictEachOther(t *testing.T) {
	t.Parallel()
	certain := func(level int, log float64) LevelMean {
		return LevelMean{Level: level, Log: log, Error: 1e-3, Count: 1000}
	}
	r := FitMeans([]LevelMean{certain(5, math.Log(1e-6)), certain(8, 5)}, 20, math.Log(0.95), nil)
	for level := range 21 {
		if v := r.Mean(level); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("level %d: %v", level, v)
		}
	}
	if at := r.Crossing(0.5); !(at >= 0 && at <= 20) {
		t.Errorf("the bound is lost at %v", at)
	}
}
