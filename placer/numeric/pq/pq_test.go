package pq_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
)

// low returns a rows×columns matrix of the rank, positive, without noise.
func low(rng *rand.Rand, rows, columns, rank int) [][]float64 {
	q, p := make([][]float64, rows), make([][]float64, columns)
	for _, f := range []([][]float64){q, p} {
		for i := range f {
			f[i] = make([]float64, rank)
			for k := range f[i] {
				f[i][k] = 0.2 + rng.Float64()
			}
		}
	}
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
		for j := range out[i] {
			for k := range rank {
				out[i][j] += q[i][k] * p[j][k]
			}
		}
	}
	return out
}

func entries(m [][]float64, keep func(i, j int) bool) []pq.Entry {
	var out []pq.Entry
	for i, row := range m {
		for j, v := range row {
			if keep(i, j) {
				out = append(out, pq.Entry{Row: i, Column: j, Value: v})
			}
		}
	}
	return out
}

func all(int, int) bool { return true }

func fit(t *testing.T, m [][]float64, keep func(i, j int) bool, cfg pq.Config) *pq.Model {
	t.Helper()
	model, err := pq.Fit(len(m), len(m[0]), entries(m, keep), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// TestResidualOverSizes: a matrix whose rank is at most the model's is
// reproduced. The tolerance is what λ = 0.005 pulls values towards zero.
func TestResidualOverSizes(t *testing.T) {
	t.Parallel()
	const tolerance = 0.03
	for _, rows := range []int{1, 2, 5, 20, 40} {
		for _, columns := range []int{1, 2, 3, 15} {
			for _, bias := range []pq.Bias{pq.NoBias, pq.LearnedBias, pq.ShrunkBias, pq.FullBias} {
				t.Run(fmt.Sprintf("%d×%d bias %v", rows, columns, bias), func(t *testing.T) {
					t.Parallel()
					m := low(rand.New(rand.NewPCG(uint64(rows), uint64(columns))), rows, columns, 3)
					cfg := pq.Defaults()
					if cfg.Bias = bias; bias != pq.NoBias {
						// What offsets take away is of rank two, and must be put back where they
						// are wrong; regularisation would keep it small.
						cfg.Rank, cfg.Regularisation = 5, 0
					}
					model := fit(t, m, all, cfg)
					for i, row := range m {
						for j, v := range row {
							if got := model.At(i, j); math.Abs(got-v) > tolerance*math.Max(1, v) {
								t.Fatalf("(%d, %d): %v, want %v", i, j, got, v)
							}
						}
					}
				})
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	one := []pq.Entry{{Row: 0, Column: 0, Value: 1}}
	for _, c := range []struct {
		name          string
		rows, columns int
		entries       []pq.Entry
		want          error
	}{
		{"no rows", 0, 3, one, pq.ErrEmpty},
		{"no columns", 3, 0, one, pq.ErrEmpty},
		{"no entries", 3, 3, nil, pq.ErrEmpty},
		{"NaN", 1, 1, []pq.Entry{{Value: math.NaN()}}, pq.ErrNotFinite},
		{"infinite", 1, 1, []pq.Entry{{Value: math.Inf(-1)}}, pq.ErrNotFinite},
		{"row out of range", 1, 1, []pq.Entry{{Row: 1, Value: 1}}, pq.ErrShape},
		{"column out of range", 1, 1, []pq.Entry{{Column: -1, Value: 1}}, pq.ErrShape},
		{"twice", 1, 1, append(one, one...), pq.ErrShape},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := pq.Fit(c.rows, c.columns, c.entries, pq.Defaults()); !errors.Is(err, c.want) {
				t.Errorf("fit: %v, want %v", err, c.want)
			}
			if _, err := pq.CrossValidate(c.rows, c.columns, c.entries, pq.Defaults(), pq.DefaultFolding()); !errors.Is(err, c.want) {
				t.Errorf("cross-validate: %v, want %v", err, c.want)
			}
		})
	}
}

// TestDegenerate: constant, zero, huge and tiny matrices stay finite and come
// back.
func TestDegenerate(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{0, 1, -3, 1e-300, 1e200} {
		m := [][]float64{{v, v, v}, {v, v, v}, {v, v, v}, {v, v, v}}
		model := fit(t, m, all, pq.Defaults())
		out := make([]float64, 3)
		if err := model.FoldIn([]int{1}, []float64{v}, out); err != nil {
			t.Fatal(err)
		}
		for j, got := range out {
			if math.IsNaN(got) || math.Abs(got-v) > 0.02*math.Abs(v) {
				t.Errorf("constant %g: column %d is %g", v, j, got)
			}
		}
	}
}

// TestSingleRow: one training row still scales to a new one.
func TestSingleRow(t *testing.T) {
	t.Parallel()
	model := fit(t, [][]float64{{10, 20, 40}}, all, pq.Defaults())
	out := make([]float64, 3)
	if err := model.FoldIn([]int{0}, []float64{20}, out); err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{20, 40, 80} {
		// 5 %: the prior keeps the new row a little towards the old one.
		if math.Abs(out[j]-want) > 0.05*want {
			t.Errorf("column %d: %v, want about %v", j, out[j], want)
		}
	}
}

// TestUnits: predictions scale with the data.
func TestUnits(t *testing.T) {
	t.Parallel()
	m := low(rand.New(rand.NewPCG(7, 7)), 20, 6, 2)
	big := make([][]float64, len(m))
	for i, row := range m {
		for _, v := range row {
			big[i] = append(big[i], 1024*v)
		}
	}
	a, b := fit(t, m, all, pq.Defaults()), fit(t, big, all, pq.Defaults())
	if x, y := a.At(3, 4), b.At(3, 4); math.Abs(1024*x-y) > 1e-6*y {
		t.Errorf("1024·%v ≠ %v", x, y)
	}
}

func TestSameSeedSameBits(t *testing.T) {
	t.Parallel()
	m := low(rand.New(rand.NewPCG(8, 8)), 30, 8, 3)
	keep := func(i, j int) bool { return i < 10 || (i+j)%3 == 0 }
	a, b := fit(t, m, keep, pq.Defaults()), fit(t, m, keep, pq.Defaults())
	for i := range m {
		for j := range m[i] {
			if a.At(i, j) != b.At(i, j) {
				t.Fatalf("(%d, %d) differs", i, j)
			}
		}
	}
}

// TestFoldInPredictsHeldOutRows: from two cells, better than the scaled mean on
// data that has structure to learn.
func TestFoldInPredictsHeldOutRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	m := low(rng, 60, 10, 3)
	train, test := m[:40], m[40:]
	model := fit(t, train, all, pq.Defaults())
	var ours, baseline float64
	for _, row := range test {
		out := make([]float64, 10)
		if err := model.FoldIn([]int{0, 5}, []float64{row[0], row[5]}, out); err != nil {
			t.Fatal(err)
		}
		scaled := scaledMean(train, row, 0, 5)
		for j, v := range row {
			ours += math.Abs(out[j]-v) / v
			baseline += math.Abs(scaled[j]-v) / v
		}
	}
	if !(ours < baseline) {
		t.Errorf("learning does not help: error %v, scaled mean %v", ours, baseline)
	}
}

func scaledMean(train [][]float64, row []float64, given ...int) []float64 {
	mean := make([]float64, len(row))
	for _, r := range train {
		for j, v := range r {
			mean[j] += v / float64(len(train))
		}
	}
	var have, expected float64
	for _, j := range given {
		have, expected = have+row[j], expected+mean[j]
	}
	for j := range mean {
		mean[j] *= have / expected
	}
	return mean
}

// TestFoldInEnds: with every cell given and no noise, the row comes back; with
// none, the mean of the reconstructed rows.
func TestFoldInEnds(t *testing.T) {
	t.Parallel()
	m := low(rand.New(rand.NewPCG(10, 10)), 40, 6, 2)
	model := fit(t, m[:39], all, pq.Defaults())
	full, none := make([]float64, 6), make([]float64, 6)
	if err := model.FoldIn([]int{0, 1, 2, 3, 4, 5}, m[39], full); err != nil {
		t.Fatal(err)
	}
	if err := model.FoldIn(nil, nil, none); err != nil {
		t.Fatal(err)
	}
	for j := range full {
		if math.Abs(full[j]-m[39][j]) > 0.05*m[39][j] {
			t.Errorf("column %d: %v, want %v", j, full[j], m[39][j])
		}
		mean := 0.0
		for i := range 39 {
			mean += model.At(i, j) / 39
		}
		if math.Abs(none[j]-mean) > 1e-9*mean {
			t.Errorf("column %d: %v, want the mean row's %v", j, none[j], mean)
		}
	}
}

func TestFoldInRefusals(t *testing.T) {
	t.Parallel()
	model := fit(t, low(rand.New(rand.NewPCG(1, 1)), 4, 3, 1), all, pq.Defaults())
	out := make([]float64, 3)
	for name, err := range map[string]error{
		"short out":      model.FoldIn(nil, nil, out[:2]),
		"not parallel":   model.FoldIn([]int{0}, nil, out),
		"out of range":   model.FoldIn([]int{3}, []float64{1}, out),
		"NaN":            model.FoldIn([]int{0}, []float64{math.NaN()}, out),
		"negative index": model.FoldIn([]int{-1}, []float64{1}, out),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSingularValues against gonum on a matrix without holes.
func TestSingularValues(t *testing.T) {
	t.Parallel()
	m := [][]float64{{3, 0}, {0, 1}}
	model := fit(t, m, all, pq.Defaults())
	var svd mat.SVD
	svd.Factorize(mat.NewDense(2, 2, []float64{3, 0, 0, 1}), mat.SVDThin)
	want := svd.Values(nil)
	got := model.SingularValues()
	if math.Abs(got[0]/got[1]-want[0]/want[1]) > 1e-9 {
		t.Errorf("%v is not in the proportion of %v", got, want)
	}
}

// TestChooseRank: noiseless data of rank 2 needs no more than it.
func TestChooseRank(t *testing.T) {
	t.Parallel()
	m := low(rand.New(rand.NewPCG(3, 3)), 60, 8, 2)
	rank, v, err := pq.ChooseRank(60, 8, entries(m, all), []int{1, 2, 3, 4}, pq.Defaults(), pq.DefaultFolding())
	if err != nil {
		t.Fatal(err)
	}
	if rank < 2 {
		t.Errorf("rank %d for data of rank 2 (RMSE %v)", rank, v.RMSE)
	}
	n := 0
	for _, r := range v.Residuals {
		n += len(r)
	}
	if n != 60*6 {
		t.Errorf("%d residuals of 60 rows with 6 of 8 cells hidden", n)
	}
}

func TestTooFewRowsToHoldOut(t *testing.T) {
	t.Parallel()
	m := [][]float64{{1, 2}}
	if _, err := pq.CrossValidate(1, 2, entries(m, all), pq.Defaults(), pq.DefaultFolding()); !errors.Is(err, pq.ErrTooFew) {
		t.Errorf("%v", err)
	}
}

func TestUninformedColumn(t *testing.T) {
	t.Parallel()
	m := low(rand.New(rand.NewPCG(4, 4)), 10, 4, 1)
	model := fit(t, m, func(_, j int) bool { return j != 2 }, pq.Defaults())
	if model.Informed(2) || !model.Informed(1) {
		t.Error("columns without entries are not told apart")
	}
	with, without := make([]float64, 4), make([]float64, 4)
	if err := model.FoldIn([]int{0, 2}, []float64{m[0][0], 1e6}, with); err != nil {
		t.Fatal(err)
	}
	if err := model.FoldIn([]int{0}, []float64{m[0][0]}, without); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(with, without) {
		t.Errorf("a cell of an unknown column changes others: %v, %v", with, without)
	}
}

// TestDiverges: a learning rate far too high is an error, not NaN.
func TestDiverges(t *testing.T) {
	t.Parallel()
	cfg := pq.Defaults()
	cfg.LearningRate = 50
	m := low(rand.New(rand.NewPCG(5, 5)), 10, 5, 3)
	if _, err := pq.Fit(10, 5, entries(m, func(i, j int) bool { return (i+j)%4 > 0 }), cfg); !errors.Is(err, pq.ErrDiverged) {
		t.Errorf("%v", err)
	}
}

func ExampleModel_FoldIn() {
	// Three programs on three machines; the third machine is twice the first for
	// programs like the new one.
	known := []pq.Entry{
		{0, 0, 10}, {0, 1, 15}, {0, 2, 20},
		{1, 0, 20}, {1, 1, 30}, {1, 2, 40},
		{2, 0, 30}, {2, 1, 45}, {2, 2, 60},
	}
	cfg := pq.Defaults()
	cfg.Rank = 1
	m, err := pq.Fit(3, 3, known, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float64, 3)
	if err := m.FoldIn([]int{0}, []float64{25}, row); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f\n", row)
	// Output: [25 37 50]
}

func BenchmarkFoldIn(b *testing.B) {
	m := low(rand.New(rand.NewPCG(6, 6)), 200, 15, 3)
	model, err := pq.Fit(200, 15, entries(m, all), pq.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, 15)
	for b.Loop() {
		if err := model.FoldIn([]int{2, 9}, []float64{m[0][2], m[0][9]}, out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFit1000x15(b *testing.B) {
	m := low(rand.New(rand.NewPCG(6, 6)), 1000, 15, 3)
	e := entries(m, all)
	for b.Loop() {
		if _, err := pq.Fit(1000, 15, e, pq.Defaults()); err != nil {
			b.Fatal(err)
		}
	}
}
