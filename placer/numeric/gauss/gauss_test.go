package gauss_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/numeric/gauss"
)

var nan = math.NaN()

func config() gauss.Config {
	return gauss.Config{Noise: 1e-3, Iterations: 200, Tolerance: 1e-6}
}

// drawn are rows of a known normal distribution: x = mean + A·z.
func drawn(rng *rand.Rand, n int, mean []float64, a [][]float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		row := slices.Clone(mean)
		for k := range a[0] {
			z := rng.NormFloat64()
			for j := range row {
				row[j] += a[j][k] * z
			}
		}
		rows[i] = row
	}
	return rows
}

var (
	mean3 = []float64{1, 2, 3}
	root3 = [][]float64{{1, 0, 0}, {0.8, 0.6, 0}, {0.5, 0.5, 0.7}}
)

// Rasmussen 2006, equation A.6, on a distribution that is known: the estimate of
// 4,000 rows is within three standard errors of its coefficients.
func TestConditionalOfAKnownDistribution(t *testing.T) {
	t.Parallel()
	rows := drawn(rand.New(rand.NewPCG(1, 1)), 4000, mean3, root3)
	model, err := gauss.Fit(rows, nil, 3, config())
	if err != nil {
		t.Fatal(err)
	}
	var cov mat.Dense
	a := mat.NewDense(3, 3, slices.Concat(root3...))
	cov.Mul(a, a.T())
	mean, deviation := make([]float64, 3), make([]float64, 3)
	if err := model.Complete([]float64{2, nan, nan}, nil, mean, deviation); err != nil {
		t.Fatal(err)
	}
	for j := 1; j < 3; j++ {
		want := mean3[j] + cov.At(j, 0)/cov.At(0, 0)*(2-mean3[0])
		left := math.Sqrt(cov.At(j, j) - cov.At(j, 0)*cov.At(j, 0)/cov.At(0, 0))
		if math.Abs(mean[j]-want) > 0.06 || math.Abs(deviation[j]-left) > 0.06 {
			t.Errorf("column %d: %v ± %v, want %v ± %v", j, mean[j], deviation[j], want, left)
		}
	}
}

// Holes that come at random do not bias the estimate (Dempster 1977, §4.1.3).
func TestHolesAreFilledNotGuessed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	rows := drawn(rng, 3000, mean3, root3)
	for _, row := range rows {
		row[rng.IntN(3)] = nan
	}
	model, err := gauss.Fit(rows, nil, 3, config())
	if err != nil {
		t.Fatal(err)
	}
	mean, deviation := make([]float64, 3), make([]float64, 3)
	if err := model.Complete([]float64{3, nan, nan}, nil, mean, deviation); err != nil {
		t.Fatal(err)
	}
	// 1 + 2 standard deviations in the first column: 2 + 0.8·2 and 3 + 0.5·2.
	for j, want := range []float64{3, 3.6, 4} {
		if math.Abs(mean[j]-want) > 0.15 {
			t.Errorf("column %d: %v, want %v", j, mean[j], want)
		}
	}
}

func TestCornersAndRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		rows    [][]float64
		columns int
		want    error
	}{
		{"nothing", nil, 3, gauss.ErrEmpty},
		{"no columns", [][]float64{{}}, 0, gauss.ErrEmpty},
		{"all holes", [][]float64{{nan, nan}}, 2, gauss.ErrEmpty},
		{"ragged", [][]float64{{1, 2}, {1}}, 2, gauss.ErrShape},
		{"infinite", [][]float64{{1, math.Inf(1)}}, 2, gauss.ErrNotFinite},
		{"one row", [][]float64{{1, 2}}, 2, nil},
		{"all equal", [][]float64{{1, 1}, {1, 1}, {1, 1}}, 2, nil},
		{"one column", [][]float64{{1}, {2}}, 1, nil},
		{"a column without cells", [][]float64{{1, nan}, {2, nan}}, 2, nil},
	} {
		model, err := gauss.Fit(c.rows, nil, c.columns, config())
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err != nil {
			continue
		}
		row := slices.Repeat([]float64{nan}, c.columns)
		row[0] = 1.5
		mean, deviation := make([]float64, c.columns), make([]float64, c.columns)
		if err := model.Complete(row, nil, mean, deviation); err != nil || mean[0] != 1.5 || deviation[0] != 0 || math.IsNaN(mean[c.columns-1]) {
			t.Errorf("%s: %v %v %v", c.name, mean, deviation, err)
		}
		if err := model.Complete([]float64{math.Inf(1)}, nil, mean, deviation); err == nil {
			t.Errorf("%s: took an infinite cell or a short row", c.name)
		}
		if _, err := gauss.NewLocal(model, c.rows, nil, 0, 1); !errors.Is(err, gauss.ErrShape) {
			t.Errorf("%s: a bandwidth of 0: %v", c.name, err)
		}
	}
}

// A wide bandwidth and a heavy prior are the model itself; a narrow one follows
// the family of rows the cells belong to, where the model follows neither.
func TestLocalBetweenModelAndNeighbours(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	var rows [][]float64
	for range 200 { // y = x below 0, y = −x above
		x := 4*rng.Float64() - 2
		rows = append(rows, []float64{x, -math.Abs(x)})
	}
	model, err := gauss.Fit(rows, nil, 2, config())
	if err != nil {
		t.Fatal(err)
	}
	at := func(bandwidth, prior, x float64) float64 {
		local, err := gauss.NewLocal(model, rows, nil, bandwidth, prior)
		if err != nil {
			t.Fatal(err)
		}
		mean, deviation := make([]float64, 2), make([]float64, 2)
		if err := local.Complete([]float64{x, nan}, nil, mean, deviation); err != nil {
			t.Fatal(err)
		}
		return mean[1]
	}
	mean, deviation := make([]float64, 2), make([]float64, 2)
	for _, x := range []float64{-1.5, -0.7, 0.7, 1.5} {
		if err := model.Complete([]float64{x, nan}, nil, mean, deviation); err != nil {
			t.Fatal(err)
		}
		if got := at(1e6, 1e6, x); math.Abs(got-mean[1]) > 1e-3 {
			t.Errorf("wide, at %v: %v, the model says %v", x, got, mean[1])
		}
		// 0.15: a fifth of the window's width, and one prior row in about twenty.
		if got := at(0.2, 1, x); math.Abs(got+math.Abs(x)) > 0.15 {
			t.Errorf("narrow, at %v: %v, want %v", x, got, -math.Abs(x))
		}
	}
}

// The column that tells most of the others is planned first; what is known or
// not allowed is not.
func TestPlan(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	var rows [][]float64
	for range 500 {
		a, b, own := rng.NormFloat64(), rng.NormFloat64(), 0.1*rng.NormFloat64()
		rows = append(rows, []float64{own, a, a + 0.1*rng.NormFloat64(), 3 * b, 3*b + a})
	}
	model, err := gauss.Fit(rows, nil, 5, config())
	if err != nil {
		t.Fatal(err)
	}
	any := func(int) bool { return true }
	first, err := model.Plan(nil, 2, any)
	if err != nil || len(first) != 2 || first[0] != 4 {
		t.Errorf("planned %v, %v; column 4 is the sum of both causes", first, err)
	}
	got, err := model.Plan([]int{4}, 9, func(j int) bool { return j != 3 })
	if err != nil || len(got) != 3 || slices.Contains(got, 3) || slices.Contains(got, 4) {
		t.Errorf("planned %v, %v", got, err)
	}
	none, _ := model.Leftover(nil)
	some, _ := model.Leftover(first)
	all, _ := model.Leftover([]int{0, 1, 2, 3, 4})
	if !(none > some && some > all && all >= -1e-9) {
		t.Errorf("left over: %v, %v, %v", none, some, all)
	}
}

// The noise of cells is no part of the covariance, and rows without noise count for more: of
// the same distribution, measured exactly by some rows and badly by others, the fit finds
// the covariance, where one that takes all cells as exact finds the noise as well.
func TestNoiseIsNotCovariance(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	rows := drawn(rng, 1500, mean3, root3)
	deviations := make([][]float64, len(rows))
	for i, row := range rows {
		if i%3 == 0 {
			continue
		}
		deviations[i] = make([]float64, 3)
		for j := range row {
			deviations[i][j] = 1.5 * rng.Float64()
			row[j] += deviations[i][j] * rng.NormFloat64()
		}
	}
	aware, err := gauss.Fit(rows, deviations, 3, config())
	if err != nil {
		t.Fatal(err)
	}
	taken, err := gauss.Fit(rows, nil, 3, config())
	if err != nil {
		t.Fatal(err)
	}
	local, err := gauss.NewLocal(aware, rows, deviations, 1e6, 1)
	if err != nil {
		t.Fatal(err)
	}
	const left = 0.6 // of the second column, given the first
	mean, deviation := make([]float64, 3), make([]float64, 3)
	for name, c := range map[string]struct {
		complete  func(row, noise, mean, deviation []float64) error
		low, high float64 // of the deviation
	}{
		"aware":          {aware.Complete, left - 0.06, left + 0.06},
		"local":          {local.Complete, left - 0.06, left + 0.06},
		"taken as exact": {taken.Complete, left + 0.15, 2},
	} {
		if err := c.complete([]float64{2, nan, nan}, nil, mean, deviation); err != nil {
			t.Fatal(err)
		}
		if !(deviation[1] > c.low && deviation[1] < c.high) {
			t.Errorf("%s: %v ± %v", name, mean[1], deviation[1])
		}
	}
}

// The posterior of a noisy cell of one column is that of two measurements of one number
// (Rasmussen 2006, §2.2): precisions add. It is never wider than the noise or than
// what is known without, and an infinitely noisy cell is a missing one.
func TestPosteriorOfANoisyCell(t *testing.T) {
	t.Parallel()
	rows := drawn(rand.New(rand.NewPCG(7, 7)), 2000, mean3, root3)
	model, err := gauss.Fit(rows, nil, 3, config())
	if err != nil {
		t.Fatal(err)
	}
	local, err := gauss.NewLocal(model, rows, nil, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, complete := range map[string]func(row, noise, mean, deviation []float64) error{"model": model.Complete, "local": local.Complete} {
		prior, before := make([]float64, 3), make([]float64, 3)
		if err := complete([]float64{2, nan, nan}, nil, prior, before); err != nil {
			t.Fatal(err)
		}
		mean, deviation := make([]float64, 3), make([]float64, 3)
		for _, noise := range []float64{0.1, 0.5, 2, 1e6} {
			if err := complete([]float64{2, 4, nan}, []float64{0, noise, 0}, mean, deviation); err != nil {
				t.Fatal(err)
			}
			precision := 1/(before[1]*before[1]) + 1/(noise*noise)
			want := (prior[1]/(before[1]*before[1]) + 4/(noise*noise)) / precision
			// Local weighs the rows by the second cell too.
			if name == "model" && (math.Abs(mean[1]-want) > 1e-9 || math.Abs(deviation[1]-1/math.Sqrt(precision)) > 1e-9) {
				t.Errorf("noise %v: %v ± %v, want %v ± %v", noise, mean[1], deviation[1], want, 1/math.Sqrt(precision))
			}
			if !(deviation[1] > 0 && deviation[1] <= noise) || mean[0] != 2 || deviation[0] != 0 {
				t.Errorf("%s, noise %v: %v ± %v", name, noise, mean, deviation)
			}
		}
		if math.Abs(mean[2]-prior[2]) > 1e-3 || math.Abs(deviation[2]-before[2]) > 1e-3 {
			t.Errorf("%s: a cell that says nothing moved the third from %v to %v", name, prior[2], mean[2])
		}
		for _, bad := range [][]float64{{1}, {0, -1, 0}, {0, nan, 0}, {0, math.Inf(1), 0}} {
			if err := complete([]float64{2, 4, nan}, bad, mean, deviation); err == nil {
				t.Errorf("%s: took the deviations %v", name, bad)
			}
		}
	}
}
