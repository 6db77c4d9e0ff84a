package classify

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A measurement never widens what is known, never gives more than both say together, and is
// believed where they are at odds.
func TestMeasuredCells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value, noise := rapid.Float64Range(0, 100).Draw(t, "value"), rapid.Float64Range(0.1, 60).Draw(t, "noise")
		others := belief{rapid.Float64Range(-20, 120).Draw(t, "mean"), rapid.Float64Range(0.1, 60).Draw(t, "deviation")}
		c := measuredCell(value, noise, others)
		half := (c.High - c.Low) / 2
		if math.IsNaN(c.Value) || !(c.Low <= c.Value && c.Value <= c.High) {
			t.Fatalf("%+v", c)
		}
		if half > normal95*noise*(1+1e-9) {
			t.Fatalf("%+v is wider than what was measured", c)
		}
		if half < normal95/math.Sqrt(1/(noise*noise)+1/(others.deviation*others.deviation))*(1-1e-9) {
			t.Fatalf("%+v is narrower than what both say", c)
		}
		atOdds := math.Abs(value-others.mean) > apart*math.Hypot(noise, others.deviation)
		if !atOdds && half > normal95*others.deviation*(1+1e-9) {
			t.Fatalf("%+v is wider than what was known before", c)
		}
		if atOdds && math.Abs(c.Value-value) > apart*noise*(1+1e-9) {
			t.Fatalf("%+v does not hold the measurement", c)
		}
	})
}

// Whatever posterior a model gives, no cell is NaN.
func TestPosteriorsAreNumbers(t *testing.T) {
	t.Parallel()
	if c := posterior(1, 1, 2.5, 1.12e-154, math.NaN()); c.Value != 1 {
		t.Errorf("of a deviation that squared is next to no number: %+v", c)
	}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]float64{math.NaN(), 0, 1, 5, 1e6}).Draw(t, "width")
		c := posterior(rapid.Float64Range(0, 100).Draw(t, "value"), rapid.Float64Range(0.01, 1e6).Draw(t, "noise"),
			rapid.Float64Range(-1e3, 1e3).Draw(t, "mean"), rapid.Float64Range(0, 1e6).Draw(t, "deviation"), width)
		if math.IsNaN(c.Value) || math.IsNaN(c.Low) || math.IsNaN(c.High) {
			t.Fatalf("%+v", c)
		}
	})
}
