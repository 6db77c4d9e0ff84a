package ibench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// leaky is a kernel and a probe set at once: recalling takes longer the more
// the kernel has displaced.
type leaky struct {
	displaced, knob float64
	slow            time.Duration
	fails           error
}

func (l *leaky) Tune(u, _ float64) Pace { l.knob = u; return Pace{} }

func (l *leaky) Work(maxOps float64) (float64, error) {
	l.displaced = l.knob
	return maxOps, l.fails
}

func (l *leaky) lines() int   { return 64 }
func (l *leaky) prime()       { l.displaced = 0 }
func (l *leaky) recall()      { time.Sleep(time.Millisecond + time.Duration(l.displaced*float64(l.slow))) }
func (l *leaky) Close() error { return nil }

func leakyGauge(l *leaky) *occupancyGauge {
	return &occupancyGauge{
		descriptor: Descriptor{Dwell: time.Millisecond, Probe: func(Setup) (probeSet, error) { return l, nil }},
		worker:     l, probes: []probeSet{l}, lines: l.lines(), load: &Load{},
	}
}

// The share displaced is that of the knob. Time is that of a bubble, in which sleeps
// do not overshoot.
func TestOccupancyGrowsWithTheKnob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := leakyGauge(&leaky{slow: 20 * time.Millisecond})
		for _, knob := range []float64{0, 50, 100} {
			if got, err := g.impact(t.Context(), knob); err != nil || math.Abs(got-knob) > 1e-9 {
				t.Errorf("at %v: %v, %v", knob, got, err)
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A kernel that displaces less than what counts as noticed has no gauge here.
func TestOccupancyThatIsNotNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for slow, want := range map[time.Duration]error{
			0: errUnnoticed, 99 * time.Microsecond: errUnnoticed, 101 * time.Microsecond: nil,
		} {
			if _, err := leakyGauge(&leaky{slow: slow}).impact(t.Context(), 100); !errors.Is(err, want) {
				t.Errorf("a recall of 1 ms is longer by %s: %v, want %v", slow, err, want)
			}
		}
	})
}

func TestOccupancyPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	g := leakyGauge(&leaky{fails: broken})
	if _, err := g.impact(t.Context(), 50); !errors.Is(err, broken) {
		t.Errorf("a kernel that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := leakyGauge(&leaky{}).impact(ctx, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("no time left: %v", err)
	}
}

// A machine whose speed drifts in one direction looks straight, and a level
// that is disturbed once is measured again.
func TestSweepIgnoresDriftAndDisturbance(t *testing.T) {
	t.Parallel()
	calls := 0
	bench := &calibrationBench{passes: sweepPasses, ends: time.Now().Add(time.Hour), measure: func(knob float64) (float64, error) {
		calls++
		switch {
		case calls <= 2 && knob == 0:
			return 30, nil // the very first one
		case calls > 40:
			return knob, nil
		}
		return knob * (1 + 0.001*float64(20-calls)), nil
	}}
	knobs := steps(curveStepPercent)
	got, err := bench.sweep(knobs, knobs)
	if err != nil {
		t.Fatal(err)
	}
	if gap := maxGap(knobs, got); gap > doubtPercent {
		t.Errorf("%v off after %d measurements: %.1f", gap, calls, got)
	}
	if calls < sweepPasses*len(knobs) {
		t.Errorf("%d measurements with all the time of the world", calls)
	}
}

func TestSweepWithoutTimeMeasuresOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	bench := &calibrationBench{passes: sweepPasses, measure: func(float64) (float64, error) { calls++; return 0, nil }}
	if _, err := bench.sweep([]float64{0, 50, 100}, []float64{0, 50, 100}); err != nil || calls != 3 {
		t.Errorf("%d measurements, %v", calls, err)
	}
	broken := errors.New("broken")
	bench.measure = func(float64) (float64, error) { return 0, broken }
	if _, err := bench.sweep([]float64{0}, []float64{0}); !errors.Is(err, broken) {
		t.Errorf("a failing measurement: %v", err)
	}
}

// Duty kernels count in units of their own top speed, others do not.
func TestSweepUnit(t *testing.T) {
	t.Parallel()
	slow := func(knob float64) (float64, error) { return 0.8 * knob, nil }
	for unit, want := range map[bool][]float64{true: {0, 50, 100}, false: {0, 40, 80}} {
		bench := &calibrationBench{passes: sweepPasses, measure: slow, unit: unit}
		if got, err := bench.sweep([]float64{0, 50, 100}, []float64{0, 50, 100}); err != nil || !slices.Equal(got, want) {
			t.Errorf("unit %v: %v, %v", unit, got, err)
		}
	}
}

func TestRSquared(t *testing.T) {
	t.Parallel()
	x := []float64{0, 50, 100}
	// Mean 50: total 5000; a middle that is 10 off is a residual of 100.
	if got := rSquared([]float64{0, 40, 60, 100}, []float64{0, 50, 50, 100}); got != 1-200.0/5000 {
		t.Errorf("two points 10 off: %v", got)
	}
	if got := rSquared(x, x); got != 1 {
		t.Errorf("the line itself: %v", got)
	}
	if got := rSquared(x, []float64{100, 50, 0}); got != -3 {
		t.Errorf("the opposite: %v, want -3", got)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	knobs, impacts := merge([]float64{0, 50, 100}, []float64{0, 20, 100}, []float64{70, 50}, []float64{60, 22})
	if !slices.Equal(knobs, []float64{0, 50, 50, 70, 100}) || !slices.Equal(impacts, []float64{0, 20, 22, 60, 100}) {
		t.Errorf("%v, %v", knobs, impacts)
	}
}

func TestMidmean(t *testing.T) {
	t.Parallel()
	if !math.IsNaN(midmean(nil)) || midmean([]float64{3}) != 3 || midmean([]float64{1, 2, 4, 1000}) != 3 {
		t.Errorf("%v, %v", midmean([]float64{3}), midmean([]float64{1, 2, 4, 1000}))
	}
}

// Levels below the top are shares of a peak that was measured too high at first.
func TestToppedCorrectsThePeak(t *testing.T) {
	t.Parallel()
	const real = 80.0
	peak := 100.0
	bench := &calibrationBench{
		passes:  sweepPasses,
		ends:    time.Now().Add(time.Hour),
		measure: func(knob float64) (float64, error) { return 100 * min(real, knob/100*peak) / peak, nil },
		correct: func(factor float64) { peak *= factor },
	}
	knobs := steps(curveStepPercent)
	got, err := bench.topped(knobs)
	if err != nil || math.Abs(peak-real) > 1e-9 {
		t.Errorf("the peak is %v, %v; want %v", peak, err, real)
	}
	if gap := maxGap(knobs, got); gap > 1e-9 {
		t.Errorf("%v off: %.1f", gap, got)
	}
}

// A reason says whether the kernel bends or the machine is disturbed.
func TestJudgeSaysWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gap, rSquared, scatter float64
		says                   string // empty is supported
	}{
		{4, 0.99, 9, ""},
		{7, 0.99, 9, "something else uses"},
		{7, 0.99, 1, "how the kernel works"},
		{7, 0.99, math.NaN(), "no time to measure"},
		{4, 0.97, 1, "R² is 0.970"},
	} {
		sc := SourceCalibration{Status: StatusSupported, MaxGapPercent: c.gap, RSquared: c.rSquared}
		sc.judge(c.scatter)
		if (sc.Status == StatusSupported) != (c.says == "") || !strings.Contains(sc.Reason, c.says) {
			t.Errorf("%+v: %s, %q", c, sc.Status, sc.Reason)
		}
	}
}

// The time of a cache that others use climbs slowly: half of what it serves is
// its knee.
func TestHalfKnee(t *testing.T) {
	t.Parallel()
	climb := func(first, last float64) []KneeSample {
		var out []KneeSample
		for _, size := range kneeSizes(1<<20, 64<<20, 64) {
			share := (float64(size) - first) / (last - first)
			out = append(out, KneeSample{Bytes: size, NsPerAccess: 2 + 18*min(1, max(0, share))})
		}
		return out
	}
	for _, c := range []struct{ first, last float64 }{{4 << 20, 12 << 20}, {7 << 20, 9 << 20}} {
		got, ok := HalfKnee(climb(c.first, c.last))
		if want := (c.first + c.last) / 2; !ok || math.Abs(float64(got)/want-1) > 0.1 {
			t.Errorf("climbs from %.0f to %.0f: knee %d, %v", c.first, c.last, got, ok)
		}
	}
	flat := climb(1<<40, 2<<40)
	if got, ok := HalfKnee(flat); ok {
		t.Errorf("a flat sweep has a knee at %d", got)
	}
	if _, ok := HalfKnee(flat[:5]); ok {
		t.Error("a knee out of five samples")
	}
}
