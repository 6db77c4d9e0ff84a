package regress

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Errors of a fit.
var (
	ErrShape    = errors.New("regress: rows and responses do not fit together")
	ErrFinite   = errors.New("regress: a number is not finite")
	ErrConstant = errors.New("regress: the response is the same everywhere")
	ErrDiverges = errors.New("regress: the decomposition does not converge")
)

// independent is the least singular value that counts, relative to the largest: below
// it columns depend on each other but for rounding.
const independent = 1e-11

// Fit is a least-squares solution.
type Fit struct {
	Coefficients []float64
	SSE          float64 // sum of squared errors
	Rank         int     // fewer than there are columns: they depend on each other
}

// LeastSquares minimises |X·b − y|²; of several solutions it is the shortest. rows[i]
// is a row of X, all of one length; rows and y are not changed. O(rows · columns²).
func LeastSquares(rows [][]float64, y []float64) (Fit, error) {
	if err := check(rows, y); err != nil {
		return Fit{}, err
	}
	fit := Fit{Coefficients: make([]float64, len(rows[0]))}
	var x mat.SVD
	if !x.Factorize(mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...)), mat.SVDThin) {
		return Fit{}, ErrDiverges
	}
	if fit.Rank = x.Rank(independent); fit.Rank > 0 {
		x.SolveVecTo(mat.NewVecDense(len(fit.Coefficients), fit.Coefficients), mat.NewVecDense(len(y), y), fit.Rank)
	}
	for i, row := range rows {
		e := y[i] - Dot(row, fit.Coefficients)
		fit.SSE += e * e
	}
	return fit, nil
}

// Dot is the sum of products.
func Dot(x, b []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += v * b[j]
	}
	return sum
}

func check(rows [][]float64, y []float64) error {
	if len(rows) == 0 || len(rows) != len(y) {
		return fmt.Errorf("%w: %d rows, %d responses", ErrShape, len(rows), len(y))
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return fmt.Errorf("%w: row %d has %d columns, the first %d", ErrShape, i, len(row), len(rows[0]))
		}
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: row %d holds %v", ErrFinite, i, v)
			}
		}
		if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
			return fmt.Errorf("%w: response %d is %v", ErrFinite, i, y[i])
		}
	}
	return nil
}
