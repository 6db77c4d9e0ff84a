package gauss

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Errors of Fit and Complete.
var (
	ErrEmpty     = errors.New("gauss: no rows, no columns or no cells")
	ErrShape     = errors.New("gauss: a row or an argument has the wrong length")
	ErrNotFinite = errors.New("gauss: a value is infinite")
	ErrSingular  = errors.New("gauss: the covariance is not positive definite; raise the noise")
)

// Config holds the knobs of a fit.
type Config struct {
	Shrinkage  float64       // weight of constant correlation, 0 to 1
	Noise      float64       // least standard deviation of a cell, in the data's unit; > 0
	Prior      *mat.SymDense // columns×columns covariance believed in beforehand; nil: none
	PriorRows  float64       // how many rows the prior counts as
	Iterations int           // bound on EM steps
	Tolerance  float64       // stop when no mean moves by more standard deviations, and no correlation by more
}

// Model is a fitted distribution. It is safe for concurrent use.
type Model struct {
	columns  int
	mean     []float64
	cov      *mat.SymDense // columns×columns, Config.Noise included
	informed []bool        // per column: has a cell
	all      []int         // every column
}

// Fit estimates mean and covariance of what was measured from rows of equal length; NaN is a
// missing cell. deviations are the standard deviations of the measurements, beside the rows
// and in their unit; nil, a nil row and 0 are exact. The noisier a cell, the less it moves
// the estimate, and its noise is no part of the covariance. Rows without any cell are
// passed over. Exact rows with the same holes share one factorisation; every other row needs
// its own.
//
// It returns ErrEmpty, ErrShape, ErrNotFinite or ErrSingular. Cost:
// O(iterations·((patterns + noisy rows)·columns³ + rows·columns²)).
func Fit(rows, deviations [][]float64, columns int, cfg Config) (*Model, error) {
	groups, informed, n, err := byPattern(rows, deviations, columns)
	if err != nil {
		return nil, err
	}
	m := &Model{columns: columns, informed: informed, mean: columnMeans(rows, informed), cov: mat.NewSymDense(columns, nil), all: allColumns(columns)}
	for j, v := range columnVariances(rows, m.mean, informed) {
		m.cov.SetSym(j, j, v)
	}
	m.addNoise(cfg.Noise)
	var s solver
	filled := make([]float64, n*columns)
	for range max(1, cfg.Iterations) {
		mean, cov, err := m.expect(&s, groups, filled)
		if err != nil {
			return nil, err
		}
		if m.move(mean, m.maximise(cov, n, cfg)) <= cfg.Tolerance {
			break
		}
	}
	return m, nil
}

// pattern is the rows that have the same holes. A row with noise is a pattern of its own,
// in which no column is known exactly.
type pattern struct {
	at, missing []int
	noise       []float64 // standard deviation by column, nil: none
	rows        [][]float64
}

func byPattern(rows, deviations [][]float64, columns int) (groups []*pattern, informed []bool, n int, err error) {
	if columns <= 0 {
		return nil, nil, 0, ErrEmpty
	}
	if deviations != nil && len(deviations) != len(rows) {
		return nil, nil, 0, fmt.Errorf("%w: deviations of %d rows for %d rows", ErrShape, len(deviations), len(rows))
	}
	informed = make([]bool, columns)
	known := map[string]*pattern{}
	holes := make([]byte, columns)
	for i, row := range rows {
		if len(row) != columns {
			return nil, nil, 0, fmt.Errorf("%w: row %d has %d cells for %d columns", ErrShape, i, len(row), columns)
		}
		p := pattern{}
		for j, v := range row {
			switch {
			case math.IsInf(v, 0):
				return nil, nil, 0, fmt.Errorf("%w: row %d, column %d", ErrNotFinite, i, j)
			case math.IsNaN(v):
				holes[j] = '-'
				p.missing = append(p.missing, j)
			default:
				holes[j] = 'x'
				p.at = append(p.at, j)
				informed[j] = true
			}
		}
		if len(p.at) == 0 {
			continue
		}
		n++
		if deviations != nil {
			if err := checkNoise(row, deviations[i]); err != nil {
				return nil, nil, 0, fmt.Errorf("row %d: %w", i, err)
			}
			if noisy(row, deviations[i]) {
				groups = append(groups, &pattern{at: p.at, missing: allColumns(columns), noise: deviations[i], rows: [][]float64{row}})
				continue
			}
		}
		g, ok := known[string(holes)]
		if !ok {
			g = &p
			known[string(holes)] = g
			groups = append(groups, g)
		}
		g.rows = append(g.rows, row)
	}
	if n == 0 {
		return nil, nil, 0, ErrEmpty
	}
	return groups, informed, n, nil
}

// checkNoise: the deviation of every known cell is a number; a nil row has none.
func checkNoise(row, noise []float64) error {
	if noise == nil {
		return nil
	}
	if len(noise) != len(row) {
		return fmt.Errorf("%w: %d deviations for %d columns", ErrShape, len(noise), len(row))
	}
	for j, v := range row {
		if !math.IsNaN(v) && !(noise[j] >= 0 && noise[j] <= math.MaxFloat64) {
			return fmt.Errorf("%w: the standard deviation of column %d is %v", ErrNotFinite, j, noise[j])
		}
	}
	return nil
}

// noisy reports whether any known cell has a deviation.
func noisy(row, noise []float64) bool {
	for j, d := range noise {
		if d > 0 && !math.IsNaN(row[j]) {
			return true
		}
	}
	return false
}

func allColumns(n int) []int {
	out := make([]int, n)
	for j := range out {
		out[j] = j
	}
	return out
}

func columnMeans(rows [][]float64, informed []bool) []float64 {
	out := make([]float64, len(informed))
	for j := range out {
		var sum, n float64
		for _, row := range rows {
			if v := row[j]; !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			out[j] = sum / n
		}
	}
	return out
}

// columnVariances are population variances; 0 for a column without cells.
func columnVariances(rows [][]float64, mean []float64, informed []bool) []float64 {
	out := make([]float64, len(mean))
	for j := range out {
		var sum, n float64
		for _, row := range rows {
			if v := row[j]; !math.IsNaN(v) {
				sum, n = sum+(v-mean[j])*(v-mean[j]), n+1
			}
		}
		if n > 0 {
			out[j] = sum / n
		}
	}
	return out
}

// expect fills every row, one after the other into filled, and returns the filled rows' mean
// and second central moment, the conditional covariance of the holes included.
func (m *Model) expect(s *solver, groups []*pattern, filled []float64) ([]float64, *mat.SymDense, error) {
	cov, rest := mat.NewSymDense(m.columns, nil), filled
	for _, g := range groups {
		c, err := s.condition(m, g.at, g.missing, g.noise)
		if err != nil {
			return nil, nil, err
		}
		for _, row := range g.rows {
			copy(rest, row)
			c.fill(m.mean, row, rest[:m.columns])
			rest = rest[m.columns:]
		}
		c.addCovariance(cov, float64(len(g.rows)))
	}
	mean, n := make([]float64, m.columns), float64(len(filled)/m.columns)
	for row := range slices.Chunk(filled, m.columns) {
		for j, v := range row {
			mean[j] += v / n
		}
	}
	for row := range slices.Chunk(filled, m.columns) {
		floats.Sub(row, mean)
		blas64.Syr(1, blas64.Vector{N: m.columns, Inc: 1, Data: row}, cov.RawSymmetric())
	}
	return mean, cov, nil
}

// move sets mean and covariance and returns the largest step: of a mean in
// standard deviations, of a covariance as a correlation.
func (m *Model) move(mean []float64, cov *mat.SymDense) float64 {
	largest := 0.0
	for i, v := range mean {
		largest = max(largest, math.Abs(v-m.mean[i])/math.Sqrt(m.cov.At(i, i)))
		for j := i; j < m.columns; j++ {
			step := math.Abs(cov.At(i, j) - m.cov.At(i, j))
			largest = max(largest, step/math.Sqrt(cov.At(i, i)*cov.At(j, j)))
		}
	}
	m.mean, m.cov = mean, cov
	return largest
}

// maximise turns the sum of squares of n rows into a covariance: with the prior
// rows, drawn to constant correlation, at least the noise wide.
func (m *Model) maximise(squares *mat.SymDense, n int, cfg Config) *mat.SymDense {
	weight := float64(n)
	if cfg.Prior != nil && cfg.PriorRows > 0 {
		weight += cfg.PriorRows
		var prior mat.SymDense
		prior.ScaleSym(cfg.PriorRows, cfg.Prior)
		squares.AddSym(squares, &prior)
	}
	squares.ScaleSym(1/weight, squares)
	rho := m.meanCorrelation(squares)
	for i := range m.columns {
		for j := i + 1; j < m.columns; j++ {
			target := rho * math.Sqrt(squares.At(i, i)*squares.At(j, j))
			squares.SetSym(i, j, (1-cfg.Shrinkage)*squares.At(i, j)+cfg.Shrinkage*target)
		}
	}
	for j := range m.columns {
		squares.SetSym(j, j, squares.At(j, j)+cfg.Noise*cfg.Noise)
	}
	return squares
}

func (m *Model) addNoise(noise float64) {
	for j := range m.columns {
		m.cov.SetSym(j, j, m.cov.At(j, j)+noise*noise)
	}
}

// meanCorrelation is over the pairs of columns that vary.
func (m *Model) meanCorrelation(cov *mat.SymDense) float64 {
	var sum, n float64
	for i := range m.columns {
		for j := i + 1; j < m.columns; j++ {
			if both := cov.At(i, i) * cov.At(j, j); both > 0 && m.informed[i] && m.informed[j] {
				sum, n = sum+cov.At(i, j)/math.Sqrt(both), n+1
			}
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// Informed reports whether a column had any cell. Predictions of a column
// without one mean nothing.
func (m *Model) Informed(column int) bool { return m.informed[column] }

// Columns is the length of a row.
func (m *Model) Columns() int { return m.columns }

// Mean is μ.
func (m *Model) Mean() []float64 { return append([]float64(nil), m.mean...) }
