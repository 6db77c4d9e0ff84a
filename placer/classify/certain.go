package classify

import "math"

// certainWithin is the largest standard deviation of a cell that counts as known to
// classifiers whose papers have no measurement noise, as a share of the range of the training
// cells: beyond it the 95 % interval of the cell takes in two fifths of that range, and a mean
// of other rows says as much (chosen by us).
const certainWithin = 0.1

// normal95 is Φ⁻¹(0.975): so many standard deviations to either side are a 95 % interval.
const normal95 = 1.959963984540054

// onlyCertain lets a classifier without a notion of measurement noise take each cell as
// exact, or, where its deviation is above certainWithin, as missing.
type onlyCertain struct{ inner Classifier }

func (c onlyCertain) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	most := certainWithin * rangeOf(known.Rows)
	if most == 0 {
		most = math.Inf(1) // cells that are all alike tell nothing of what is much
	}
	exact := known
	exact.Deviations = nil
	if known.Deviations != nil {
		exact.Rows = make([][]float64, len(known.Rows))
		for i, row := range known.Rows {
			exact.Rows[i] = certainCells(row, known.deviations(i), most)
		}
	}
	inner, err := c.inner.Fit(exact, seed)
	if err != nil {
		return nil, err
	}
	return certainModel{inner, len(m.Columns), most}, nil
}

// rangeOf is from the least to the largest cell.
func rangeOf(rows [][]float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		for _, v := range row {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return high - low
}

// certainCells is the row without the cells whose deviation is above most.
func certainCells(row, deviations []float64, most float64) []float64 {
	if deviations == nil {
		return row
	}
	out := make([]float64, len(row))
	for j, v := range row {
		out[j] = v
		if !(deviations[j] <= most) {
			out[j] = math.NaN()
		}
	}
	return out
}

type certainModel struct {
	Model
	columns int
	most    float64
}

func (m certainModel) Complete(row, deviations []float64) ([]Cell, error) {
	if _, _, err := observed(row, deviations, m.columns); err != nil {
		return nil, err
	}
	out, err := m.Model.Complete(certainCells(row, deviations, m.most), nil)
	if err != nil || deviations == nil {
		return out, err
	}
	for j := range out {
		switch c := &out[j]; {
		case c.Measured:
			c.Low, c.High = c.Value-normal95*deviations[j], c.Value+normal95*deviations[j]
		case !math.IsNaN(row[j]):
			out[j] = measuredCell(row[j], deviations[j], c.asBelief())
		}
	}
	return out, nil
}

// withoutOwn is what is known of a cell without its own measurement.
func (c Cell) withoutOwn() belief {
	if c.Measured {
		return c.others
	}
	return c.asBelief()
}

// asBelief is a prediction as what is known of the cell before it is measured.
func (c Cell) asBelief() belief {
	if !c.Known || !(c.High > c.Low) || math.IsInf(c.High-c.Low, 0) {
		return belief{}
	}
	return belief{c.Value, (c.High - c.Low) / (2 * normal95)}
}

// Concepts are those of the classifier that it wraps; nil where that has none.
func (m certainModel) Concepts() []float64 {
	if c, ok := m.Model.(interface{ Concepts() []float64 }); ok {
		return c.Concepts()
	}
	return nil
}
