package curve_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

const source = interference.LLCCapacity

// point is a level of a ramp whose ratio is within so much, on both sides.
func point(intensity, ratio, within float64) profile.RampPoint {
	low, high := ratio*(1-within), ratio*(1+within)
	return profile.RampPoint{Source: source, IntensityPercent: intensity, Pairs: 6,
		WorkloadRatio: &ratio, WorkloadLow: &low, WorkloadHigh: &high, KernelRatio: &ratio, KernelLow: &low, KernelHigh: &high}
}

func measured(t testing.TB, side curve.Side, ramp ...profile.RampPoint) curve.Curve {
	t.Helper()
	c, ok := curve.Measured(ramp, source, side)
	if !ok {
		t.Fatal("the ramp says nothing")
	}
	return c
}

func width(e interference.Estimate) float64 {
	w, _ := e.Within().Width()
	return w
}

// What a run said of itself and what its ramp says afterwards agree.
func TestRampsSayWhatTheirRunsSaid(t *testing.T) {
	t.Parallel()
	rows, err := training.Load()
	if err != nil {
		t.Fatal(err)
	}
	compared, apart := 0, 0
	for i, p := range rows {
		if i%4 != 0 {
			continue // a quarter of them tells
		}
		for side, scores := range map[curve.Side]interference.Scores{curve.Workload: p.Sensitivity.Tolerated, curve.Kernel: p.Sensitivity.Caused} {
			for s, e := range scores {
				c, ok := curve.Measured(p.Ramp, s, side)
				if !ok || !e.Score.Known() {
					continue
				}
				compared++
				if math.Abs(c.Estimate(curve.BoundOf(&p)).Score.Or(0)-e.Score.Or(0)) > 5 {
					apart++
				}
			}
		}
	}
	if compared < 150 || apart > compared/20 {
		t.Errorf("%d of %d scores are more than a step from what the ramp says", apart, compared)
	}
}

// A large loss at full pressure says where a small one begins.
func TestALargeLossAtFullPressureInformsTheScore(t *testing.T) {
	t.Parallel()
	for _, side := range []curve.Side{curve.Workload, curve.Kernel} {
		nothing, large := measured(t, side, point(100, 0.9, 2)).Estimate(curve.Bound), measured(t, side, point(100, 0.3, 0.1)).Estimate(curve.Bound)
		if !(width(large) < 0.8*width(nothing)) {
			t.Errorf("side %d: %+v after a large loss, %+v after nothing", side, large, nothing)
		}
	}
}

// Scores at other bounds follow from the same curve: the larger the loss allowed, the more is
// tolerated, and the less counts as caused.
func TestOtherBounds(t *testing.T) {
	t.Parallel()
	ramp := []profile.RampPoint{point(20, 0.99, 0.01), point(40, 0.95, 0.01), point(60, 0.85, 0.01), point(80, 0.7, 0.01), point(100, 0.5, 0.01)}
	for bound, want := range map[float64]float64{1: 20, 5: 40, 15: 60, 30: 80} {
		if got := measured(t, curve.Workload, ramp...).Estimate(bound).Score.Or(0); math.Abs(got-want) > 6 {
			t.Errorf("tolerates %.1f points at %g %%, want about %g", got, bound, want)
		}
		if got := measured(t, curve.Kernel, ramp...).Estimate(bound).Score.Or(0); math.Abs(got-(100-want)) > 6 {
			t.Errorf("causes %.1f points at %g %%, want about %g", got, bound, 100-want)
		}
	}
}

// The whole curve follows what is believed of its score, to the same score.
func TestABeliefMovesTheWholeCurve(t *testing.T) {
	t.Parallel()
	c := measured(t, curve.Workload, point(50, 0.93, 0.2), point(100, 0.8, 0.2)).Given(70, 5)
	score := c.Estimate(curve.Bound).Score.Or(0)
	if score < 55 || score > 75 {
		t.Fatalf("tolerates %.1f points", score)
	}
	last := 2.0
	for _, p := range c.Points(source) {
		kept := *p.WorkloadRatio
		if x := p.IntensityPercent; x < score-curve.Step && kept < 0.945 || x > score+curve.Step && kept > 0.955 || kept > last+1e-9 {
			t.Errorf("keeps %.3f under %g points and tolerates %.1f", kept, x, score)
		}
		last = kept
	}
}

// Where the measurement and what is believed are far apart, the measurement prevails.
func TestMeasurementPrevails(t *testing.T) {
	t.Parallel()
	c := measured(t, curve.Workload, point(5, 0.99, 0.01), point(10, 0.9, 0.01), point(50, 0.6, 0.02), point(100, 0.3, 0.05))
	if got := c.Given(95, 2).Estimate(curve.Bound); got.Score.Or(100) > 15 || got.High.Or(100) > 25 {
		t.Errorf("measured %+v, and after a belief of 95 points it is %+v", c.Estimate(curve.Bound), got)
	}
}

// Whatever a ramp claims, and whatever is believed: no NaN, no interval upside down, the
// belief in nothing changes nothing, and evidence is never more certain than a step of the
// ramp allows.
func TestHostileRamps(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1.2), rapid.SampledFrom([]float64{0, 1, -1, 1e-300, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		var ramp []profile.RampPoint
		for range rapid.IntRange(1, 6).Draw(t, "levels") {
			p := point(rapid.OneOf(rapid.Float64Range(0, 100), number).Draw(t, "intensity"), number.Draw(t, "ratio"), number.Draw(t, "within"))
			p.Pairs = rapid.Int().Draw(t, "pairs")
			ramp = append(ramp, p)
		}
		for _, side := range []curve.Side{curve.Workload, curve.Kernel} {
			c, ok := curve.Measured(ramp, source, side)
			if !ok {
				continue
			}
			if points, deviation, ok := c.Evidence(); ok && (!(points >= 0 && points <= 100) || !(deviation >= curve.Step/math.Sqrt(12)-1e-9) || math.IsInf(deviation, 0)) {
				t.Fatalf("evidence of %v ± %v", points, deviation)
			}
			given := c.Given(rapid.Float64Range(-50, 150).Draw(t, "mean"), rapid.Float64Range(0.1, 100).Draw(t, "deviation"))
			for _, e := range []interference.Estimate{c.Estimate(curve.Bound), c.Estimate(12), given.Estimate(curve.Bound), given.Estimate(12)} {
				if !(e.Low.Or(-1) <= e.Score.Or(-2) && e.Score.Or(200) <= e.High.Or(-1)) {
					t.Fatalf("side %d: %+v of %+v", side, e, ramp)
				}
			}
			for _, p := range given.Points(source) {
				for _, v := range []*float64{p.WorkloadRatio, p.KernelRatio} {
					if v != nil && !(*v > 0 && *v < 10) {
						t.Fatalf("keeps %v under %v", *v, p.IntensityPercent)
					}
				}
			}
		}
	})
}

// What is completed leaves the profile as it was.
func TestCompleted(t *testing.T) {
	t.Parallel()
	p := profile.Profile{SlowdownMax: 5, Ramp: []profile.RampPoint{point(100, 0.4, 0.3)}}
	p.Sensitivity.Tolerated = interference.Scores{source: {Note: "too wide"}, interference.TLB: {Note: "no kernel"}}
	got := curve.Completed(p)
	if e := got.Sensitivity.Tolerated[source]; !e.Score.Known() || e.Origin != interference.Measured || e.Note != "too wide" || width(e) < 30 {
		t.Errorf("completed to %+v", e)
	}
	if got.Sensitivity.Tolerated[interference.TLB].Score.Known() || p.Sensitivity.Tolerated[source].Score.Known() {
		t.Errorf("%+v of %+v", got.Sensitivity, p.Sensitivity)
	}
}

func BenchmarkMeasured(b *testing.B) {
	ramp := []profile.RampPoint{point(10, 1, 0.05), point(25, 0.97, 0.05), point(50, 0.9, 0.05), point(75, 0.8, 0.05), point(100, 0.6, 0.05)}
	for b.Loop() {
		curve.Measured(ramp, source, curve.Workload)
	}
}
