package ibench

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
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
		worker:     l, probe: l, load: &Load{},
	}
}

// The share displaced grows with the knob; sleeps overshoot, so only the order
// is asserted.
func TestOccupancyGrowsWithTheKnob(t *testing.T) {
	t.Parallel()
	g := leakyGauge(&leaky{slow: 20 * time.Millisecond})
	last := math.Inf(-1)
	for _, knob := range []float64{0, 50, 100} {
		got, err := g.impact(t.Context(), knob)
		if err != nil || got <= last || got > 150 {
			t.Errorf("at %v: %v, %v after %v", knob, got, err, last)
		}
		last = got
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestOccupancyThatIsNotNoticed(t *testing.T) {
	t.Parallel()
	// A kernel that displaces nothing; the probe takes the same time always, up
	// to a jitter below what counts as noticed.
	g := leakyGauge(&leaky{})
	g.probe = evenProbe{}
	if _, err := g.impact(t.Context(), 100); !errors.Is(err, errUnnoticed) {
		t.Errorf("nothing is displaced: %v", err)
	}
}

type evenProbe struct{}

func (evenProbe) lines() int   { return 1 }
func (evenProbe) prime()       {}
func (evenProbe) recall()      { time.Sleep(50 * time.Millisecond) }
func (evenProbe) Close() error { return nil }

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
	bench := &calibrationBench{ends: time.Now().Add(time.Hour), measure: func(knob float64) (float64, error) {
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
	bench := &calibrationBench{measure: func(float64) (float64, error) { calls++; return 0, nil }}
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
		bench := &calibrationBench{measure: slow, unit: unit}
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
