package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

func line(slope, noise float64, n int, outliers bool) []stat.Point {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	out := make([]stat.Point, n)
	for i := range out {
		x := 0.05 * random.NormFloat64()
		out[i] = stat.Point{X: x, Y: slope*x + noise*random.NormFloat64()}
		if outliers && i%8 == 0 {
			out[i].Y -= 0.3
		}
	}
	return out
}

func TestSlope(t *testing.T) {
	if v, _ := stat.Slope(line(0.8, 0.01, 200, false), 1); math.Abs(v-0.8) > 0.05 {
		t.Errorf("slope %v, want 0.8", v)
	}
	if v, _ := stat.Slope(line(0.8, 0.01, 200, true), 1); math.Abs(v-0.8) > 0.1 {
		t.Errorf("slope %v with outliers, want 0.8", v)
	}
	if v, _ := stat.Slope(line(0.8, 0.5, 10, false), 0.01); math.Abs(v) > 0.02 {
		t.Errorf("slope %v, but the prior is narrow and the points say little", v)
	}
	for _, none := range [][]stat.Point{nil, make([]stat.Point, 20), {{X: 1, Y: 1}}} {
		if v, e := stat.Slope(none, 2); v != 0 || e != 2 {
			t.Errorf("slope %v ± %v of %v, want only the prior", v, e, none)
		}
	}
}

// The standard error is that of the slope over repeated samples.
func TestSlopeError(t *testing.T) {
	inside, runs := 0, 200
	for n := range runs {
		if v, e := stat.Slope(line(0.5, 0.02, 20+n, false), 10); math.Abs(v-0.5) < 1.96*e {
			inside++
		}
	}
	if share := float64(inside) / float64(runs); share < 0.88 || share > 0.99 {
		t.Errorf("the true slope lies within 1.96 standard errors in %.2f of the samples", share)
	}
}

func TestSpikeAndSlab(t *testing.T) {
	p := stat.SpikeAndSlab{Spike: 0.003, Slab: 0.05, InSpike: 0.9}
	for _, c := range []struct{ estimate, standardError, mean, spread, tolerance float64 }{
		{0, 0.01, 0, 0.004, 0.001},                   // as nothing as expected
		{-0.1, 0.01, -0.096, 0.0098, 0.001},          // far out: the slab
		{0.5, 1e-6, 0.5, 1e-6, 1e-6},                 // certain
		{0.3, math.Inf(1), 0, 0.0161, 0.001},         // nothing was seen
		{math.SmallestNonzeroFloat64, 0, 0, 0, 1e-9}, // exactly nothing
	} {
		mean, spread := p.Update(c.estimate, c.standardError)
		if math.Abs(mean-c.mean) > c.tolerance || math.Abs(spread-c.spread) > c.tolerance {
			t.Errorf("%v ± %v gave %v ± %v, want %v ± %v", c.estimate, c.standardError, mean, spread, c.mean, c.spread)
		}
	}
}
