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
	Bias           Bias    // what is subtracted from a cell before the factors
	Seed           uint64  // of the order of each sweep, and of a large decomposition
}

// Bias says which offsets a cell has besides the factors.
type Bias int

// The biases. The text prints the mean μ and one offset b per row, and no rule
// for b (Delimitrou 2015, §4.3.1).
const (
	NoBias      Bias = iota // Delimitrou 2015, §3.2
	LearnedBias             // μ and b, b from 0 by the same descent
	ShrunkBias              // μ and b, b fixed at the row's residuals over their number and biasPrior
	FullBias                // μ, b and one offset per column, all learned (Koren 2009); for ratings
)

// biasPrior is how many residuals of zero are added to those of a row or column
// when its offset is estimated, so that two cells do not decide it (chosen by
// us; Koren 2009 uses 10 and 25).
const biasPrior = 10

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

// priorRows is how many pseudo-rows of unit variance are added to the known
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
	dims          int // latent numbers per row: rank, and one more with a bias
	bias          Bias
	scale         float64   // values are divided by it inside
	mean          float64   // subtracted inside; 0 without Bias
	offset        []float64 // per column, subtracted inside; 0 but with FullBias
	q, p          []float64 // row-major, rows×dims and columns×dims
	informed      []bool    // per column: has an entry
	priorMean     []float64 // dims
	penalty       []float64 // dims×dims: noise variance times inverse prior covariance
	singular      []float64 // of the filled matrix, descending; of a large one the first
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
	m := &Model{rows: rows, columns: columns, bias: cfg.Bias, offset: make([]float64, columns), informed: make([]bool, columns)}
	for _, e := range entries {
		m.informed[e.Column] = true
	}
	work := m.normalise(entries)
	if err := m.start(work, rankOf(cfg, rows, columns), cfg.Seed); err != nil {
		return nil, err
	}
	if err := m.descend(work, cfg); err != nil {
		return nil, err
	}
	return m, m.fitPrior()
}

// rankOf is at least 1, except that offsets may be all there is.
func rankOf(cfg Config, rows, columns int) int {
	rank := max(0, min(cfg.Rank, rows, columns))
	if cfg.Bias == NoBias {
		return max(1, rank)
	}
	return rank
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
	if m.bias != NoBias {
		m.mean = sum / float64(len(out))
		for i := range out {
			out[i].Value -= m.mean
		}
	}
	return out
}

// start sets the offsets, and the factors from the decomposition of the filled
// rest.
func (m *Model) start(entries []Entry, rank int, seed uint64) error {
	m.dims = rank
	first := 0
	if m.bias != NoBias {
		m.dims, first = rank+1, 1
	}
	m.q, m.p = make([]float64, m.rows*m.dims), make([]float64, m.columns*m.dims)
	rest := slices.Clone(entries)
	if m.bias == FullBias {
		m.offset = takeMeans(rest, m.columns, func(e Entry) int { return e.Column })
	}
	if m.bias == FullBias || m.bias == ShrunkBias {
		for i, b := range takeMeans(rest, m.rows, func(e Entry) int { return e.Row }) {
			m.q[i*m.dims] = b
		}
	}
	if m.bias != NoBias {
		for j := range m.columns {
			m.p[j*m.dims] = 1 // what a row's offset is multiplied by
		}
	}
	if rank == 0 {
		return nil
	}
	u, v, singular, err := decompose(fill(m.rows, m.columns, rest), rank, seed)
	if err != nil {
		return err
	}
	m.singular = singular
	root := math.Sqrt(float64(m.rows))
	for k := range rank {
		for i := range m.rows {
			m.q[i*m.dims+first+k] = root * u.At(i, k)
		}
		for j := range m.columns {
			m.p[j*m.dims+first+k] = m.singular[k] / root * v.At(j, k)
		}
	}
	return nil
}

// takeMeans subtracts from every entry the shrunk mean of its group, and returns
// those.
func takeMeans(entries []Entry, groups int, group func(Entry) int) []float64 {
	sums, counts := make([]float64, groups), make([]float64, groups)
	for _, e := range entries {
		sums[group(e)] += e.Value
		counts[group(e)]++
	}
	for g := range sums {
		sums[g] /= counts[g] + biasPrior
	}
	for i := range entries {
		entries[i].Value -= sums[group(entries[i])]
	}
	return sums
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
	residual := e.Value - m.offset[e.Column]
	for k := range q {
		residual -= q[k] * p[k]
	}
	first := 0
	if m.bias != NoBias { // the first dimension of a column is the constant 1
		first = 1
	}
	if m.bias == LearnedBias || m.bias == FullBias {
		q[0] += cfg.LearningRate * (residual - cfg.Regularisation*q[0])
	}
	if m.bias == FullBias {
		m.offset[e.Column] += cfg.LearningRate * (residual - cfg.Regularisation*m.offset[e.Column])
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
	sum := m.mean + m.offset[column]
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

// SingularValues are those of the filled, scaled matrix, descending; of a large
// matrix only the first.
func (m *Model) SingularValues() []float64 { return slices.Clone(m.singular) }
