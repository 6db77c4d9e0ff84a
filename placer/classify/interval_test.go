package classify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

// speedsOf makes ratios of scores: each row divided by its first cell.
func speedsOf(m classify.Matrix) classify.Matrix {
	for _, row := range m.Rows {
		for j := range row {
			row[j] = math.Exp(row[j] / 20)
		}
	}
	return classify.RelativeTo(m, 0)
}

// Every classifier, whatever is known of a row: no cell of a known column is NaN, intervals
// hold the value, nest and grow with the level, 95 % is Low to High, and none of a speed is
// negative.
func TestIntervalsNest(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		for _, rows := range []int{2, 3, 11, 60} {
			for _, ratio := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d rows, ratio %v", d.Name, rows, ratio), func(t *testing.T) {
					t.Parallel()
					rng := rand.New(rand.NewPCG(uint64(rows), 3))
					m := scores(rng, rows, 6, 5)
					for _, row := range m.Rows[:rows/2] {
						row[1+rng.IntN(5)] = nan
					}
					if ratio {
						m = speedsOf(m)
					}
					model, err := d.New().Fit(m, 1)
					if err != nil {
						t.Fatal(err)
					}
					for pattern := range 1 << 6 {
						row := slices.Clone(m.Rows[pattern%len(m.Rows)])
						for j := range row {
							if pattern>>j&1 == 0 {
								row[j] = nan
							}
						}
						cells, err := model.Complete(row, nil)
						if err != nil {
							t.Fatal(err)
						}
						for _, c := range cells {
							nests(t, c, ratio)
						}
					}
				})
			}
		}
	}
}

func nests(t *testing.T, c classify.Cell, ratio bool) {
	t.Helper()
	if !c.Known || math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
		t.Fatalf("%+v", c)
	}
	low, high := c.Interval(0)
	for _, level := range []float64{0.1, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99} {
		l, h := c.Interval(level)
		if !(l <= low && h >= high && l <= c.Value && h >= c.Value) || math.IsInf(h-l, 0) || ratio && l < 0 {
			t.Fatalf("%+v at %v: %v to %v, inside it %v to %v", c, level, l, h, low, high)
		}
		if !c.Measured && !(l < low && h > high) {
			t.Fatalf("%+v at %v is no wider: %v to %v", c, level, l, h)
		}
		low, high = l, h
	}
	low, high = c.Interval(0.95)
	if math.Abs(low-c.Low) > 1e-9*math.Abs(c.Low) || math.Abs(high-c.High) > 1e-9*math.Abs(c.High) {
		t.Fatalf("%+v: the interval of 95 %% is %v to %v", c, low, high)
	}
}

// Rows of groups that differ: told of them, intervals hold rows of a group never seen; not
// told, they hold rows of the same groups and are narrower.
func TestGroupsAreHeldOutWhole(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	m := classify.Matrix{Columns: []string{"a", "b", "c", "d"}}
	fresh := func(rows int, add func(row []float64)) {
		centre := []float64{40 + 20*rng.NormFloat64(), 40 + 20*rng.NormFloat64(), 40 + 20*rng.NormFloat64(), 40 + 20*rng.NormFloat64()}
		for range rows {
			row := make([]float64, 4)
			for j := range row {
				row[j] = centre[j] + rng.NormFloat64()
			}
			add(row)
		}
	}
	var groups []string
	for g := range 20 {
		fresh(6, func(row []float64) { m.Rows, groups = append(m.Rows, row), append(groups, fmt.Sprint(g)) })
	}
	told := m
	told.Groups = groups
	var held, width [2]float64
	const programs = 200
	for n, m := range []classify.Matrix{m, told} {
		model, err := get(t, "local").Fit(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range programs {
			fresh(1, func(row []float64) {
				cells, err := model.Complete([]float64{row[0], row[1], nan, nan}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for j := 2; j < 4; j++ {
					width[n] += cells[j].High - cells[j].Low
					if cells[j].Low <= row[j] && row[j] <= cells[j].High {
						held[n] += 100. / 2 / programs
					}
				}
			})
		}
	}
	t.Logf("told of groups, %.0f %% are held; not told, %.0f %%", held[1], held[0])
	if held[1] < 90 || held[0] > 80 || width[1] < 1.3*width[0] {
		t.Errorf("told %.0f %% are held, not told %.0f %%; widths %.0f and %.0f", held[1], held[0], width[1], width[0])
	}
	m.Groups = []string{"one"}
	if _, err := get(t, "local").Fit(m, 1); err == nil {
		t.Error("took the groups of one of many rows")
	}
}
