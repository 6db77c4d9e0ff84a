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

// residuals are held-out values minus predictions, with the weight that each has.
type residuals struct{ raw, weight []float64 }

// heldOut fits without one part of the rows at a time and lets the model predict
// them from the columns every row brings and random others, two at least. Fewer
// than two rows that anything could be held out of give no residuals and no
// error. Every call with the same matrix and seed holds out the same.
func heldOut(m Matrix, seed uint64, fit func(train Matrix) (filler, error)) (residuals, error) {
	var found residuals
	in := newIntervals(m, true)
	out, deviation := make([]float64, len(m.Columns)), make([]float64, len(m.Columns))
	err := eachFold(m, seed, fit, func(model filler, i int, rng *rand.Rand) error {
		row, noise := m.Rows[i], m.deviations(i)
		partial := showing(row, toShow(row, m.Always, shown, rng))
		if err := model.complete(partial, noise, out, deviation); err != nil {
			return err
		}
		for j, v := range row {
			if !math.IsNaN(v) && math.IsNaN(partial[j]) && model.informed(j) {
				found.raw, found.weight = append(found.raw, v-out[j]), append(found.weight, in.weight(noise, j))
			}
		}
		return nil
	})
	return found, err
}

// calibrate holds out as heldOut does, with different numbers of cells shown, and tells how
// wide intervals are to be. own: the deviations that the model gives are its own; else the
// spread of each column takes their place.
func calibrate(m Matrix, seed uint64, own bool, fit func(train Matrix) (filler, error)) (*intervals, error) {
	in := newIntervals(m, own)
	var found []residual
	group := groupNumbers(m)
	out, deviation := make([]float64, len(m.Columns)), make([]float64, len(m.Columns))
	err := eachFold(m, seed, fit, func(model filler, i int, rng *rand.Rand) error {
		row, noise := m.Rows[i], m.deviations(i)
		return eachShown(m, row, rng, func(partial []float64, count int) error {
			if err := model.complete(partial, noise, out, deviation); err != nil {
				return err
			}
			for j, v := range row {
				if !math.IsNaN(v) && math.IsNaN(partial[j]) && model.informed(j) {
					found = in.add(found, residual{group: group[i], column: j, count: count}, v, noise, out[j], deviation[j])
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	in.learn(found, len(m.Columns))
	return in, nil
}

// add appends a held-out cell, over the deviation of the model and of its own measurement.
func (in *intervals) add(found []residual, r residual, value float64, noise []float64, predicted, deviation float64) []residual {
	size := in.deviation(deviation, r.column)
	if noise != nil {
		size = math.Hypot(size, noise[r.column])
	}
	if !(size > 0) {
		return found
	}
	r.size = math.Abs(in.inUnit(value, r.column)-in.inUnit(predicted, r.column)) / size
	if math.IsNaN(r.size) || math.IsInf(r.size, 0) {
		return found // a speed at or below 0 in a column of such
	}
	return append(found, r)
}

// eachFold fits without one part of the rows at a time, whole groups of them, and calls do
// for each row of that part.
func eachFold[T any](m Matrix, seed uint64, fit func(train Matrix) (T, error), do func(model T, row int, rng *rand.Rand) error) error {
	rng := rand.New(rand.NewPCG(seed, uint64(len(m.Rows))))
	rows := atLeastTwo(m.Rows)
	rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	rows = rows[:min(heldOutRows, len(rows))]
	group := groupNumbers(m)
	number := map[int]int{} // of a group, in the order of rows
	for _, i := range rows {
		if _, ok := number[group[i]]; !ok {
			number[group[i]] = len(number)
		}
	}
	if len(number) < 2 {
		return nil
	}
	folds := min(heldOutFolds, len(number))
	for fold := range folds {
		var train, test []int
		for _, i := range rows {
			if number[group[i]]%folds == fold {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		model, err := fit(m.part(train))
		if err != nil {
			return err
		}
		for _, i := range test {
			if err := do(model, i, rng); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupNumbers tell which rows are held out together: those of the same name, or each alone.
// Where all have one name, nothing else could be held out.
func groupNumbers(m Matrix) []int {
	out := make([]int, len(m.Rows))
	first := map[string]int{}
	for i := range m.Rows {
		out[i] = i
		if m.Groups != nil {
			if _, ok := first[m.Groups[i]]; !ok {
				first[m.Groups[i]] = i
			}
			out[i] = first[m.Groups[i]]
		}
	}
	if len(first) == 1 {
		for i := range out {
			out[i] = i
		}
	}
	return out
}

// fewRows is below how many rows each is shown several times (chosen by us).
const fewRows = 40

// eachShown draws cells to show of a row: none where no column is always shown, one, two,
// four and so on, as long as one is kept back.
func eachShown(m Matrix, row []float64, rng *rand.Rand, do func(partial []float64, count int) error) error {
	known := 0
	for _, v := range row {
		if !math.IsNaN(v) {
			known++
		}
	}
	for range min(4, 1+fewRows/len(m.Rows)) {
		for count := 0; count < known; count = max(1, 2*count) {
			if count < len(m.Always) {
				continue
			}
			at := toShow(row, m.Always, count, rng)
			if len(at) != count {
				continue
			}
			if err := do(showing(row, at), count); err != nil {
				return err
			}
		}
	}
	return nil
}

// showing is the row with only some of its cells.
func showing(row []float64, at []int) []float64 {
	partial := slices.Repeat([]float64{math.NaN()}, len(row))
	for _, j := range at {
		partial[j] = row[j]
	}
	return partial
}

// toShow draws which known cells of a row the model sees; one is always kept
// back.
func toShow(row []float64, always []int, count int, rng *rand.Rand) []int {
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
	return all[:max(0, min(max(count, len(first)), len(all)-1))]
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
	for i, v := range r.raw {
		w := r.weight[i]
		sum, n = sum+w*v*v, n+w
	}
	return sum / n
}

// trainingMatrix checks the rows of a matrix and keeps those with a known cell.
func trainingMatrix(m Matrix) (Matrix, error) {
	if m.Deviations != nil && len(m.Deviations) != len(m.Rows) {
		return Matrix{}, fmt.Errorf("%w: deviations of %d rows for %d rows", ErrRow, len(m.Deviations), len(m.Rows))
	}
	if m.Groups != nil && len(m.Groups) != len(m.Rows) {
		return Matrix{}, fmt.Errorf("%w: groups of %d rows for %d rows", ErrRow, len(m.Groups), len(m.Rows))
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
	out.Rows, out.Deviations, out.Groups = make([][]float64, len(rows)), nil, nil
	if m.Deviations != nil {
		out.Deviations = make([][]float64, len(rows))
	}
	for n, i := range rows {
		out.Rows[n] = m.Rows[i]
		if m.Groups != nil {
			out.Groups = append(out.Groups, m.Groups[i])
		}
		if m.Deviations != nil {
			out.Deviations[n] = m.Deviations[i]
		}
	}
	return out
}

// bestOf holds out for every candidate and returns the one of the least mean
// square, the first of equals. Where nothing can be held out it is the first candidate.
func bestOf[T any](m Matrix, seed uint64, candidates []T, fit func(train Matrix, c T) (filler, error)) (T, error) {
	var best T
	least := math.Inf(1)
	for i, c := range candidates {
		found, err := heldOut(m, seed, func(train Matrix) (filler, error) { return fit(train, c) })
		if err != nil {
			return best, err
		}
		if e := found.meanSquare(); i == 0 || e < least {
			best = c
			if !math.IsNaN(e) {
				least = e
			}
		}
	}
	return best, nil
}

// completeWith brackets what f predicts. Exact cells stay as they are.
func completeWith(f filler, row, noise []float64, in *intervals) ([]Cell, error) {
	completed, deviation := make([]float64, len(row)), make([]float64, len(row))
	if err := f.complete(row, noise, completed, deviation); err != nil {
		return nil, err
	}
	out, shown := make([]Cell, len(row)), in.shownCells(row, noise)
	for j, v := range row {
		switch {
		case !math.IsNaN(v) && (noise == nil || noise[j] == 0):
			out[j] = Cell{Value: v, Low: v, High: v, Measured: true, Known: true}
		case !math.IsNaN(v):
			out[j] = posterior(v, noise[j], completed[j], deviation[j], in.at(shown, j)[len(levels)-1])
		case f.informed(j):
			half := in.at(shown, j)
			for i := range half {
				half[i] *= in.deviation(deviation[j], j)
			}
			out[j] = predictedCell(in.positive(completed[j], j), half, in.relative)
		default:
			out[j] = Cell{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
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
	var others belief
	// A deviation that squared is next to no number says nothing.
	if sum := mean / (deviation * deviation); prior > 0 && !math.IsInf(prior, 1) && !math.IsInf(sum, 0) {
		others = belief{(sum - value*own) / prior, wider / math.Sqrt(prior)}
	}
	return measuredCell(value, noise, others)
}

// apart is from how many standard deviations on a measurement and what others say of it count
// as being at odds (chosen by us).
const apart = 2

// measuredCell puts a measurement together with what is known of its cell without it. Where
// the two are at odds the workload is unlike the others, so that these count for less, until
// they are not: it is the measurement that is of this workload.
func measuredCell(value, noise float64, others belief) Cell {
	c := Cell{Value: value, Measured: true, Known: true, others: others}
	half := normal95 * noise
	if others.deviation > 0 {
		own, away := 1/(noise*noise), (value-others.mean)/apart
		prior := 1 / max(others.deviation*others.deviation, away*away-noise*noise)
		c.Value = (others.mean*prior + value*own) / (prior + own)
		half = normal95 / math.Sqrt(prior+own)
	}
	c.Low, c.High = c.Value-half, c.Value+half
	return c
}
