package kalman_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/kalman"
)

// The gain and the variance tend to what the closed form says.
func TestSteadyState(t *testing.T) {
	t.Parallel()
	for _, reading := range []float64{0.04, 0.22} {
		f := kalman.Filter{Variance: 1, Step: 5e-4, Reading: reading}
		gain := 0.0
		for range 2000 {
			gain, _ = f.Update(0.3)
		}
		variance, want := kalman.Steady(5e-4, reading)
		if math.Abs(gain-want) > 1e-9 || math.Abs(f.Variance+f.Step-variance) > 1e-9 {
			t.Errorf("R = %v: gain %v, variance %v; want %v, %v", reading, gain, f.Variance+f.Step, want, variance)
		}
	}
}

// What is no number changes nothing.
func TestBadReading(t *testing.T) {
	t.Parallel()
	for _, z := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		f := kalman.Filter{Value: 0.2, Variance: 0.5, Step: 5e-4, Reading: 0.04}
		before := f
		if _, err := f.Update(z); !errors.Is(err, kalman.ErrReading) || f != before {
			t.Errorf("reading %v: %v, %+v", z, err, f)
		}
	}
}

// The filter follows a constant through noise better than the readings do.
func TestFilterBeatsReadings(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	f := kalman.Filter{Variance: 1, Step: 5e-4, Reading: 0.04}
	raw, filtered := 0.0, 0.0
	for range 5000 {
		z := 0.15 + 0.2*random.NormFloat64()
		if _, err := f.Update(z); err != nil {
			t.Fatal(err)
		}
		raw += math.Abs(z - 0.15)
		filtered += math.Abs(f.Value - 0.15)
	}
	if filtered > 0.4*raw {
		t.Errorf("error %.1f filtered, %.1f raw: want at most 0.4 of it (the steady state leaves 0.24 of the deviation)", filtered, raw)
	}
}
