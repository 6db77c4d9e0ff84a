package gauss_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/numeric/gauss"
)

// BenchmarkFit is of as many rows and columns as are shipped, each row with noise of its own.
// The baseline solves as many systems of that size by mat.Cholesky.
func BenchmarkFit(b *testing.B) {
	const rows, columns, iterations = 41, 17, 20
	random := rand.New(rand.NewPCG(1, 1))
	var values, deviations [][]float64
	for range rows {
		level, row, deviation := 50+20*random.NormFloat64(), make([]float64, columns), make([]float64, columns)
		for j := range row {
			row[j], deviation[j] = level+10*random.NormFloat64(), 5*random.Float64()
		}
		values, deviations = append(values, row), append(deviations, deviation)
	}
	b.Run("fit", func(b *testing.B) {
		for b.Loop() {
			if _, err := gauss.Fit(values, deviations, columns, gauss.Config{Shrinkage: 0.1, Noise: 1, Iterations: iterations}); err != nil {
				b.Fatal(err)
			}
		}
	})
	cov, right := mat.NewSymDense(columns, nil), mat.NewDense(columns, columns, nil)
	for j := range columns {
		cov.SetSym(j, j, 1)
		right.Set(j, j, 1)
	}
	b.Run("baseline", func(b *testing.B) {
		for b.Loop() {
			for range rows * iterations {
				var factor mat.Cholesky
				factor.Factorize(cov)
				if err := factor.SolveTo(mat.NewDense(columns, columns, nil), right); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
