package pq

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Errors of Fit, CrossValidate and FoldIn.
var (
	ErrEmpty     = errors.New("pq: no rows, no columns or no entries")
	ErrNotFinite = errors.New("pq: a value is NaN or infinite")
	ErrShape     = errors.New("pq: an entry is out of range or given twice")
	ErrDiverged  = errors.New("pq: the descent diverged; lower the learning rate")
	ErrSVD       = errors.New("pq: the singular value decomposition did not converge")
	ErrTooFew    = errors.New("pq: too few rows with two entries to hold any out")
)

// Entry is one observed cell. Missing cells have no entry; NaN is refused.
type Entry struct {
	Row, Column int
	Value       float64
}

// Config holds the knobs of a fit.
type Config struct {
	Rank           int     // r; cut to min(rows, columns)
	LearningRate   float64 // η
	Regularisation float64 // λ
	MaxEpochs      int     // bound on sweeps
	Tolerance      float64 // stop when a sweep's RMSE changes by less, relative
	Bias           bool    // subtract the mean and learn one offset per row (Delimitrou 2015, §4.3)
	Seed           uint64  // of the order of each sweep
}

// Defaults is the configuration the synthetic study of the design picked. The
// source gives no values ("determined empirically"); treat them as a start.
func Defaults() Config {
	return Config{
		Rank:           3,     // 2 to 4 by cross-validation
		LearningRate:   0.02,  // chosen by us, for values of unit root mean square
		Regularisation: 0.005, // chosen by us: larger values lose to the scaled mean
		MaxEpochs:      3000,  // chosen by us: a bound, rarely reached
		Tolerance:      1e-5,  // chosen by us
	}
}

// priorRows is how many pseudo-rows of unit variance stand beside the known
// rows when the prior of a new row is estimated, so that a single training row
// still lets a new one differ from it (chosen by us).
const priorRows = 1

// noiseFloor is the smallest standard deviation of a cell assumed in FoldIn,
// relative to the root mean square of the data: a short measurement is hardly
// better than 3 % (chosen by us; 1 to 5 % make no difference from ten training
// rows on, below that more is better).
const noiseFloor = 0.03

// Model is a fitted factorisation. It is safe for concurrent use.
type Model struct {
	rows, columns int
	dims          int // latent numbers per row: rank, and one more with Bias
	bias          bool
	scale         float64   // values are divided by it inside
	mean          float64   // subtracted inside; 0 without Bias
	q, p          []float64 // row-major, rows×dims and columns×dims
	informed      []bool    // per column: has an entry
	priorMean     []float64 // dims
	penalty       []float64 // dims×dims: noise variance times inverse prior covariance
	singular      []float64 // of the filled matrix, descending
	epochs        int
	rmse          float64
}

// Fit factorises the rows×columns matrix whose observed cells are entries.
//
// It returns ErrEmpty, ErrNotFinite, ErrShape, ErrSVD or ErrDiverged, wrapped
// with the cell at fault. Cost: O(min(rows², columns²)·max(rows, columns)) for
// the decomposition and O(epochs·entries·rank) for the descent. The same
// arguments give the same bits.
func Fit(rows, columns int, entries []Entry, cfg Config) (*Model, error) {
	if err := check(rows, columns, entries); err != nil {
		return nil, err
	}
	m := &Model{rows: rows, columns: columns, bias: cfg.Bias, informed: make([]bool, columns)}
	for _, e := range entries {
		m.informed[e.Column] = true
	}
	work := m.normalise(entries)
	if err := m.start(work, max(1, min(cfg.Rank, rows, columns))); err != nil {
		return nil, err
	}
	if err := m.descend(work, cfg); err != nil {
		return nil, err
	}
	return m, m.fitPrior()
}

func check(rows, columns int, entries []Entry) error {
	if rows <= 0 || columns <= 0 || len(entries) == 0 {
		return ErrEmpty
	}
	seen := make([]bool, rows*columns)
	for _, e := range entries {
		if e.Row < 0 || e.Row >= rows || e.Column < 0 || e.Column >= columns {
			return fmt.Errorf("%w: (%d, %d) in %d×%d", ErrShape, e.Row, e.Column, rows, columns)
		}
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
			return fmt.Errorf("%w: (%d, %d)", ErrNotFinite, e.Row, e.Column)
		}
		cell := e.Row*columns + e.Column
		if seen[cell] {
			return fmt.Errorf("%w: (%d, %d) twice", ErrShape, e.Row, e.Column)
		}
		seen[cell] = true
	}
	return nil
}

// normalise returns the entries at unit root mean square, less the mean with
// Bias, and notes both.
func (m *Model) normalise(entries []Entry) []Entry {
	// Divided by the largest magnitude first, so that squares cannot overflow.
	largest := 0.0
	for _, e := range entries {
		largest = max(largest, math.Abs(e.Value))
	}
	m.scale = 1
	if largest > 0 {
		var squares float64
		for _, e := range entries {
			squares += (e.Value / largest) * (e.Value / largest)
		}
		m.scale = largest * math.Sqrt(squares/float64(len(entries)))
	}
	out := slices.Clone(entries)
	var sum float64
	for i := range out {
		out[i].Value /= m.scale
		sum += out[i].Value
	}
	if m.bias {
		m.mean = sum / float64(len(out))
		for i := range out {
			out[i].Value -= m.mean
		}
	}
	return out
}

// start sets the factors from the decomposition of the filled matrix.
func (m *Model) start(entries []Entry, rank int) error {
	m.dims = rank
	offset := 0
	if m.bias {
		m.dims, offset = rank+1, 1
	}
	m.q, m.p = make([]float64, m.rows*m.dims), make([]float64, m.columns*m.dims)
	filled := fill(m.rows, m.columns, entries)
	if m.bias {
		for i := range m.rows {
			m.q[i*m.dims] = m.takeOffset(filled.RawRowView(i))
		}
		for j := range m.columns {
			if m.informed[j] {
				m.p[j*m.dims] = 1
			}
		}
	}
	var svd mat.SVD
	if !svd.Factorize(filled, mat.SVDThin) {
		return ErrSVD
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	m.singular = svd.Values(nil)
	root := math.Sqrt(float64(m.rows))
	for k := range rank {
		for i := range m.rows {
			m.q[i*m.dims+offset+k] = root * u.At(i, k)
		}
		for j := range m.columns {
			m.p[j*m.dims+offset+k] = m.singular[k] / root * v.At(j, k)
		}
	}
	return nil
}

// takeOffset subtracts from a row its mean over informed columns, and returns
// it.
func (m *Model) takeOffset(row []float64) float64 {
	var r running
	for j, v := range row {
		if m.informed[j] {
			r.add(v)
		}
	}
	for j := range row {
		if m.informed[j] {
			row[j] -= r.mean()
		}
	}
	return r.mean()
}

// fill returns the dense rows×columns matrix with holes replaced: by the mean
// of the column over rows without holes, else over the column's entries. A
// column without entries stays zero, so that it takes no part in any factor.
func fill(rows, columns int, entries []Entry) *mat.Dense {
	values := make([]float64, rows*columns)
	observed := make([]bool, rows*columns)
	perRow := make([]int, rows)
	for _, e := range entries {
		values[e.Row*columns+e.Column], observed[e.Row*columns+e.Column] = e.Value, true
		perRow[e.Row]++
	}
	for j, mean := range fillMeans(columns, entries, perRow) {
		for i := range rows {
			if !observed[i*columns+j] {
				values[i*columns+j] = mean
			}
		}
	}
	return mat.NewDense(rows, columns, values)
}

func fillMeans(columns int, entries []Entry, perRow []int) []float64 {
	dense, all := make([]running, columns), make([]running, columns)
	informed := 0
	for _, e := range entries {
		if all[e.Column].n == 0 {
			informed++
		}
		all[e.Column].add(e.Value)
	}
	for _, e := range entries {
		if perRow[e.Row] == informed {
			dense[e.Column].add(e.Value)
		}
	}
	means := make([]float64, columns)
	for j := range means {
		switch {
		case dense[j].n > 0:
			means[j] = dense[j].mean()
		case all[j].n > 0:
			means[j] = all[j].mean()
		}
	}
	return means
}

type running struct {
	sum float64
	n   int
}

func (r *running) add(v float64) { r.sum += v; r.n++ }

func (r *running) mean() float64 { return r.sum / float64(r.n) }

// descend sweeps the entries in a fresh order each epoch. Both factors are
// updated from their values before the step.
func (m *Model) descend(entries []Entry, cfg Config) error {
	rng := rand.New(rand.NewPCG(cfg.Seed, uint64(len(entries))))
	order := slices.Clone(entries)
	previous := math.Inf(1)
	for m.epochs = 0; m.epochs < cfg.MaxEpochs; m.epochs++ {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		var squares float64
		for _, e := range order {
			residual := m.step(e, cfg)
			squares += residual * residual
		}
		rmse := math.Sqrt(squares / float64(len(order)))
		if math.IsNaN(rmse) || math.IsInf(rmse, 0) {
			return ErrDiverged
		}
		m.rmse = rmse
		if math.Abs(previous-rmse) <= cfg.Tolerance*rmse {
			break
		}
		previous = rmse
	}
	return nil
}

// step is one update; it returns the error before it.
func (m *Model) step(e Entry, cfg Config) float64 {
	q := m.q[e.Row*m.dims : (e.Row+1)*m.dims]
	p := m.p[e.Column*m.dims : (e.Column+1)*m.dims]
	residual := e.Value
	for k := range q {
		residual -= q[k] * p[k]
	}
	first := 0
	if m.bias { // the first dimension of a column is the constant 1
		q[0] += cfg.LearningRate * (residual - cfg.Regularisation*q[0])
		first = 1
	}
	for k := first; k < len(q); k++ {
		qk, pk := q[k], p[k]
		q[k] += cfg.LearningRate * (residual*pk - cfg.Regularisation*qk)
		p[k] += cfg.LearningRate * (residual*qk - cfg.Regularisation*pk)
	}
	return residual
}

// At is the model's value of a training cell, observed or not. It panics where
// row or column is out of range.
func (m *Model) At(row, column int) float64 {
	return m.value(m.q[row*m.dims:(row+1)*m.dims], column)
}

func (m *Model) value(q []float64, column int) float64 {
	sum := m.mean
	for k, v := range m.p[column*m.dims : (column+1)*m.dims] {
		sum += q[k] * v
	}
	return sum * m.scale
}

// Informed reports whether a column had any entry. Predictions of a column
// without one mean nothing.
func (m *Model) Informed(column int) bool { return m.informed[column] }

// RMSE is the root mean square error of the last sweep, in the data's unit.
func (m *Model) RMSE() float64 { return m.rmse * m.scale }

// Epochs is the number of sweeps made.
func (m *Model) Epochs() int { return m.epochs }

// Columns is the length of a row.
func (m *Model) Columns() int { return m.columns }

// SingularValues are those of the filled, scaled matrix, descending: how much
// each similarity concept explains.
func (m *Model) SingularValues() []float64 { return slices.Clone(m.singular) }
