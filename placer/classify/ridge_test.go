package classify_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

// On a matrix without holes ridge is the closed form, whatever is shown: the minimum of
// Σ(y − zβ)² + n·λ·|β|² over standardised columns, solved here from the rows themselves. The
// penalty is that of one of the candidates.
func TestRidgeIsItsClosedForm(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	m := scores(rng, 40, 6, 3)
	model, err := get(t, "ridge").Fit(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh := scores(rng, 1, 6, 3).Rows[0]
	for _, at := range [][]int{{0}, {1, 4}, {0, 2, 3, 5}, {0, 1, 2, 3, 4}} {
		row := slices.Repeat([]float64{nan}, 6)
		for _, j := range at {
			row[j] = fresh[j]
		}
		cells, err := model.Complete(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for _, penalty := range []float64{0.1, 0.001, 0.003, 0.01, 0.03, 0.3, 1, 3} {
			worst := 0.0
			for j, c := range cells {
				if !c.Measured {
					worst = max(worst, math.Abs(c.Value-closedForm(t, m.Rows, row, at, j, penalty)))
				}
			}
			least = min(least, worst)
		}
		if least > 1e-9 {
			t.Errorf("shown %v: %g away from the closed form of any penalty", at, least)
		}
	}
}

// closedForm solves [Z; √(nλ)·I]·β = [y; 0] by least squares.
func closedForm(t *testing.T, rows [][]float64, row []float64, at []int, target int, penalty float64) float64 {
	t.Helper()
	n := len(rows)
	moments := func(j int) (mean, spread float64) {
		for _, r := range rows {
			mean += r[j] / float64(n)
		}
		for _, r := range rows {
			spread += (r[j] - mean) * (r[j] - mean) / float64(n)
		}
		return mean, math.Sqrt(spread)
	}
	design, y := mat.NewDense(n+len(at), len(at), nil), mat.NewVecDense(n+len(at), nil)
	yMean, _ := moments(target)
	for i, r := range rows {
		y.SetVec(i, r[target]-yMean)
	}
	standard := make([]float64, len(at))
	for a, j := range at {
		mean, spread := moments(j)
		for i, r := range rows {
			design.Set(i, a, (r[j]-mean)/spread)
		}
		design.Set(n+a, a, math.Sqrt(float64(n)*penalty))
		standard[a] = (row[j] - mean) / spread
	}
	var beta mat.VecDense
	if err := beta.SolveVec(design, y); err != nil {
		t.Fatal(err)
	}
	return yMean + mat.Dot(&beta, mat.NewVecDense(len(at), standard))
}

// With holes that leave correlations which no rows could have, ridge still answers.
func TestRidgeOfImpossibleCorrelations(t *testing.T) {
	t.Parallel()
	m := classify.Matrix{Columns: []string{"a", "b", "c"}}
	for i := range 12 {
		v := float64(i)
		switch i % 3 { // a and b agree, b and c agree, a and c are opposed
		case 0:
			m.Rows = append(m.Rows, []float64{v, v, nan})
		case 1:
			m.Rows = append(m.Rows, []float64{nan, v, v})
		case 2:
			m.Rows = append(m.Rows, []float64{v, nan, 11 - v})
		}
	}
	model, err := get(t, "ridge").Fit(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]float64{{3, nan, nan}, {3, 8, nan}, {nan, 8, 2}, {nan, nan, nan}} {
		cells, err := model.Complete(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range cells {
			if math.IsNaN(c.Value) || math.Abs(c.Value) > 30 {
				t.Errorf("%v: cell %d is %+v", row, j, c)
			}
		}
	}
}
