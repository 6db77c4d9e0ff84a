package predict_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func prepare(k *cluster.Knowledge, columns []interference.Source) *predict.Curves {
	return predict.Prepare(k, columns, 5)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The formula of iBench §2.9 with t = 40, bound 5 %: f(20) = 1 − .05/4, f(40) =
// .95, f(70) half way from .95 to .5, f(100) = .5.
func TestFormula(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{40}, []float64{0}), nil)
	p := prepare(k, columns)
	for pressure, want := range map[float64]float64{0: 1, 20: 0.9875, 40: 0.95, 70: 0.725, 100: 0.5, 250: 1 / 3.5} {
		s := p.Share([]float64{pressure})
		near(t, "share", s.Value, want)
		if !s.Known || s.Low > s.Value || s.High < s.Value {
			t.Errorf("at %v: %+v", pressure, s)
		}
	}
	near(t, "low at full pressure", p.Share([]float64{100}).Low, 0.1)
	near(t, "high at full pressure", p.Share([]float64{100}).High, 0.9)
}

// From scores alone, Kept is what the curves say, up to full
// pressure.
func TestKept(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	columns := clustertest.Columns(4)
	for range 300 {
		tolerated, pressure := make([]float64, 4), make([]float64, 4)
		for k := range columns {
			tolerated[k], pressure[k] = 100*rng.Float64(), max(0, 150*rng.Float64()-50)
		}
		k := clustertest.Knowledge(clustertest.Sensitivity(columns, tolerated, tolerated), nil)
		want := prepare(k, columns).Share(pressure).Value
		near(t, "kept", predict.Kept(tolerated, pressure, 0.05), want)
	}
}

func TestEdgeScores(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	robust := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{100}, []float64{0}), nil)
	near(t, "t = 100 at full pressure", prepare(robust, columns).Share([]float64{100}).Value, 0.95)
	fragile := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{0}, []float64{0}), nil)
	p := prepare(fragile, columns)
	near(t, "t = 0 alone", p.Share([]float64{0}).Value, 1)
	near(t, "t = 0 at full pressure", p.Share([]float64{100}).Value, 0.5)
}

func ramp(s interference.Source, levels ...[2]float64) []profile.RampPoint {
	var out []profile.RampPoint
	for _, l := range levels {
		ratio, low, high := l[1], l[1]-0.01, l[1]+0.01
		out = append(out, profile.RampPoint{Source: s, IntensityPercent: l[0], WorkloadRatio: &ratio, WorkloadLow: &low, WorkloadHigh: &high})
	}
	return out
}

// A measured ramp is used where there is one; noise upwards is flattened, and
// the order of the levels does not matter.
func TestMeasuredRamp(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{45}, []float64{0}), nil)
	k.Ramp = ramp(columns[0], [2]float64{60, 0.9}, [2]float64{20, 1.02}, [2]float64{40, 0.97}, [2]float64{50, 0.98})
	k.Ramp = append(k.Ramp, profile.RampPoint{Source: columns[0], IntensityPercent: 80}) // not measured
	p := prepare(k, columns)
	for pressure, want := range map[float64]float64{10: 1, 20: 1, 30: 0.985, 40: 0.97, 50: 0.97, 55: 0.935, 60: 0.9, 80: 0.7, 100: 0.5} {
		s := p.Share([]float64{pressure})
		near(t, "share", s.Value, want)
		if s.Low > s.Value || s.High < s.Value {
			t.Errorf("at %v: %+v", pressure, s)
		}
	}
}

// Several co-runners that each exert full pressure share a source alike: where one leaves a
// half, three leave a quarter.
func TestMoreThanFullPressure(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer}
	k := &cluster.Knowledge{Ramp: ramp(interference.Integer, [2]float64{50, 0.8}, [2]float64{100, 0.5})}
	p := prepare(k, columns)
	for pressure, want := range map[float64]float64{50: 0.8, 100: 0.5, 200: 1.0 / 3, 300: 0.25} {
		near(t, "share", p.Share([]float64{pressure}).Value, want)
	}
}

// A ramp that ended early because the workload never lost its bound goes on
// towards the bound, not towards half.
func TestRampOfARobustWorkload(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{100}, []float64{0}), nil)
	k.Ramp = ramp(columns[0], [2]float64{50, 0.99})
	near(t, "share", prepare(k, columns).Share([]float64{100}).Value, 0.95)
}

func TestTheScarcestSourceDecides(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{50, 40, 100}, []float64{0, 0, 0}), nil)
	pressure := []float64{50, 70, 0}
	share := prepare(k, columns).Share(pressure)
	near(t, "share", share.Value, 0.725)
	if share.Source != columns[1] {
		t.Errorf("scarcest is %s, want %s", share.Source, columns[1])
	}
}

// Unknown is not robust: a pressed source of unknown response takes the lower
// bound down, and alone makes the share unknown.
func TestUnknownResponse(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	k := clustertest.Knowledge(interference.Sensitivity{Tolerated: clustertest.Scores(columns[:1], 50)}, nil)
	p := prepare(k, columns)
	if s := p.Share([]float64{0, 30}); s.Known {
		t.Errorf("known from nothing: %+v", s)
	}
	s := p.Share([]float64{50, 30})
	near(t, "value", s.Value, 0.95)
	near(t, "low", s.Low, 0.1)
	if !s.Known || !p.Share([]float64{0, 0}).Known {
		t.Error("unknown where nothing unknown presses")
	}
}

func TestPerformance(t *testing.T) {
	t.Parallel()
	k := clustertest.Knowledge(interference.Sensitivity{}, map[string]float64{"big": 200})
	share := predict.Share{Value: 0.9, Low: 0.8, High: 1, Known: true}
	p := predict.Performance(k, "big", "units/s", share)
	if !p.Known || p.RatePerSec != 180 || p.Low != 160 || p.High != 200 || p.Unit != "units/s" {
		t.Errorf("%+v", p)
	}
	if p := predict.Performance(k, "small", "units/s", share); p.Known {
		t.Error("known on a configuration without a speed")
	}
	if p := predict.Performance(k, "big", "units/s", predict.Share{}); p.Known {
		t.Error("known with an unknown share")
	}
	k.Speed["big"] = profile.Measurement{Value: 200, Low: math.NaN()}
	if p := predict.Performance(k, "big", "units/s", share); p.Low != 0 || p.High != 400 {
		t.Errorf("without an interval: %+v", p)
	}
}

// More pressure never helps, and the interval holds the value.
func TestMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		columns := clustertest.Columns(3)
		k := clustertest.Knowledge(clustertest.RandomScores(rng, columns), nil)
		if rng.IntN(2) == 0 {
			k.Ramp = ramp(columns[0], [2]float64{100 * rng.Float64(), 1.1 * rng.Float64()}, [2]float64{100 * rng.Float64(), 1.1 * rng.Float64()})
		}
		p := prepare(k, columns)
		a := []float64{120 * rng.Float64(), 120 * rng.Float64(), 120 * rng.Float64()}
		b := slices.Clone(a)
		b[rng.IntN(3)] += 50 * rng.Float64()
		less, more := p.Share(a), p.Share(b)
		if more.Value > less.Value+1e-12 {
			rt.Fatalf("pressure %v gives %v, %v gives %v", a, less.Value, b, more.Value)
		}
		if less.Low > less.Value || less.High < less.Value || less.Low < 0 || less.High > 1 {
			rt.Fatalf("%+v", less)
		}
	})
}
