package classify

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

var ridgeDescriptor = Descriptor{
	Name:    "ridge",
	Summary: "ridge regression of each missing cell on the known ones, in closed form, speeds in logarithms: a baseline",
	Paper:   "Hoerl 1970",
	New:     func() Classifier { return inLogs{regression{}} },
}

// penalties are what cross-validation chooses from, in variances of a column, the first where it cannot (chosen by us).
var penalties = []float64{0.1, 0.001, 0.003, 0.01, 0.03, 0.3, 1, 3}

var errEigen = errors.New("classify: the correlations of the columns have no eigenvalues")

type regression struct{}

func (regression) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	penalty, err := bestPenalty(known, seed)
	if err != nil {
		return nil, err
	}
	fit := func(train Matrix) (filler, error) { return newRidge(train, penalty) }
	width, err := calibrate(known, seed, true, fit)
	if err != nil {
		return nil, err
	}
	model, err := newRidge(known, penalty)
	if err != nil {
		return nil, err
	}
	return &regressed{ridge: model, width: width}, nil
}

func bestPenalty(m Matrix, seed uint64) (float64, error) {
	return bestOf(m, seed, penalties, func(train Matrix, penalty float64) (filler, error) { return newRidge(train, penalty) })
}

// ridge is the second moments of the training rows. A missing cell is the regression of its
// column on the known ones, each in its own standard deviations,
//
//	ŷ = r·(R + λI)⁻¹·z
//
// with R and r the correlations of the known columns with each other and with the missing
// one: on rows without holes this is what minimises the squared error plus λ per row times
// the squared coefficients (Hoerl 1970). With holes a correlation is over the rows that know
// both columns, and negative eigenvalues of R, which that can give, are set to 0. Training
// cells that are not certain (certainWithin) are left out.
type ridge struct {
	mean, spread []float64 // by column; mean is NaN of one without cells
	correlation  *mat.SymDense
	penalty      float64
	least        float64 // deviation of a prediction
}

func newRidge(m Matrix, penalty float64) (*ridge, error) {
	columns := len(m.Columns)
	rows, most := m.Rows, certainWithin*rangeOf(m.Rows)
	if m.Deviations != nil {
		rows = make([][]float64, len(m.Rows))
		for i, row := range m.Rows {
			rows[i] = certainCells(row, m.deviations(i), most)
		}
	}
	f := &ridge{penalty: penalty, spread: make([]float64, columns)}
	f.mean = newNearest(rows, columns, 1).mean
	whole := f.moments(rows)
	_, square := columnMeansOf(rows, columns)
	if f.least = cellNoise * math.Sqrt(square); !(f.least > 0) { // no certain cell, or only 0
		f.least = math.SmallestNonzeroFloat32
	}
	if !whole {
		return f, f.clip()
	}
	return f, nil
}

// moments sets spreads and correlations, and reports whether no row has a hole.
func (f *ridge) moments(rows [][]float64) (whole bool) {
	columns := len(f.mean)
	products, both := mat.NewSymDense(columns, nil), mat.NewSymDense(columns, nil)
	away, known := make([]float64, columns), make([]int, 0, columns)
	whole = true
	for _, row := range rows {
		known = known[:0]
		for j, v := range row {
			if !math.IsNaN(v) {
				away[j], known = v-f.mean[j], append(known, j)
			}
		}
		whole = whole && len(known) == columns
		for a, i := range known {
			for _, j := range known[a:] {
				products.SetSym(i, j, products.At(i, j)+away[i]*away[j])
				both.SetSym(i, j, both.At(i, j)+1)
			}
		}
	}
	for j := range f.spread {
		f.spread[j] = math.Sqrt(products.At(j, j) / max(1, both.At(j, j)))
	}
	f.correlation = mat.NewSymDense(columns, nil)
	for i := range columns {
		f.correlation.SetSym(i, i, 1)
		for j := i + 1; j < columns; j++ {
			if d := f.spread[i] * f.spread[j] * both.At(i, j); d > 0 {
				f.correlation.SetSym(i, j, min(1, max(-1, products.At(i, j)/d)))
			}
		}
	}
	return whole
}

// clip sets negative eigenvalues of the correlations to 0, and their diagonal to 1 again.
func (f *ridge) clip() error {
	var eigen mat.EigenSym
	if !eigen.Factorize(f.correlation, true) {
		return errEigen
	}
	values := eigen.Values(nil)
	if values[0] >= 0 {
		return nil
	}
	columns := len(values)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	clipped := mat.NewSymDense(columns, nil)
	for k, v := range values {
		if v > 0 {
			clipped.SymRankOne(clipped, v, vectors.ColView(k))
		}
	}
	for i := range columns {
		for j := i + 1; j < columns; j++ {
			f.correlation.SetSym(i, j, clipped.At(i, j)/math.Sqrt(clipped.At(i, i)*clipped.At(j, j)))
		}
	}
	return nil
}

func (f *ridge) informed(j int) bool { return !math.IsNaN(f.mean[j]) }

// complete implements filler. Noise adds to the penalty of its column; a noisy cell is
// regressed on all known ones, itself among them. Cost: O(known³ + known·columns).
func (f *ridge) complete(row, noise, out, deviation []float64) error {
	at, z := f.standard(row)
	solved, coefficients, err := f.solve(at, z, noise)
	if err != nil {
		return err
	}
	for j, v := range row {
		own := 0.0
		if noise != nil && !math.IsNaN(v) {
			own = noise[j]
		}
		if !math.IsNaN(v) && (own == 0 || f.spread[j] == 0) {
			out[j], deviation[j] = v, own
			continue
		}
		predicted, left := 0.0, 1.0
		for a, i := range at {
			r := f.shared(i, j)
			predicted += r * coefficients.AtVec(a)
			left -= r * solved.At(a, j)
		}
		out[j] = f.mean[j] + f.spread[j]*predicted
		deviation[j] = max(f.spread[j]*math.Sqrt(max(0, left)), f.least)
		if own > 0 {
			deviation[j] = min(deviation[j], own)
		}
	}
	return nil
}

// standard are the known cells of columns that vary, in their standard deviations.
func (f *ridge) standard(row []float64) (at []int, z []float64) {
	for j, v := range row {
		if !math.IsNaN(v) && f.spread[j] > 0 {
			at, z = append(at, j), append(z, (v-f.mean[j])/f.spread[j])
		}
	}
	return at, z
}

func (f *ridge) shared(i, j int) float64 {
	if f.spread[j] == 0 {
		return 0
	}
	return f.correlation.At(i, j)
}

// solve returns (R + λI + D)⁻¹·r for every column, and the same of the known cells.
func (f *ridge) solve(at []int, z, noise []float64) (*mat.Dense, *mat.VecDense, error) {
	if len(at) == 0 {
		return nil, nil, nil
	}
	known, cross := mat.NewSymDense(len(at), nil), mat.NewDense(len(at), len(f.mean), nil)
	for a, i := range at {
		for b := a; b < len(at); b++ {
			known.SetSym(a, b, f.correlation.At(i, at[b]))
		}
		own := 0.0
		if noise != nil {
			own = noise[i] / f.spread[i]
		}
		known.SetSym(a, a, 1+f.penalty+own*own)
		for j := range f.mean {
			cross.Set(a, j, f.shared(i, j))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(known) {
		return nil, nil, errEigen
	}
	var solved mat.Dense
	var coefficients mat.VecDense
	if err := factor.SolveTo(&solved, cross); err != nil {
		return nil, nil, err
	}
	if err := factor.SolveVecTo(&coefficients, mat.NewVecDense(len(z), z)); err != nil {
		return nil, nil, err
	}
	return &solved, &coefficients, nil
}

// regressed is a fitted ridge with its intervals.
type regressed struct {
	*ridge
	width *intervals
}

func (r *regressed) Complete(row, deviations []float64) ([]Cell, error) {
	if _, _, err := observed(row, deviations, len(r.mean)); err != nil {
		return nil, err
	}
	return completeWith(r.ridge, row, deviations, r.width)
}
