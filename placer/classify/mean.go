package classify

import (
	"math"
	"math/rand/v2"
)

var meanDescriptor = Descriptor{
	Name:    "mean",
	Summary: "the column mean, scaled by the row's known cells: the baseline without learning",
	New:     func() Classifier { return scaledMean{} },
}

type scaledMean struct{}

// shown is how many cells of a held-out row the baseline sees, as in
// pq.DefaultFolding.
const shown = 2

// Fit averages the columns. Residuals come from leaving one row out at a time.
func (scaledMean) Fit(m Matrix, seed uint64) (Model, error) {
	sums, counts := make([]float64, len(m.Columns)), make([]int, len(m.Columns))
	total := 0
	for _, row := range m.Rows {
		at, values, err := observed(row, len(m.Columns))
		if err != nil {
			return nil, err
		}
		for i, j := range at {
			sums[j] += values[i]
			counts[j]++
			total++
		}
	}
	if total == 0 {
		return nil, ErrNoTraining
	}
	return &means{means: meansOf(sums, counts), width: halfWidths(leaveOneOut(m.Rows, sums, counts, seed))}, nil
}

// meansOf divides; a column without cells is NaN.
func meansOf(sums []float64, counts []int) []float64 {
	out := make([]float64, len(sums))
	for j := range out {
		out[j] = math.NaN()
		if counts[j] > 0 {
			out[j] = sums[j] / float64(counts[j])
		}
	}
	return out
}

func leaveOneOut(rows [][]float64, sums []float64, counts []int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(len(rows))))
	residuals := make([][]float64, len(sums))
	for _, row := range rows {
		otherSums, otherCounts := append([]float64(nil), sums...), append([]int(nil), counts...)
		var known []int
		for j, v := range row {
			if !math.IsNaN(v) {
				known = append(known, j)
				otherSums[j] -= v
				otherCounts[j]--
			}
		}
		rng.Shuffle(len(known), func(a, b int) { known[a], known[b] = known[b], known[a] })
		given := max(0, min(shown, len(known)-1))
		others := meansOf(otherSums, otherCounts)
		ratio := ratioTo(others, row, known[:given])
		for _, j := range known[given:] {
			if !math.IsNaN(others[j]) {
				residuals[j] = append(residuals[j], row[j]-ratio*others[j])
			}
		}
	}
	return residuals
}

// ratioTo is how much a row exceeds the means in its known cells; 1 where there
// is nothing to compare.
func ratioTo(means, row []float64, known []int) float64 {
	var have, expected float64
	for _, j := range known {
		if !math.IsNaN(means[j]) {
			have += row[j]
			expected += means[j]
		}
	}
	if expected <= 0 {
		return 1
	}
	return have / expected
}

type means struct{ means, width []float64 }

func (m *means) Complete(row []float64) ([]Cell, error) {
	at, _, err := observed(row, len(m.means))
	if err != nil {
		return nil, err
	}
	ratio := ratioTo(m.means, row, at)
	completed := make([]float64, len(row))
	for j := range completed {
		completed[j] = ratio * m.means[j]
	}
	return cells(row, completed, m.width, func(j int) bool { return !math.IsNaN(m.means[j]) }), nil
}
