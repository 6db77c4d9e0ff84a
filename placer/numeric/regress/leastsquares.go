package regress

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Errors of a fit.
var (
	ErrShape    = errors.New("regress: rows and responses do not fit together")
	ErrFinite   = errors.New("regress: a number is not finite")
	ErrConstant = errors.New("regress: the response is the same everywhere")
)

// ridge is added where columns depend on each other, relative to the square of the
// largest column.
const ridge = 1e-8

// Fit is a least-squares solution.
type Fit struct {
	Coefficients []float64
	SSE          float64 // sum of squared errors
	Rank         int     // fewer than there are columns: they depend on each other
}

// LeastSquares minimises |X·b − y|². rows[i] is a row of X, all of one length; rows
// and y are not changed. O(rows · columns²).
func LeastSquares(rows [][]float64, y []float64) (Fit, error) {
	if err := check(rows, y); err != nil {
		return Fit{}, err
	}
	fit := Fit{Coefficients: make([]float64, len(rows[0]))}
	left := slices.Clone(y)
	for range 2 { // the second time it is what rounding left
		var more []float64
		more, fit.Rank = solution(rows, left)
		for j, v := range more {
			fit.Coefficients[j] += v
		}
		for i, row := range rows {
			left[i] = y[i] - Dot(row, fit.Coefficients)
		}
	}
	for _, e := range left {
		fit.SSE += e * e
	}
	return fit, nil
}

// solution is by reflections; a ridge decides between solutions where the rank is less
// than the number of columns.
func solution(rows [][]float64, y []float64) ([]float64, int) {
	p := len(rows[0])
	b, rank := solve(rows, y, p)
	if rank < p {
		augmented, padded := ridged(rows, y, p)
		b, _ = solve(augmented, padded, p)
	}
	return b, rank
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

// ridged appends √λ·I, so that all columns are independent.
func ridged(rows [][]float64, y []float64, p int) ([][]float64, []float64) {
	largest := 0.0
	for j := range p {
		sum := 0.0
		for _, row := range rows {
			sum += row[j] * row[j]
		}
		largest = max(largest, sum)
	}
	root := math.Sqrt(ridge * max(largest, 1e-300))
	out := append([][]float64(nil), rows...)
	for j := range p {
		unit := make([]float64, p)
		unit[j] = root
		out = append(out, unit)
	}
	return out, append(append([]float64(nil), y...), make([]float64, p)...)
}

// solve returns the solution by reflections with column pivoting, and the rank:
// coefficients beyond it are 0.
func solve(rows [][]float64, y []float64, p int) ([]float64, int) {
	n := len(rows)
	a := make([][]float64, p) // by column
	for j := range a {
		a[j] = make([]float64, n)
		for i := range rows {
			a[j][i] = rows[i][j]
		}
	}
	r := append([]float64(nil), y...)
	order := make([]int, p)
	for j := range order {
		order[j] = j
	}
	rank := reflect(a, r, order)
	b := make([]float64, p)
	for k := rank - 1; k >= 0; k-- {
		v := r[k]
		for j := k + 1; j < rank; j++ {
			v -= a[j][k] * b[order[j]]
		}
		b[order[k]] = v / a[k][k]
	}
	return b, rank
}

// reflect turns a into an upper triangle, column by column with the longest left
// first, and r with it.
func reflect(a [][]float64, r []float64, order []int) int {
	n, first := len(r), 0.0
	for k := range a {
		if k >= n {
			return k
		}
		longest, at := -1.0, k
		for j := k; j < len(a); j++ {
			if norm := length(a[j][k:]); norm > longest {
				longest, at = norm, j
			}
		}
		if k == 0 {
			first = longest
		}
		if longest <= first*1e-11 || longest == 0 {
			return k
		}
		a[k], a[at] = a[at], a[k]
		order[k], order[at] = order[at], order[k]
		v := append([]float64(nil), a[k][k:]...)
		alpha := -math.Copysign(longest, v[0])
		v[0] -= alpha
		for j := k; j < len(a); j++ {
			mirror(v, a[j][k:])
		}
		mirror(v, r[k:])
		a[k][k] = alpha
	}
	return len(a)
}

// mirror takes x to x − 2·v·(v·x)/(v·v).
func mirror(v, x []float64) {
	vv, vx := 0.0, 0.0
	for i, w := range v {
		vv += w * w
		vx += w * x[i]
	}
	if vv == 0 {
		return
	}
	f := 2 * vx / vv
	for i, w := range v {
		x[i] -= f * w
	}
}

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
