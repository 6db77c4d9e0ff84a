package regress

import (
	"errors"
	"fmt"
	"math"
)

// ErrDiverges: an iteration made the error larger, and no part of its step made it
// smaller.
var ErrDiverges = errors.New("regress: the iteration does not converge")

// Problem is a sum of squares to minimise.
type Problem interface {
	// Residuals y − f(x, b), and the derivatives of f by the coefficients: one row per
	// observation.
	Evaluate(b []float64) (residuals []float64, derivatives [][]float64)
}

// halvings bounds how often a step that makes the error larger is cut in two.
const halvings = 30

// GaussNewton minimises from a start, until an iteration changes the sum of squares by
// less than a relative tolerance or the number of iterations is reached. It returns
// the coefficients, the sum of squares and the iterations made.
func GaussNewton(p Problem, start []float64, tolerance float64, iterations int) ([]float64, float64, int, error) {
	b := append([]float64(nil), start...)
	residuals, derivatives := p.Evaluate(b)
	now := squares(residuals)
	for i := range iterations {
		step, err := LeastSquares(derivatives, residuals)
		if err != nil {
			return b, now, i, err
		}
		next, length := make([]float64, len(b)), 1.0
		var after float64
		for cut := 0; ; cut++ {
			for j := range b {
				next[j] = b[j] + length*step.Coefficients[j]
			}
			residuals, derivatives = p.Evaluate(next)
			if after = squares(residuals); after <= now*(1+1e-12) {
				break
			}
			if cut == halvings {
				return b, now, i, fmt.Errorf("%w: iteration %d", ErrDiverges, i+1)
			}
			length /= 2
		}
		b = next
		if math.Abs(now-after) <= tolerance*now {
			return b, after, i + 1, nil
		}
		now = after
	}
	return b, now, iterations, nil
}

func squares(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// Linear is the problem whose model is rows·b.
type Linear struct {
	Rows [][]float64
	Y    []float64
}

// Evaluate implements Problem.
func (l Linear) Evaluate(b []float64) ([]float64, [][]float64) {
	out := make([]float64, len(l.Y))
	for i, row := range l.Rows {
		out[i] = l.Y[i] - Dot(row, b)
	}
	return out, l.Rows
}
