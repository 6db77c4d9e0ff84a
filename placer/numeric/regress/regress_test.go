package regress_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/regress"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// random rows with a column of ones in front, and responses of known coefficients.
func problem(seed uint64, n, p int, noise float64) (rows [][]float64, y, b []float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	b = make([]float64, p)
	for j := range b {
		b[j] = random.NormFloat64()
	}
	for range n {
		row := []float64{1}
		for range p - 1 {
			row = append(row, random.NormFloat64())
		}
		rows, y = append(rows, row), append(y, regress.Dot(row, b)+noise*random.NormFloat64())
	}
	return rows, y, b
}

// Residuals are orthogonal to every column, over a grid of sizes.
func TestLeastSquaresIsOrthogonal(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {2, 1}, {5, 5}, {30, 7}, {126, 45}} {
		rows, y, _ := problem(uint64(size[0]), size[0], size[1], 1)
		fit, err := regress.LeastSquares(rows, y)
		if err != nil {
			t.Fatal(err)
		}
		if fit.Rank != size[1] {
			t.Errorf("%v: rank %d", size, fit.Rank)
		}
		for j := range rows[0] {
			sum := 0.0
			for i, row := range rows {
				sum += row[j] * (y[i] - regress.Dot(row, fit.Coefficients))
			}
			near(t, "column times residuals", sum, 0, 1e-9*float64(size[0]))
		}
	}
}

// A column that depends on others makes the fit say so, and the prediction stays.
func TestLeastSquaresOfDependentColumns(t *testing.T) {
	t.Parallel()
	rows, y, _ := problem(3, 40, 4, 0)
	for i := range rows {
		rows[i] = append(rows[i], 2*rows[i][1]-rows[i][2])
	}
	fit, err := regress.LeastSquares(rows, y)
	if err != nil || fit.Rank != 4 {
		t.Fatalf("%+v, %v", fit, err)
	}
	near(t, "error", fit.SSE, 0, 1e-6)
}

func TestLeastSquaresRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows [][]float64
		y    []float64
		want error
	}{
		"nothing":  {nil, nil, regress.ErrShape},
		"ragged":   {[][]float64{{1, 2}, {1}}, []float64{1, 2}, regress.ErrShape},
		"lengths":  {[][]float64{{1}}, []float64{1, 2}, regress.ErrShape},
		"no value": {[][]float64{{math.NaN()}}, []float64{1}, regress.ErrFinite},
		"infinite": {[][]float64{{1}}, []float64{math.Inf(1)}, regress.ErrFinite},
	} {
		if _, err := regress.LeastSquares(c.rows, c.y); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// The sweep finds the errors that fits made one by one have.
func TestStepwiseAgreesWithFits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		rows, y, _ := problem(seed, 60, 9, 2)
		terms := make([][]float64, len(rows))
		for i := range rows {
			terms[i] = rows[i][1:]
		}
		s, err := regress.Stepwise(terms, y)
		if err != nil {
			t.Fatal(err)
		}
		aic := func(columns []int) (float64, float64) {
			var design [][]float64
			for _, row := range terms {
				d := []float64{1}
				for _, c := range columns {
					d = append(d, row[c])
				}
				design = append(design, d)
			}
			fit, err := regress.LeastSquares(design, y)
			if err != nil {
				t.Fatal(err)
			}
			return fit.SSE, regress.AIC(len(y), fit.SSE, len(columns)+1)
		}
		sse, chosen := aic(s.Columns)
		near(t, "SSE", s.SSE, sse, 1e-8*sse)
		for c := range terms[0] { // no single change is better
			other := slices.DeleteFunc(slices.Clone(s.Columns), func(x int) bool { return x == c })
			if len(other) == len(s.Columns) {
				other = append(other, c)
			}
			if _, a := aic(other); a < chosen-1e-6 {
				t.Errorf("seed %d: changing column %d lowers AIC from %v to %v", seed, c, chosen, a)
			}
		}
	}
}

func TestStepwiseLeavesOutNoise(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	var rows [][]float64
	var y []float64
	for range 200 {
		row := make([]float64, 12)
		for j := range row[:10] {
			row[j] = random.NormFloat64()
		}
		row[10], row[11] = 7, row[0] // a constant, and a copy
		rows, y = append(rows, row), append(y, 3*row[0]-2*row[4]+0.1*random.NormFloat64())
	}
	s, err := regress.Stepwise(rows, y)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Contains(s.Columns, 0) != slices.Contains(s.Columns, 11)
	if !first || !slices.Contains(s.Columns, 4) || slices.Contains(s.Columns, 10) || len(s.Columns) > 6 {
		t.Errorf("chose %v", s.Columns)
	}
	if s.AICc <= s.AIC || s.Forward {
		t.Errorf("%+v", s)
	}
}

func TestStepwiseGoesForwardWithFewObservations(t *testing.T) {
	t.Parallel()
	rows, y, _ := problem(8, 12, 20, 1)
	s, err := regress.Stepwise(rows, y)
	if err != nil || !s.Forward || len(s.Columns) > len(rows)-2 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := regress.Stepwise(rows, slices.Repeat([]float64{4}, 12)); !errors.Is(err, regress.ErrConstant) {
		t.Errorf("a constant response: %v", err)
	}
}

// Columns of nothing but zeros explain nothing.
func TestLeastSquaresOfZeros(t *testing.T) {
	t.Parallel()
	fit, err := regress.LeastSquares([][]float64{{0, 0}, {0, 0}, {0, 0}}, []float64{1, 2, 2})
	if err != nil || fit.Rank != 0 || fit.SSE != 9 {
		t.Errorf("%+v, %v", fit, err)
	}
}

// A Gauss-Newton step, the least squares of what a start leaves, ends at the
// least-squares solution from anywhere: the model is linear in its coefficients.
func TestAGaussNewtonStepIsLeastSquares(t *testing.T) {
	t.Parallel()
	rows, y, _ := problem(4, 126, 15, 1)
	want, err := regress.LeastSquares(rows, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []float64{0, 1, -1e3} {
		start, left := slices.Repeat([]float64{from}, 15), make([]float64, len(y))
		for i, row := range rows {
			left[i] = y[i] - regress.Dot(row, start)
		}
		step, err := regress.LeastSquares(rows, left)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range step.Coefficients {
			near(t, "coefficient", from+v, want.Coefficients[j], 1e-9)
		}
	}
}

func BenchmarkStepwise126x44(b *testing.B) {
	rows, y, _ := problem(1, 126, 45, 1)
	for i := range rows {
		rows[i] = rows[i][1:]
	}
	for b.Loop() {
		if _, err := regress.Stepwise(rows, y); err != nil {
			b.Fatal(err)
		}
	}
}
