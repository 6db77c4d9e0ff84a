package pq

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestFoldInAgainstNormalEquations solves the minimisation of FoldIn's comment
// with gonum's general solver and compares.
func TestFoldInAgainstNormalEquations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, columns := 1+rng.IntN(12), 1+rng.IntN(8)
		var entries []Entry
		for i := range rows {
			for j := range columns {
				if rng.IntN(4) > 0 || i+j == 0 {
					entries = append(entries, Entry{i, j, 10 * rng.Float64()})
				}
			}
		}
		cfg := Defaults()
		cfg.Rank, cfg.MaxEpochs, cfg.Bias = 1+rng.IntN(4), 50, Bias(rng.IntN(4))
		m, err := Fit(rows, columns, entries, cfg)
		if err != nil {
			t.Fatal(err)
		}
		given := rng.Perm(columns)[:rng.IntN(columns+1)]
		values := make([]float64, len(given))
		for i := range values {
			values[i] = 10 * rng.Float64()
		}
		fast := make([]float64, columns)
		if err := m.FoldIn(given, values, fast); err != nil {
			t.Fatal(err)
		}
		for j, want := range naiveFoldIn(m, given, values) {
			if math.Abs(fast[j]-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("column %d: %v, naive %v", j, fast[j], want)
			}
		}
	})
}

func naiveFoldIn(m *Model, given []int, values []float64) []float64 {
	d := m.dims
	left := mat.NewDense(d, d, append([]float64(nil), m.penalty...))
	var right mat.VecDense
	right.MulVec(left, mat.NewVecDense(d, m.priorMean))
	for i, j := range given {
		if !m.informed[j] {
			continue
		}
		p := mat.NewVecDense(d, append([]float64(nil), m.p[j*d:(j+1)*d]...))
		left.RankOne(left, 1, p, p)
		right.AddScaledVec(&right, values[i]/m.scale-m.mean-m.offset[j], p)
	}
	var q mat.VecDense
	if err := q.SolveVec(left, &right); err != nil {
		panic(err)
	}
	out := make([]float64, m.columns)
	for j := range out {
		out[j] = m.value(q.RawVector().Data, j)
	}
	return out
}
