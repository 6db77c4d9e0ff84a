package classify

import "math"

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

// Fit averages the columns.
func (c columnMean) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	model := c.fit(known)
	model.width, err = calibrate(known, seed, false, func(train Matrix) (filler, error) { return c.fit(train), nil })
	return model, err
}

func (c columnMean) fit(m Matrix) *means {
	sums, counts := make([]float64, len(m.Columns)), make([]int, len(m.Columns))
	for _, row := range m.Rows {
		for j, v := range row {
			if !math.IsNaN(v) {
				sums[j] += v
				counts[j]++
			}
		}
	}
	return &means{columnMean: c, means: meansOf(sums, counts)}
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
	means []float64
	width *intervals
}

func (m *means) informed(j int) bool { return !math.IsNaN(m.means[j]) }

// complete implements filler.
func (m *means) complete(row, _, out, deviation []float64) error {
	at, _, err := observed(row, nil, len(m.means))
	if err != nil {
		return err
	}
	ratio := m.ratio(m.means, row, at)
	for j := range out {
		out[j], deviation[j] = ratio*m.means[j], 1
	}
	return nil
}

func (m *means) Complete(row, _ []float64) ([]Cell, error) {
	if _, _, err := observed(row, nil, len(m.means)); err != nil {
		return nil, err
	}
	return completeWith(m, row, nil, m.width)
}
