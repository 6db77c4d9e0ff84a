package classify_test

import (
	"fmt"
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
				if _, err := model.Complete(row, nil); err != nil {
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

// BenchmarkLSH predicts a row of ten sources from two, with the paper's 150
// training rows and with as many as a large operator would keep: the median of the
// nearest five, and the whole of it as a scan where no row is near.
func BenchmarkLSH(b *testing.B) {
	for _, n := range []int{50, 100, 150, 200, 1_000, 100_000} {
		model, err := classify.NewLSH(classify.LSHOptions{Rows: -1}).Fit(scores(rand.New(rand.NewPCG(1, 1)), n, 20, 3), 1)
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(2, 2))
		for name, far := range map[string]float64{"near": 0, "far": 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				row := slices.Repeat([]float64{nan}, 20)
				for b.Loop() {
					for j := range 4 {
						row[j] = far + 100*random.Float64()
					}
					if _, err := model.Complete(row, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
