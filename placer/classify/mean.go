package classify

import (
	"math"
	"math/rand/v2"
	"slices"
)

var meanDescriptor = Descriptor{
	Name:    "mean",
	Summary: "the column mean, scaled by the row's known cells: the baseline without learning",
	New:     func() Classifier { return onlyCertain{columnMean{scaled: true}} },
}

var averageDescriptor = Descriptor{
	Name:    "average",
	Summary: "the column mean, whatever the row shows: the baseline without measuring",
	New:     func() Classifier { return onlyCertain{columnMean{}} },
}

type columnMean struct{ scaled bool }

// Fit averages the columns. Residuals come from leaving one row out at a time.
func (c columnMean) Fit(m Matrix, seed uint64) (Model, error) {
	sums, counts := make([]float64, len(m.Columns)), make([]int, len(m.Columns))
	total := 0
	for _, row := range m.Rows {
		at, values, err := observed(row, nil, len(m.Columns))
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
	return &means{columnMean: c, means: meansOf(sums, counts), width: halfWidths(c.leaveOneOut(m, sums, counts, seed))}, nil
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

func (c columnMean) leaveOneOut(m Matrix, sums []float64, counts []int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(len(m.Rows))))
	residuals := make([][]float64, len(sums))
	for _, i := range atLeastTwo(m.Rows) {
		row := m.Rows[i]
		otherSums, otherCounts := slices.Clone(sums), slices.Clone(counts)
		for j, v := range row {
			if !math.IsNaN(v) {
				otherSums[j] -= v
				otherCounts[j]--
			}
		}
		given := toShow(row, m.Always, rng)
		others := meansOf(otherSums, otherCounts)
		ratio := c.ratio(others, row, given)
		for j, v := range row {
			if !math.IsNaN(v) && !slices.Contains(given, j) && !math.IsNaN(others[j]) {
				residuals[j] = append(residuals[j], v-ratio*others[j])
			}
		}
	}
	return residuals
}

// ratio is what the means are multiplied by.
func (c columnMean) ratio(means, row []float64, known []int) float64 {
	if !c.scaled {
		return 1
	}
	return ratioTo(means, row, known)
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

type means struct {
	columnMean
	means, width []float64
}

func (m *means) Complete(row, _ []float64) ([]Cell, error) {
	at, _, err := observed(row, nil, len(m.means))
	if err != nil {
		return nil, err
	}
	ratio := m.ratio(m.means, row, at)
	completed := make([]float64, len(row))
	for j := range completed {
		completed[j] = ratio * m.means[j]
	}
	return cells(row, completed, m.width, func(j int) bool { return !math.IsNaN(m.means[j]) }), nil
}
