// Package student gives the mean of independent repetitions with its interval by
// Student's t (Student 1908).
//
//	mean, half := student.Mean(values) // the interval is mean ± half
package student

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// upper is the quantile that leaves 2.5 % above it: intervals are of 95 %.
const upper = 0.975

// Mean of values and half of its 95 % interval, which is NaN of fewer than two; so is
// the mean of none.
func Mean(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	mean /= n
	if len(values) < 2 {
		return mean, math.NaN()
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(upper)
	return mean, t * math.Sqrt(squares/(n-1)/n)
}
