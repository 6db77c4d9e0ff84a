package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
)

func named(t *testing.T, names ...string) []classify.Descriptor {
	t.Helper()
	var out []classify.Descriptor
	for _, name := range names {
		d, err := classify.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// planted draws speeds from two hidden causes, runs times each cell with a
// relative spread; every row has its own unit, and rows come in groups of two.
func planted(seed uint64, rows, columns, runs int, spread float64) dataset.Set {
	rng := rand.New(rand.NewPCG(seed, seed))
	weights := make([][2]float64, columns)
	for j := range weights {
		weights[j] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	set := dataset.Set{Name: "planted", Kind: dataset.Heterogeneity, Ratio: true}
	for j := range columns {
		set.Columns = append(set.Columns, fmt.Sprint("c", j))
	}
	for i := range rows {
		a, b, unit := 0.4*rng.NormFloat64(), 0.2*rng.NormFloat64(), math.Exp(5*rng.NormFloat64())
		row := dataset.Row{Name: fmt.Sprint("r", i), Group: fmt.Sprint("g", i/2)}
		for j := range columns {
			var cell []float64
			for range runs {
				cell = append(cell, unit*math.Exp(0.1*float64(j)+a*weights[j][0]+b*weights[j][1]+spread*rng.NormFloat64()))
			}
			row.Cells = append(row.Cells, cell)
		}
		set.Rows = append(set.Rows, row)
	}
	return set
}

func figure(t *testing.T, l evaluate.Line, name string) float64 {
	t.Helper()
	f, ok := l.Figures[name]
	if !ok {
		t.Fatalf("%s has no %s", l.Classifier, name)
	}
	return f.Mean
}

// Delimitrou 2015, §4.3.2 (density): more cells, less error; learning beats the
// scaled mean; the floor is that of the noise that was put in.
func TestPlantedSet(t *testing.T) {
	t.Parallel()
	set := planted(1, 60, 8, 3, 0.02)
	errors := map[int]float64{}
	for _, entries := range []int{1, 2, 4} {
		o := evaluate.Defaults()
		o.Entries = entries
		r, err := evaluate.Run(context.Background(), set, named(t, "gauss", "mean"), o)
		if err != nil {
			t.Fatal(err)
		}
		errors[entries] = figure(t, r.Lines[0], evaluate.MeanError)
		if mean := figure(t, r.Lines[1], evaluate.MeanError); errors[entries] >= mean && entries > 1 {
			t.Errorf("%d cells: gauss %v, scaled mean %v", entries, errors[entries], mean)
		}
		if c := figure(t, r.Lines[0], evaluate.Covered); c < 90 {
			t.Errorf("%d cells: %v %% inside the 95 %% interval", entries, c)
		}
		// The median of three of N(0, σ²) has 0.67·σ, its magnitude a mean of
		// 0.535·σ: 1.07 % of σ = 2 %; a tenth for the few rows.
		if f := figure(t, *r.Floor, evaluate.MeanError); math.Abs(f-1.07) > 0.1 {
			t.Errorf("floor %v %%, want about 1.07", f)
		}
		if o := figure(t, *r.Others, evaluate.MeanError); o >= errors[entries] {
			t.Errorf("%v %% from all others, %v %% from %d", o, errors[entries], entries)
		}
		if r.Repeat != nil {
			t.Error("nothing was measured on another day")
		}
	}
	if !(errors[1] > errors[2] && errors[2] > errors[4]) {
		t.Errorf("errors by cells shown: %v", errors)
	}
}

// A set measured again without noise is repeated without error, up to the noise
// of the one shown run.
func TestRepeat(t *testing.T) {
	t.Parallel()
	set := planted(2, 10, 6, 1, 0)
	for i := range set.Rows {
		for _, cell := range set.Rows[i].Cells {
			set.Rows[i].Again = append(set.Rows[i].Again, 7*cell[0]) // another day, another level
		}
	}
	r, err := evaluate.Run(context.Background(), set, named(t, "mean"), evaluate.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if e := figure(t, *r.Repeat, evaluate.MeanError); e > 1e-9 {
		t.Errorf("error of repeating %v", e)
	}
	if b := figure(t, *r.Repeat, evaluate.BestFound); b != 100 {
		t.Errorf("best found %v %%", b)
	}
	if r.Floor != nil {
		t.Error("a floor from single runs")
	}
}

// The same arguments give the same report, for every way of drawing and leaving
// out.
func TestSameReportTwice(t *testing.T) {
	t.Parallel()
	set := planted(3, 12, 5, 2, 0.05)
	for _, draw := range []evaluate.Draw{evaluate.DrawRandom, evaluate.DrawFixed, evaluate.DrawPlanned} {
		for _, leave := range []evaluate.Leave{evaluate.LeaveRow, evaluate.LeaveGroup} {
			o := evaluate.Defaults()
			o.Draw, o.Leave, o.Seeds = draw, leave, []uint64{1, 2}
			var done int
			o.Progress = func(now, total int) { done = max(done, now) }
			first, err := evaluate.Run(context.Background(), set, named(t, "knn", "local"), o)
			if err != nil {
				t.Fatal(err)
			}
			again, err := evaluate.Run(context.Background(), set, named(t, "knn", "local"), o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(first, again) {
				t.Errorf("%s, %s: two reports", draw, leave)
			}
			if want := map[evaluate.Leave]int{evaluate.LeaveRow: 12, evaluate.LeaveGroup: 6}[leave]; done != want {
				t.Errorf("%s, %s: progress to %d of %d", draw, leave, done, want)
			}
		}
	}
}

func TestScoresHaveBandsAndNoBest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	set := dataset.Set{Name: "scores", Kind: dataset.Interference, Columns: []string{"a", "b", "c", "d"}}
	for i := range 20 {
		v := 100 * rng.Float64()
		row := dataset.Row{Name: fmt.Sprint(i), Cells: [][]float64{{v}, {v}, {0.8 * v}, nil}}
		if i%2 == 0 {
			row.Cells[3] = []float64{0.5 * v}
		}
		set.Rows = append(set.Rows, row)
	}
	r, err := evaluate.Run(context.Background(), set, named(t, "mean"), evaluate.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Lines[0].Figures[evaluate.BestFound]; ok {
		t.Error("scores have no best column")
	}
	for _, name := range []string{evaluate.BandLow, evaluate.BandMiddle, evaluate.BandHigh, evaluate.Under5} {
		figure(t, r.Lines[0], name)
	}
	if e := r.Lines[0].ByColumn["c"]; e > 1 { // proportional: exact but for which rows are left out
		t.Errorf("error in c: %v", e)
	}
}

// Scores are as certain as their intervals: E|N(0, 10²)| is 8 points, in the
// middle of the scale.
func TestFloorOfScores(t *testing.T) {
	t.Parallel()
	set := dataset.Set{Name: "scores", Kind: dataset.Interference, Columns: []string{"a", "b", "c"}}
	for i := range 40 {
		v := []float64{50}
		set.Rows = append(set.Rows, dataset.Row{Name: fmt.Sprint(i), Cells: [][]float64{v, v, v}, Deviation: []float64{10, 10, math.NaN()}})
	}
	run := func() evaluate.Report {
		r, err := evaluate.Run(context.Background(), set, named(t, "average"), evaluate.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if f := figure(t, *run().Floor, evaluate.MeanError); math.Abs(f-7.98) > 0.3 {
		t.Errorf("floor %v points, want about 8", f)
	}
	for i := range set.Rows {
		set.Rows[i].Deviation = nil
	}
	if r := run(); r.Floor != nil {
		t.Errorf("a floor without intervals: %+v", r.Floor)
	}
}

// The two widest columns say the same: to show both leaves another pair in the
// dark, to show one of each leaves only the column that nothing tells.
func TestChosenColumns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	set := dataset.Set{Name: "scores", Kind: dataset.Interference, Columns: []string{"own", "a", "a again", "b", "b again"}}
	for i := range 60 {
		own, a, b := 30*rng.Float64(), 60*rng.Float64(), 50*rng.Float64()
		row := dataset.Row{Name: fmt.Sprint(i)}
		for _, v := range []float64{own, a, a + rng.Float64(), b, b + rng.Float64()} {
			row.Cells = append(row.Cells, []float64{v})
		}
		set.Rows = append(set.Rows, row)
	}
	errors := map[evaluate.Draw]float64{}
	for _, draw := range []evaluate.Draw{evaluate.DrawRandom, evaluate.DrawWidest, evaluate.DrawPlanned, evaluate.DrawPair} {
		o := evaluate.Defaults()
		o.Draw = draw
		r, err := evaluate.Run(context.Background(), set, named(t, "gauss"), o)
		if err != nil {
			t.Fatal(err)
		}
		errors[draw] = r.Lines[0].ByColumn["b"] + r.Lines[0].ByColumn["b again"]
	}
	if !(errors[evaluate.DrawPair] < 5 && errors[evaluate.DrawPlanned] < 5 && errors[evaluate.DrawWidest] > 10) {
		t.Errorf("errors of b: %v", errors)
	}
}

// A row of which the others know no column is not planned for, and the rest is told
// all the same.
func TestPlannedWithoutTraining(t *testing.T) {
	t.Parallel()
	set := planted(7, 6, 5, 1, 0)
	set.Columns = append(set.Columns, "x", "y", "z")
	for i := range set.Rows {
		set.Rows[i].Cells = append(set.Rows[i].Cells, nil, nil, nil)
	}
	v := []float64{1}
	set.Rows = append(set.Rows, dataset.Row{Name: "alone", Group: "alone", Cells: [][]float64{nil, nil, nil, nil, nil, v, v, v}})
	o := evaluate.Defaults()
	o.Draw = evaluate.DrawPlanned
	r, err := evaluate.Run(t.Context(), set, named(t, "gauss"), o)
	if err != nil {
		t.Fatal(err)
	}
	if e := figure(t, r.Lines[0], evaluate.MeanError); !(e < 30) {
		t.Errorf("mean error of the others %v %%", e)
	}
}

func TestDrawsOfScoresOnly(t *testing.T) {
	t.Parallel()
	for _, draw := range []evaluate.Draw{evaluate.DrawPair, evaluate.DrawWidest} {
		o := evaluate.Defaults()
		o.Draw = draw
		if _, err := evaluate.Run(context.Background(), planted(1, 5, 5, 1, 0), named(t, "mean"), o); !errors.Is(err, evaluate.ErrDraw) {
			t.Errorf("%s: %v", draw, err)
		}
	}
}

func TestTooSmallAndCancelled(t *testing.T) {
	t.Parallel()
	o := evaluate.Defaults()
	for name, set := range map[string]dataset.Set{"one row": planted(5, 1, 5, 1, 0), "two columns": planted(5, 5, 2, 1, 0)} {
		if _, err := evaluate.Run(context.Background(), set, named(t, "mean"), o); !errors.Is(err, evaluate.ErrTooSmall) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := evaluate.Run(ctx, planted(6, 5, 5, 1, 0), named(t, "mean"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Ratings with offsets and one taste: the factorisation finds both.
func TestRatings(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	var all []pq.Entry
	film := make([][2]float64, 60)
	for j := range film {
		film[j] = [2]float64{0.5 * rng.NormFloat64(), rng.NormFloat64()}
	}
	for i := range 200 {
		kind, taste := 0.5*rng.NormFloat64(), 0.5*rng.NormFloat64()
		for j, f := range film {
			if rng.IntN(2) == 0 {
				stars := 3 + kind + f[0] + taste*f[1] + 0.2*rng.NormFloat64()
				all = append(all, pq.Entry{Row: i, Column: j, Value: min(5, max(0.5, stars))})
			}
		}
	}
	r, err := evaluate.Ratings(context.Background(), 200, 60, all, 0.5, 5, []uint64{1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Factors.Mean < r.Offsets.Mean && r.Offsets.Mean < r.Mean.Mean) {
		t.Errorf("%+v", r)
	}
	if _, err := evaluate.Ratings(context.Background(), 1, 1, nil, 0, 1, []uint64{1}, nil); !errors.Is(err, evaluate.ErrTooSmall) {
		t.Errorf("none: %v", err)
	}
}
