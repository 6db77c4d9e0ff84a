package predict_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// With t = 40 and the formula, half of the way from .95 to .5 is kept at 70.
func TestToleranceAtTarget(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{40}, []float64{0}), nil)
	for needs, want := range map[float64]float64{0: 100, 0.3: 100, 0.725 * 0.95: 70, 0.95 * 0.95: 40} {
		most := predict.ToleranceAtTarget(k, columns, 5, &needs, 0)
		if want == 40 {
			if most != nil {
				t.Errorf("a target at the bound stands %v, want no more than tolerated", most)
			}
			continue
		}
		e := most[columns[0]]
		got, ok := e.Score.Percent()
		low, _ := e.Low.Percent()
		if !ok || got < want-0.1 || got > want+0.1 || low > got || low < 40 && needs > 0 || e.Note == "" {
			t.Errorf("needs %g: %+v, want %g", needs, e, want)
		}
	}
}

func TestWhatIsUnknownToleratesNothingMore(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	known := clustertest.Knowledge(clustertest.Sensitivity(columns[:1], []float64{40}, []float64{0}), nil)
	if _, ok := predict.ToleranceAtTarget(known, columns, 5, new(0.2), 0)[columns[1]]; ok {
		t.Error("an unknown score became known by the target")
	}
	if got, _ := predict.ToleranceAtTarget(known, columns, 5, new(0.0), 0)[columns[1]].Score.Percent(); got != 100 {
		t.Errorf("best effort stands %g", got)
	}
}

// A 99th percentile leaves one request of a hundred, where the score allows for five: by the
// formula 1 − 0.05·(X/t)² that is t/√5.
func TestABoundOnALatencyLeavesLess(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{40}, []float64{0}), nil)
	for late, want := range map[float64]float64{1: 17, 3: 30, 5: 40} {
		for _, needs := range []*float64{new(0.5), new(1.0), nil} {
			e := predict.ToleranceAtTarget(k, columns, 5, needs, late)[columns[0]]
			if got, ok := e.Score.Percent(); !ok || got < want-1.5 || got > want+1.5 || e.Note == "" {
				t.Errorf("%g %% late, needs %v: %+v, want %g", late, needs, e, want)
			}
		}
	}
}

// A 90th percentile may lose more than the score allows for, however little of its speed it needs.
func TestALooseBoundOnALatency(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{40}, []float64{0}), nil)
	got, _ := predict.ToleranceAtTarget(k, columns, 5, new(0.1), 10)[columns[0]].Score.Percent()
	if got <= 40 || got >= 70 {
		t.Errorf("tolerates %g, want between the score of 40 and what it needs of its speed", got)
	}
}

// A level that was measured counts, not the formula.
func TestAMeasuredCurveGivesTheToleranceAtTarget(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{10}, []float64{0}), nil)
	k.Ramp = ramp(columns[0], [2]float64{10, 0.95}, [2]float64{50, 0.5}, [2]float64{90, 0.1})
	got, _ := predict.ToleranceAtTarget(k, columns, 5, new(0.3*0.95), 0)[columns[0]].Score.Percent()
	near(t, "between the levels", float64(int(got+0.5)), 70)
}

// Who works a tenth of its time is hardly slowed by neighbours that leave it half of a
// CPU, whatever a kernel did by force; capacity is not shared by time.
func TestWhoRestsIsStretchedOnlyWhileItWorks(t *testing.T) {
	t.Parallel()
	for source, want := range map[interference.Source]float64{interference.Integer: 1 / (0.9 + 0.1/0.5), interference.LLCCapacity: 0.5} {
		columns := []interference.Source{source}
		k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{10}, []float64{0}), nil)
		k.Ramp = ramp(source, [2]float64{10, 0.95}, [2]float64{50, 0.5}, [2]float64{90, 0.1})
		k.DutyCycle = 0.1
		near(t, string(source), predict.Prepare(k, columns, 5).Share([]float64{50}).Value, want)
		k.DutyCycle = 0
		near(t, string(source)+", unknown", predict.Prepare(k, columns, 5).Share([]float64{50}).Value, 0.5)
	}
}
