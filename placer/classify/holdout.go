package classify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// shown is how many cells of a held-out row a model sees, as in
// pq.DefaultFolding (Delimitrou 2015, §3.2).
const shown = 2

// heldOutFolds and heldOutRows bound cross-validation (chosen by us).
const (
	heldOutFolds = 5
	heldOutRows  = 200
)

// filler completes one row whose cells have the standard deviations noise, nil for none:
// out receives a value for every column, and deviation the standard deviation it is
// known to, or 1 where the model gives none. A noisy cell receives its posterior.
type filler interface {
	complete(row, noise, out, deviation []float64) error
	informed(column int) bool
}

// residuals are held-out values minus predictions, per column: as they are, with the weight
// that each has, and over the deviation that the model and the measurement give.
type residuals struct{ raw, weight, standard [][]float64 }

// heldOut fits without one part of the rows at a time and lets the model predict
// them from the columns every row brings and random others, two at least. Fewer
// than two rows that anything could be held out of give no residuals and no
// error. Every call with the same matrix and seed holds out the same.
func heldOut(m Matrix, seed uint64, fit func(train Matrix) (filler, error)) (residuals, error) {
	found := residuals{make([][]float64, len(m.Columns)), make([][]float64, len(m.Columns)), make([][]float64, len(m.Columns))}
	certain := certainWithin * rangeOf(m.Rows)
	rng := rand.New(rand.NewPCG(seed, uint64(len(m.Rows))))
	rows := atLeastTwo(m.Rows)
	rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	rows = rows[:min(heldOutRows, len(rows))]
	if len(rows) < 2 {
		return found, nil
	}
	folds := min(heldOutFolds, len(rows))
	for fold := range folds {
		var train, test []int
		for i, row := range rows {
			if i%folds == fold {
				test = append(test, row)
			} else {
				train = append(train, row)
			}
		}
		model, err := fit(m.part(train))
		if err != nil {
			return residuals{}, err
		}
		for _, i := range test {
			if err := predictHeldOut(model, m.Rows[i], m.deviations(i), certain, m.Always, rng, found); err != nil {
				return residuals{}, err
			}
		}
	}
	return found, nil
}

// predictHeldOut: a cell whose deviation is certain counts half of an exact one.
func predictHeldOut(model filler, row, noise []float64, certain float64, always []int, rng *rand.Rand, found residuals) error {
	partial := slices.Repeat([]float64{math.NaN()}, len(row))
	for _, j := range toShow(row, always, rng) {
		partial[j] = row[j]
	}
	out, deviation := make([]float64, len(row)), make([]float64, len(row))
	if err := model.complete(partial, noise, out, deviation); err != nil {
		return err
	}
	for j, v := range row {
		if !math.IsNaN(v) && math.IsNaN(partial[j]) && model.informed(j) && deviation[j] > 0 {
			weight, own := 1.0, 0.0
			if noise != nil && noise[j] > 0 {
				own = noise[j]
				weight = 1 / (1 + own*own/(certain*certain))
			}
			found.raw[j], found.weight[j] = append(found.raw[j], v-out[j]), append(found.weight[j], weight)
			found.standard[j] = append(found.standard[j], (v-out[j])/math.Hypot(deviation[j], own))
		}
	}
	return nil
}

// toShow draws which known cells of a row the model sees; one is always kept
// back.
func toShow(row []float64, always []int, rng *rand.Rand) []int {
	var first, rest []int
	for j, v := range row {
		switch {
		case math.IsNaN(v):
		case slices.Contains(always, j):
			first = append(first, j)
		default:
			rest = append(rest, j)
		}
	}
	rng.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	all := append(first, rest...)
	return all[:max(0, min(max(shown, len(first)), len(all)-1))]
}

// atLeastTwo are the rows with two known cells or more, by number.
func atLeastTwo(rows [][]float64) []int {
	var out []int
	for i, row := range rows {
		n := 0
		for _, v := range row {
			if !math.IsNaN(v) {
				n++
			}
		}
		if n >= 2 {
			out = append(out, i)
		}
	}
	return out
}

// meanSquare is over all residuals as they are, weighted; NaN where there are none.
func (r residuals) meanSquare() float64 {
	var sum, n float64
	for j, column := range r.raw {
		for i, v := range column {
			w := r.weight[j][i]
			sum, n = sum+w*v*v, n+w
		}
	}
	return sum / n
}

// trainingMatrix checks the rows of a matrix and keeps those with a known cell.
func trainingMatrix(m Matrix) (Matrix, error) {
	if m.Deviations != nil && len(m.Deviations) != len(m.Rows) {
		return Matrix{}, fmt.Errorf("%w: deviations of %d rows for %d rows", ErrRow, len(m.Deviations), len(m.Rows))
	}
	var rows []int
	for i, row := range m.Rows {
		at, _, err := observed(row, m.deviations(i), len(m.Columns))
		if err != nil {
			return Matrix{}, err
		}
		if len(at) > 0 {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return Matrix{}, ErrNoTraining
	}
	return m.part(rows), nil
}

// deviations of row i; nil where there are none.
func (m Matrix) deviations(i int) []float64 {
	if m.Deviations == nil {
		return nil
	}
	return m.Deviations[i]
}

// part is the matrix of some of the rows, which it shares.
func (m Matrix) part(rows []int) Matrix {
	out := m
	out.Rows, out.Deviations = make([][]float64, len(rows)), nil
	if m.Deviations != nil {
		out.Deviations = make([][]float64, len(rows))
	}
	for n, i := range rows {
		out.Rows[n] = m.Rows[i]
		if m.Deviations != nil {
			out.Deviations[n] = m.Deviations[i]
		}
	}
	return out
}

// bestOf holds out for every candidate and returns the one of the least mean
// square, the first of equals, with its residuals. Where nothing can be held out
// it is the first candidate.
func bestOf[T any](m Matrix, seed uint64, candidates []T, fit func(train Matrix, c T) (filler, error)) (T, residuals, error) {
	var best T
	var kept residuals
	least := math.Inf(1)
	for i, c := range candidates {
		found, err := heldOut(m, seed, func(train Matrix) (filler, error) { return fit(train, c) })
		if err != nil {
			return best, kept, err
		}
		if e := found.meanSquare(); i == 0 || e < least {
			best, kept = c, found
			if !math.IsNaN(e) {
				least = e
			}
		}
	}
	return best, kept, nil
}

// completeWith brackets what f predicts; width is in its deviations, per column.
func completeWith(f filler, row, noise, width []float64) ([]Cell, error) {
	completed, half := make([]float64, len(row)), make([]float64, len(row))
	if err := f.complete(row, noise, completed, half); err != nil {
		return nil, err
	}
	var measured []Cell
	if noise != nil {
		measured = make([]Cell, len(row))
		for j, v := range row {
			if !math.IsNaN(v) && noise[j] > 0 {
				measured[j] = posterior(v, noise[j], completed[j], half[j], width[j])
			}
		}
	}
	for j := range half {
		half[j] *= width[j]
	}
	out := cells(row, completed, half, f.informed)
	for j, c := range measured {
		if c.Known {
			out[j] = c
		}
	}
	return out, nil
}

// posterior of a noisy cell. What a model says of a cell without its own measurement is as
// wide as held-out residuals show (width, in its deviations, instead of normal95), so the
// prior is taken out of the model's posterior, widened, and put together with the
// measurement again: precisions add (Rasmussen 2006, §2.2).
func posterior(value, noise, mean, deviation, width float64) Cell {
	own := 1 / (noise * noise)
	prior := max(0, 1/(deviation*deviation)-own)
	wider := 1.0
	if !math.IsNaN(width) {
		wider = max(1, width/normal95)
	}
	c := Cell{Value: value, Measured: true, Known: true}
	half := normal95 * noise
	if prior > 0 {
		centre := (mean/(deviation*deviation) - value*own) / prior
		prior /= wider * wider
		c.Value = (centre*prior + value*own) / (prior + own)
		half = normal95 / math.Sqrt(prior+own)
	}
	c.Low, c.High = c.Value-half, c.Value+half
	return c
}
