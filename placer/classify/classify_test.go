package classify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

var nan = math.NaN()

func get(t *testing.T, name string) classify.Classifier {
	t.Helper()
	d, err := classify.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.New()
}

// scores draws full rows of percent scores from three hidden resources, with
// noise of sd points.
func scores(rng *rand.Rand, rows, columns int, sd float64) classify.Matrix {
	weights := make([][3]float64, columns)
	for j := range weights {
		weights[j] = [3]float64{rng.Float64(), rng.Float64(), rng.Float64()}
	}
	m := classify.Matrix{}
	for j := range columns {
		m.Columns = append(m.Columns, fmt.Sprint("c", j))
	}
	for range rows {
		use := [3]float64{rng.Float64(), rng.Float64(), rng.Float64()}
		row := make([]float64, columns)
		for j, w := range weights {
			sum := w[0] + w[1] + w[2]
			row[j] = 100*(w[0]*use[0]+w[1]*use[1]+w[2]*use[2])/sum + sd*rng.NormFloat64()
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// Every classifier: given cells stay, the rest is known and bracketed, and the
// same seed gives the same cells.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := scores(rand.New(rand.NewPCG(1, 1)), 60, 8, 1)
			model, err := d.New().Fit(m, 7)
			if err != nil {
				t.Fatal(err)
			}
			row := []float64{40, nan, nan, 55, nan, nan, nan, nan}
			cells, err := model.Complete(row, nil)
			if err != nil {
				t.Fatal(err)
			}
			for j, c := range cells {
				switch given := !math.IsNaN(row[j]); {
				case given && (!c.Measured || c.Value != row[j] || c.Low != row[j] || c.High != row[j]):
					t.Errorf("given cell %d became %+v", j, c)
				case !given && (c.Measured || !c.Known || !(c.Low < c.Value) || !(c.Value < c.High)):
					t.Errorf("cell %d: %+v", j, c)
				}
			}
			twin, err := d.New().Fit(m, 7)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := twin.Complete(row, nil); !slices.Equal(cells, again) {
				t.Error("the same seed gives other cells")
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			c := d.New()
			for name, m := range map[string]classify.Matrix{
				"nothing":   {},
				"no rows":   {Columns: []string{"a"}},
				"all holes": {Columns: []string{"a", "b"}, Rows: [][]float64{{nan, nan}}},
			} {
				if _, err := c.Fit(m, 1); !errors.Is(err, classify.ErrNoTraining) {
					t.Errorf("%s: %v", name, err)
				}
			}
			for name, m := range map[string]classify.Matrix{
				"ragged":   {Columns: []string{"a", "b"}, Rows: [][]float64{{1, 2}, {1}}},
				"infinite": {Columns: []string{"a"}, Rows: [][]float64{{math.Inf(1)}}},
			} {
				if _, err := c.Fit(m, 1); !errors.Is(err, classify.ErrRow) {
					t.Errorf("%s: %v", name, err)
				}
			}
			model, err := c.Fit(classify.Matrix{Columns: []string{"a", "b"}, Rows: [][]float64{{1, 2}}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range [][]float64{nil, {1}, {1, 2, 3}, {math.Inf(-1), nan}} {
				if _, err := model.Complete(row, nil); !errors.Is(err, classify.ErrRow) {
					t.Errorf("row %v: %v", row, err)
				}
			}
		})
	}
}

// A column without a measured cell is unknown, and two rows give a wide interval.
func TestLittleTraining(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := classify.Matrix{Columns: []string{"a", "b", "c"}, Rows: [][]float64{{10, 20, nan}, {30, 60, nan}}}
			model, err := d.New().Fit(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			cells, err := model.Complete([]float64{20, nan, nan}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if cells[2].Known {
				t.Errorf("known without a single cell: %+v", cells[2])
			}
			// 4 points: the regularisation of two rows. A fixed offset is one more
			// number per row, and two rows do not carry it.
			tolerance := 4.0
			if d.Name == "cf-shrunk" {
				tolerance = 12
			}
			if c := cells[1]; !c.Known || math.Abs(c.Value-40) > tolerance || !(c.High-c.Low > 20) {
				t.Errorf("%+v, want about 40 in an interval as wide as the rows are apart, at least", c)
			}
		})
	}
}

// Delimitrou 2015, Table 3.2 reports a mean error of 5.3 points; here only that
// learning beats the scaled column mean on rows never seen, and that the
// intervals hold about the share that they are made for.
func TestLearningBeatsTheMean(t *testing.T) {
	t.Parallel()
	all := scores(rand.New(rand.NewPCG(2, 2)), 400, 10, 2)
	train := classify.Matrix{Columns: all.Columns, Rows: all.Rows[:100]}
	failure, inside, n := map[string]float64{}, map[string]int{}, 0
	for _, name := range []string{"cf", "mean"} {
		model, err := get(t, name).Fit(train, 3)
		if err != nil {
			t.Fatal(err)
		}
		n = 0
		for i, truth := range all.Rows[100:] {
			row := slices.Repeat([]float64{nan}, 10)
			row[i%10], row[(i+3)%10] = truth[i%10], truth[(i+3)%10]
			cells, err := model.Complete(row, nil)
			if err != nil {
				t.Fatal(err)
			}
			for j, c := range cells {
				if c.Measured {
					continue
				}
				n++
				failure[name] += math.Abs(c.Value - truth[j])
				if c.Low <= truth[j] && truth[j] <= c.High {
					inside[name]++
				}
			}
		}
	}
	if failure["cf"] >= failure["mean"] {
		t.Errorf("mean error: cf %.2f points, scaled mean %.2f", failure["cf"]/float64(n), failure["mean"]/float64(n))
	}
	// 0.90: the nominal 0.95, less what rows drawn from the same training set
	// share (2,400 cells of 300 rows).
	for name, k := range inside {
		if got := float64(k) / float64(n); got < 0.90 {
			t.Errorf("%s: %.3f of the truths are inside the 95 %% interval", name, got)
		}
	}
	t.Logf("mean error: cf %.2f points, scaled mean %.2f", failure["cf"]/float64(n), failure["mean"]/float64(n))
}

func TestListIsSortedAndLookedUp(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range classify.Classifiers() {
		names = append(names, d.Name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted or not unique: %v", names)
	}
	if _, err := classify.Lookup("x"); err == nil || !strings.Contains(err.Error(), "knn, local, lsh, mean, ridge") {
		t.Errorf("%v", err)
	}
}

// Rows that do not differ, and a single row, are learnt from without dividing by
// their spread; speeds too.
func TestRowsWithoutSpread(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		for name, m := range map[string]classify.Matrix{
			"equal cells":  {Rows: [][]float64{{5, 5, 5}, {5, 5, 5}, {5, 5, 5}}},
			"equal rows":   {Rows: [][]float64{{1, 2, 5}, {1, 2, 5}, {1, 2, 5}}},
			"one row":      {Rows: [][]float64{{1, 2, 5}}},
			"equal speeds": {Rows: [][]float64{{1, 2, 5}, {1, 2, 5}, {1, 2, 5}}, Ratio: true, Always: []int{0}},
		} {
			m.Columns = []string{"a", "b", "c"}
			model, err := d.New().Fit(m, 1)
			if err != nil {
				t.Errorf("%s, %s: %v", d.Name, name, err)
				continue
			}
			cells, err := model.Complete([]float64{m.Rows[0][0], nan, nan}, nil)
			if err != nil {
				t.Errorf("%s, %s: %v", d.Name, name, err)
				continue
			}
			// A fifth: regularisation, and the prior of three rows.
			if got, want := cells[2].Value, m.Rows[0][2]; !(math.Abs(got-want) <= want/5) {
				t.Errorf("%s, %s: %v, want about %v", d.Name, name, got, want)
			}
		}
	}
}

// A ratio matrix refuses what has no logarithm where a classifier takes them,
// and its predictions are positive.
func TestRatios(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cf-log", "gauss", "knn", "local", "ridge", "stack"} {
		m := classify.Matrix{Columns: []string{"a", "b", "c"}, Ratio: true, Always: []int{0}}
		for _, v := range []float64{0.01, 0.1, 1, 10} {
			m.Rows = append(m.Rows, []float64{1, v, v * v})
		}
		model, err := get(t, name).Fit(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := model.Complete([]float64{1, 0.001, nan}, nil)
		if err != nil || !(cells[2].Value > 0) || cells[1].Value != 0.001 {
			t.Errorf("%s: %+v, %v", name, cells, err)
		}
		if _, err := model.Complete([]float64{1, 0, nan}, nil); !errors.Is(err, classify.ErrRow) {
			t.Errorf("%s: a speed of 0: %v", name, err)
		}
		m.Rows = append(m.Rows, []float64{1, -1, 1})
		if _, err := get(t, name).Fit(m, 1); !errors.Is(err, classify.ErrRow) {
			t.Errorf("%s: a negative ratio: %v", name, err)
		}
	}
}

// Delimitrou 2015, §3.2: the singular values of the completed matrix say how
// much each concept carries; there are as many as concepts, and they sum to one.
func TestConcepts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cf", "cf-bias", "cf-shrunk"} {
		model, err := get(t, name).Fit(scores(rand.New(rand.NewPCG(9, 9)), 40, 8, 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		shares := model.(interface{ Concepts() []float64 }).Concepts()
		sum := 0.0
		for k, s := range shares {
			sum += s
			if k > 0 && s > shares[k-1] {
				t.Errorf("%s: not descending: %v", name, shares)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: %v", name, shares)
		}
	}
}
