package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/classify/dataset"
)

// floorRounds is how often the noise is drawn anew; the standard error of a
// share is then below a point for 60 rows (chosen by us).
const floorRounds = 100

// floor is the score of a predictor that knows every mean: the truth it is
// compared with is drawn around its prediction with the spread of a mean of as
// many runs as there are. A cell of one run has the spread of a cell with
// several drawn from the set. nil where no cell has several runs.
func floor(set dataset.Set, seeds int) *Line {
	spreads := relativeSpreads(set)
	if len(spreads) == 0 || !set.Ratio {
		return nil
	}
	var trials []trial
	for i, row := range set.Rows {
		rng := rand.New(rand.NewPCG(modelSeed, uint64(i)))
		for round := range floorRounds {
			t := floorTrial(row, spreads, rng)
			t.row, t.seed = i, round%seeds
			trials = append(trials, t)
		}
	}
	line := newLine("floor", set, seeds, trials, 0)
	delete(line.Figures, Covered)
	return &line
}

func floorTrial(row dataset.Row, spreads []float64, rng *rand.Rand) trial {
	t := trial{ratio: true}
	known := truthOf(row)
	drawn := make([]float64, len(known))
	for j, runs := range row.Cells {
		drawn[j] = math.NaN()
		if len(runs) == 0 {
			continue
		}
		spread := spreads[rng.IntN(len(spreads))]
		if len(runs) > 1 {
			spread = relativeSpread(runs)
		}
		drawn[j] = known[j] * math.Exp(spread/math.Sqrt(float64(len(runs)))*rng.NormFloat64())
		t.cells = append(t.cells, outcome{column: j, want: drawn[j], got: known[j]})
	}
	t.best, t.chosen = drawn[argmax(drawn)], drawn[argmax(known)]
	return t
}

func relativeSpreads(set dataset.Set) []float64 {
	var out []float64
	for _, row := range set.Rows {
		for _, runs := range row.Cells {
			if len(runs) > 1 {
				out = append(out, relativeSpread(runs))
			}
		}
	}
	return out
}

// relativeSpread is the standard deviation of a run over the mean of all. That
// of a few normal values is too small on average by
// √(2/(n−1))·Γ(n/2)/Γ((n−1)/2), which is put right.
func relativeSpread(runs []float64) float64 {
	mean, sd := stat.MeanStdDev(runs, nil)
	n := float64(len(runs))
	return sd / mean / (math.Sqrt(2/(n-1)) * math.Gamma(n/2) / math.Gamma((n-1)/2))
}

// repeated is the score of measuring all over again: each row as it was measured
// on another day, brought to this day's level by one shown cell. It is what no
// predictor that learns from other days can be expected to beat. nil where
// nothing was measured again. It covers only rows that were.
func repeated(set dataset.Set, seeds []uint64) *Line {
	var trials []trial
	for i, row := range set.Rows {
		for k, seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			if t, ok := repeatedTrial(row, rng); ok {
				t.row, t.seed = i, k
				trials = append(trials, t)
			}
		}
	}
	if len(trials) == 0 || !set.Ratio {
		return nil
	}
	line := newLine("repeat", set, len(seeds), trials, 0)
	delete(line.Figures, Covered)
	return &line
}

func repeatedTrial(row dataset.Row, rng *rand.Rand) (trial, bool) {
	truth := truthOf(row)
	var both []int
	for j := range row.Again {
		if !math.IsNaN(row.Again[j]) && !math.IsNaN(truth[j]) {
			both = append(both, j)
		}
	}
	if len(both) < 2 {
		return trial{}, false
	}
	reference := both[rng.IntN(len(both))]
	runs := row.Cells[reference]
	level := runs[rng.IntN(len(runs))] / row.Again[reference]
	t := trial{ratio: true, best: truth[argmax(truth)]}
	predicted := slices.Repeat([]float64{math.NaN()}, len(truth))
	for _, j := range both {
		predicted[j] = level * row.Again[j]
		if j != reference {
			t.cells = append(t.cells, outcome{column: j, want: truth[j], got: predicted[j]})
		}
	}
	t.chosen = truth[argmax(predicted)]
	return t, true
}
