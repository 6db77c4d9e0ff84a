package calibration

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

var unknown = math.NaN()

// two programs on three configurations and two sources.
func two() *Drawn {
	return &Drawn{Judged: []Judged{
		{
			Application: &truth.Application{Class: "ST", Isolated: []float64{100, 80, 50}},
			Rows: estimator.Rows{
				Speed:     estimator.Row{Measured: []float64{101, unknown, unknown}, Completed: []float64{101, 84, 49}},
				Tolerated: estimator.Row{Measured: []float64{20, unknown}, Completed: []float64{20, 50}},
			},
			Cells: estimator.Cells{Speed: []float64{99, 102, 50}, Tolerated: []float64{25, 40}},
			Again: estimator.Cells{Tolerated: []float64{20, 42}},
		},
		{
			Application: &truth.Application{Class: "MT", Isolated: []float64{96, 100, 90}},
			Rows: estimator.Rows{
				Speed:     estimator.Row{Measured: []float64{unknown, unknown, 90}, Completed: []float64{99, 97, 90}},
				Tolerated: estimator.Row{Measured: []float64{unknown, 90}, Completed: []float64{80, 90}},
			},
			Cells: estimator.Cells{Speed: []float64{96, 100, 90}, Tolerated: []float64{83, 90}},
			Again: estimator.Cells{Tolerated: []float64{83, 85}},
		},
		{Application: &truth.Application{Class: "MT", Isolated: []float64{1, 2, 3}}}, // nothing could be said of it
	}}
}

func TestQuantities(t *testing.T) {
	t.Parallel()
	st := of("ST")
	for name, c := range map[string]struct{ got, want float64 }{
		"best found":                 {all.within(0)(two()), 50},
		"within 5 %":                 {all.within(0.05)(two()), 100},
		"of those who measured all":  {all.measuredWithin(0)(two()), 50},
		"ranking right":              {all.ranked(0)(two()), 50},
		"but for one exchange":       {all.ranked(1)(two()), 100},
		"best was measured":          {all.bestWasMeasured(two()), 50},
		"gain":                       {all.gain(two()), (100*(100/(230./3)-1) + 100*(96/(286./3)-1)) / 2},
		"error of a speed":           {all.speedError(two()), (5 + 2 + 3.125 + 3) / 4},
		"of one class":               {st.speedError(two()), 3.5},
		"nine of ten":                {all.ninthSpeedError(two()), 3.5},
		"error of a score":           {all.scoreError(tolerated, anyScore)(two()), (10 + 3) / 2.},
		"of low ones":                {all.scoreError(tolerated, below(60))(two()), 10},
		"of high ones":               {all.scoreError(tolerated, above(60))(two()), 3},
		"of measuring again":         {all.measuredScoreError(tolerated)(two()), (5 + 2 + 0 + 5) / 4.},
		"programs under five points": {all.under(5)(two()), 50},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	for name, got := range map[string]float64{
		"speeds": of("IO").speedError(two()), "shares": of("IO").within(0)(two()), "scores": of("IO").scoreError(caused, anyScore)(two()), "gain": of("IO").gain(two()),
		"nine of ten": of("IO").ninthSpeedError(two()),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s of no program: %v", name, got)
		}
	}
}

func TestMeanCorrelation(t *testing.T) {
	t.Parallel()
	var rows [][]float64
	for i := range 10 {
		x := float64(i)
		rows = append(rows, []float64{x, 2*x + 1, 5, -x}) // the third says nothing
	}
	if got := meanCorrelation(rows); math.Abs(got+1/3.) > 1e-9 {
		t.Errorf("%v", got)
	}
	if !math.IsNaN(meanCorrelation(nil)) || !math.IsNaN(meanCorrelation(rows[:leastTogether-1])) {
		t.Error("something is said of too few rows")
	}
}

// The measured rows are what the constant says.
func TestMeasuredCorrelation(t *testing.T) {
	t.Parallel()
	profiles, err := training.Load()
	if err != nil {
		t.Fatal(err)
	}
	var columns []interference.Source
	for _, info := range interference.Sources() {
		if truth.InHierarchy(info.Source) {
			columns = append(columns, info.Source)
		}
	}
	var rows [][]float64
	for i := range profiles {
		rows = append(rows, profiles[i].Sensitivity.Tolerated.Vector(columns))
	}
	if got := meanCorrelation(rows); math.Abs(got-measuredCorrelation) > 0.005 {
		t.Errorf("%d rows: %.3f, the constant is %v", len(rows), got, measuredCorrelation)
	}
}

// A bound that is broken weighs more than an aim that is missed, and sides count.
func TestMisfit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s           Statistic
		v, misfit   float64
		holds, near bool
	}{
		{Statistic{Published: 90, Tolerance: 2, Side: AtLeast}, 92, 0, true, true},
		{Statistic{Published: 90, Tolerance: 2, Side: AtLeast}, 96, 4, true, true},
		{Statistic{Published: 90, Tolerance: 2, Side: AtLeast}, 88, 4 + 2*boundWeight, false, true},
		{Statistic{Published: 90, Tolerance: 2, Side: AtLeast, Use: Fitted}, 86, 9, false, false},
		{Statistic{Published: 3.8, Tolerance: 0.4, Side: AtMost}, 3.4, 0, true, true},
		{Statistic{Published: 3.8, Tolerance: 0.4, Side: AtMost}, 4.6, 9 + 6*boundWeight, false, false},
		{Statistic{Published: 60, Tolerance: 5}, 62.5, 0.25, true, true},
		{Statistic{Published: 60, Tolerance: 5}, 50, 4 + 2*boundWeight, false, true},
	} {
		if got := c.s.misfit(c.v); math.Abs(got-c.misfit) > 1e-9 || c.s.holds(c.v) != c.holds || c.s.Near(c.v) != c.near {
			t.Errorf("%+v at %v: misfit %v, holds %v, near %v", c.s, c.v, got, c.s.holds(c.v), c.s.Near(c.v))
		}
	}
}
