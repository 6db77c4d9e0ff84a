package classify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

// BenchmarkComplete folds one new row with two cells into 10,000 rows of 32
// columns. The time that 99 of 100 calls stay under is p99-ns.
func BenchmarkComplete(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := scores(rng, 10_000, 32, 2)
	for _, d := range classify.Classifiers() {
		b.Run(d.Name, func(b *testing.B) {
			model, err := d.New().Fit(m, 1)
			if err != nil {
				b.Fatal(err)
			}
			var took []float64
			for b.Loop() {
				row := slices.Repeat([]float64{nan}, 32)
				i := rng.IntN(32)
				row[i], row[(i+7)%32] = 100*rng.Float64(), 100*rng.Float64()
				start := b.Elapsed()
				if _, err := model.Complete(row); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64((b.Elapsed() - start).Nanoseconds()))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)*99/100], "p99-ns")
		})
	}
}

// BenchmarkFit learns the same rows.
func BenchmarkFit(b *testing.B) {
	m := scores(rand.New(rand.NewPCG(1, 1)), 10_000, 32, 2)
	for _, d := range classify.Classifiers() {
		b.Run(d.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.New().Fit(m, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
