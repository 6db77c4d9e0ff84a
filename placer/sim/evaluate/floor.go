package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
)

// floorRounds is how often the noise is drawn anew; the standard error of a
// share is then below a point for 60 rows (chosen by us).
const floorRounds = 100

// floor is the score of a predictor that knows every cell: the truth it is compared
// with is what the median of as many runs would be another time. A cell of one
// run varies as a cell with several drawn from the set. nil where no cell has
// several runs. Scores vary as their own intervals say.
func floor(set dataset.Set, seeds int) *Line {
	several := cellsOfSeveral(set)
	if set.Ratio && len(several) == 0 {
		return nil
	}
	var trials []trial
	cells := 0
	for i, row := range set.Rows {
		rng := rand.New(rand.NewPCG(modelSeed, uint64(i)))
		for round := range floorRounds {
			var t trial
			if set.Ratio {
				t = floorTrial(row, several, rng)
			} else {
				t = scoresAgain(row, rng)
			}
			t.row, t.seed = i, round%seeds
			trials, cells = append(trials, t), cells+len(t.cells)
		}
	}
	if cells == 0 {
		return nil
	}
	line := newLine("floor", set, seeds, trials, 0)
	line.withoutIntervals()
	return &line
}

func floorTrial(row dataset.Row, several [][]float64, rng *rand.Rand) trial {
	t := trial{ratio: true}
	known := truthOf(row)
	drawn := make([]float64, len(known))
	for j, runs := range row.Cells {
		drawn[j] = math.NaN()
		if len(runs) == 0 {
			continue
		}
		like := runs
		if len(runs) == 1 {
			like = several[rng.IntN(len(several))]
		}
		drawn[j] = known[j] * anotherTime(like, len(runs), rng)
		t.cells = append(t.cells, outcome{column: j, want: drawn[j], got: known[j]})
	}
	t.best, t.chosen = drawn[argmax(drawn)], drawn[argmax(known)]
	return t
}

// scoresAgain draws each score that has an interval as another measurement of it
// might come out.
func scoresAgain(row dataset.Row, rng *rand.Rand) trial {
	var t trial
	for j, runs := range row.Cells {
		if len(runs) == 0 || j >= len(row.Deviation) || math.IsNaN(row.Deviation[j]) {
			continue
		}
		known := dataset.Median(runs)
		again := min(100, max(0, known+row.Deviation[j]*rng.NormFloat64()))
		t.cells = append(t.cells, outcome{column: j, want: again, got: known})
	}
	return t
}

func cellsOfSeveral(set dataset.Set) [][]float64 {
	var out [][]float64
	for _, row := range set.Rows {
		for _, runs := range row.Cells {
			if len(runs) > 1 {
				out = append(out, runs)
			}
		}
	}
	return out
}

// anotherTime is the median of n more runs over that of those there were: n are
// drawn of them with replacement (Efron 1979). k runs vary less around their own
// middle than around the true one, by √((k−1)/k), which is put right.
func anotherTime(runs []float64, n int, rng *rand.Rand) float64 {
	again := make([]float64, n)
	for i := range again {
		again[i] = runs[rng.IntN(len(runs))]
	}
	k := float64(len(runs))
	return math.Exp(math.Log(dataset.Median(again)/dataset.Median(runs)) * math.Sqrt(k/(k-1)))
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
	line.withoutIntervals()
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
