package classify_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// tableI are the applications of the paper's Table I, on the percent scale.
var tableI = [][]float64{
	{10, 30, 70, 60, 10, 30}, {70, 60, 40, 50, 90, 70}, {20, 40, 60, 50, 30, 20},
	{50, 20, 40, 10, 80, 60}, {70, 60, 10, 20, 50, 50},
}

// Table I: one source of the first two scores is profiled, R = 0.2, and t1 and t3
// are near (.2, .3): s3 to s6 are .65, .55, .20, .25.
func TestTableIMedians(t *testing.T) {
	t.Parallel()
	// The range of the matrix is 80 points: R of 20 points is 0.25 of it.
	model := fitted(t, classify.LSHOptions{Radius: 0.125, Failure: 1e-6}, tableI)
	cells, err := model.Complete([]float64{20, 30, nan, nan, nan, nan}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{20, 30, 65, 55, 20, 25} {
		if math.Abs(cells[j].Value-want) > 1e-9 || cells[j].Doubt != "" || cells[j].Measured != (j < 2) {
			t.Errorf("score %d: %+v, want %v", j+1, cells[j], want)
		}
	}
}

func fitted(t *testing.T, o classify.LSHOptions, rows [][]float64) classify.Model {
	t.Helper()
	m := classify.Matrix{Columns: make([]string, len(rows[0])), Rows: rows}
	for j := range m.Columns {
		m.Columns[j] = string(rune('a' + j))
	}
	model, err := classify.NewLSH(o).Fit(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Algorithm 2, line 4: where no row is near, the scores are drawn at random as
// printed; by default the nearest are taken, and it is said.
func TestNoRowNear(t *testing.T) {
	t.Parallel()
	row := []float64{1, 99, nan, nan, nan, nan}
	// The nearest five are all: the median of each column.
	cells, err := fitted(t, classify.LSHOptions{Radius: 0.01}, tableI).Complete(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{1, 99, 40, 50, 50, 50} {
		if cells[j].Value != want || (cells[j].Doubt == "") != (j < 2) {
			t.Errorf("score %d: %+v, want %v", j+1, cells[j], want)
		}
	}
	strict := fitted(t, classify.LSHOptions{Radius: 0.01, Strict: true}, tableI)
	first, err := strict.Complete(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := strict.Complete(row, nil)
	if err != nil || !slices.Equal(first[2:], again[2:]) && !math.IsNaN(first[2].Low) {
		t.Errorf("drawn differently: %+v, then %+v, %v", first, again, err)
	}
	values := map[float64]bool{}
	for _, c := range first[2:] {
		values[c.Value] = true
		if c.Value < 10 || c.Value > 90 || !strings.Contains(c.Doubt, "random") {
			t.Errorf("%+v", c)
		}
	}
	if len(values) != 4 {
		t.Errorf("four scores drawn alike: %v", values)
	}
}

// A row that shares all its known cells with no other is completed from those that share
// some, and it is said.
func TestKnownInPart(t *testing.T) {
	t.Parallel()
	model := fitted(t, classify.LSHOptions{}, [][]float64{{10, nan, 30}, {11, nan, 34}, {nan, 80, 90}})
	cells, err := model.Complete([]float64{10, 80, nan}, nil)
	if err != nil || cells[2].Doubt == "" || !(cells[2].Value >= 30 && cells[2].Value <= 90) {
		t.Errorf("%+v, %v", cells, err)
	}
}

// With an index that misses nothing, and all rows taken, the classifier is the
// median of the nearest within the radius, whichever metric.
func TestIsTheMedianOfTheNearest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	rows := scores(random, 300, 8, 2).Rows
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
	}
	for _, metric := range []lsh.Metric{lsh.Euclidean, lsh.Manhattan} {
		model := fitted(t, classify.LSHOptions{Rows: -1, Failure: 1e-9, Metric: metric, Neighbours: 4}, rows)
		for _, truth := range scores(random, 40, 8, 2).Rows {
			row := slices.Repeat([]float64{nan}, 8)
			row[1], row[6] = truth[1], truth[6]
			cells, err := model.Complete(row, nil)
			if err != nil {
				t.Fatal(err)
			}
			near := nearRows(rows, row, metric, 0.2*(high-low), 4)
			if len(near) == 0 {
				continue
			}
			for j := range row {
				if want := middle(near, j); !cells[j].Measured && math.Abs(cells[j].Value-want) > 1e-9 {
					t.Fatalf("%v, column %d: %v, want %v", metric, j, cells[j].Value, want)
				}
			}
		}
	}
}

// nearRows are the so many rows nearest in columns 1 and 6, within a radius.
func nearRows(rows [][]float64, row []float64, metric lsh.Metric, radius float64, most int) [][]float64 {
	type found struct {
		distance float64
		row      []float64
	}
	var all []found
	for _, r := range rows {
		a, b := r[1]-row[1], r[6]-row[6]
		d := math.Hypot(a, b)
		if metric == lsh.Manhattan {
			d = math.Abs(a) + math.Abs(b)
		}
		if d <= radius {
			all = append(all, found{d, r})
		}
	}
	slices.SortStableFunc(all, func(x, y found) int {
		if x.distance < y.distance {
			return -1
		}
		return 1
	})
	var out [][]float64
	for _, f := range all[:min(most, len(all))] {
		out = append(out, f.row)
	}
	return out
}

func middle(rows [][]float64, j int) float64 {
	var v []float64
	for _, r := range rows {
		v = append(v, r[j])
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
