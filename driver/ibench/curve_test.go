package ibench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNonDecreasing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []float64 }{
		{nil, []float64{}},
		{[]float64{5}, []float64{5}},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}},
		{[]float64{3, 1}, []float64{2, 2}},
		{[]float64{1, 3, 2, 4}, []float64{1, 2.5, 2.5, 4}},
		{[]float64{4, 3, 2, 1}, []float64{2.5, 2.5, 2.5, 2.5}},
		{[]float64{1, 5, 4, 0, 6}, []float64{1, 3, 3, 3, 6}},
	} {
		if got := nonDecreasing(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v gives %v, want %v", c.in, got, c.want)
		}
	}
}

// The fit is the closest non-decreasing sequence: no small feasible change of
// any block brings it closer (checked against the naive max-min formula).
func TestNonDecreasingAgainstMaxMin(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		y := make([]float64, 1+random.IntN(12))
		for i := range y {
			y[i] = random.Float64() * 100
		}
		got := nonDecreasing(y)
		for i := range y {
			if want := maxMin(y, i); math.Abs(got[i]-want) > 1e-9 {
				t.Fatalf("%v: element %d is %v, want %v", y, i, got[i], want)
			}
		}
	}
}

// maxMin is the i-th value of the isotonic regression: the largest over first
// of the smallest over last of the mean of y[first..last] around i.
func maxMin(y []float64, i int) float64 {
	best := math.Inf(-1)
	for first := 0; first <= i; first++ {
		least, sum := math.Inf(1), 0.0
		for k := first; k < len(y); k++ {
			sum += y[k]
			if k >= i {
				least = min(least, sum/float64(k-first+1))
			}
		}
		best = max(best, least)
	}
	return best
}

func TestCurveKnob(t *testing.T) {
	t.Parallel()
	knobs := []float64{0, 25, 50, 75, 100}
	convex := FitCurve(knobs, []float64{0, 10, 30, 60, 100})
	flat := FitCurve(knobs, []float64{0, 40, 40, 40, 90})
	for _, c := range []struct {
		name    string
		curve   Curve
		x, want float64
	}{
		{"identity", Curve{}, 37, 37},
		{"identity is bounded", Curve{}, 200, 100},
		{"at a point", convex, 30, 50},
		{"between points", convex, 45, 62.5},
		{"nothing", convex, 0, 0},
		{"everything", convex, 100, 100},
		{"everything where 90 is the most", flat, 100, 100},
		{"beyond the most", flat, 95, 100},
		{"the cheapest knob of a flat part", flat, 40, 25},
	} {
		if got := c.curve.Knob(c.x); got != c.want {
			t.Errorf("%s: knob of %v is %v, want %v", c.name, c.x, got, c.want)
		}
	}
}

// Inverting the curve of any monotone machine gives back the impact asked for.
func TestCurveInvertsSyntheticMachines(t *testing.T) {
	t.Parallel()
	for name, machine := range map[string]func(u float64) float64{
		"linear":     func(u float64) float64 { return u },
		"quadratic":  func(u float64) float64 { return u * u / 100 },
		"saturating": func(u float64) float64 { return 100 * (1 - math.Exp(-u/40)) / (1 - math.Exp(-2.5)) },
	} {
		var knobs, impacts []float64
		for u := 0.0; u <= 100; u += curveStepPercent {
			knobs, impacts = append(knobs, u), append(impacts, machine(u))
		}
		curve := FitCurve(knobs, impacts)
		for x := 0.0; x <= 100; x++ {
			// Half a point: the error of straight lines between 21 points.
			if got := machine(curve.Knob(x)); math.Abs(got-x) > 0.5 {
				t.Errorf("%s: asked for %v, got %v", name, x, got)
			}
		}
	}
}

func TestKnee(t *testing.T) {
	t.Parallel()
	// A level of 8 MiB served in 10 ns, beyond it 40 ns, with 5 % noise.
	sweep := func(noise float64, disturbed int) []KneeSample {
		random := rand.New(rand.NewPCG(3, 4))
		var out []KneeSample
		for i, size := range kneeSizes(1<<20, 32<<20, 64) {
			ns := 10.0
			if size > 8<<20 {
				ns = 40
			}
			if i == disturbed {
				ns *= 5
			}
			out = append(out, KneeSample{size, ns * (1 + noise*random.Float64())})
		}
		return out
	}
	for name, c := range map[string]struct {
		samples []KneeSample
		want    int64
		found   bool
	}{
		"clear":                     {sweep(0, -1), 8 << 20, true},
		"noisy":                     {sweep(0.05, -1), 8 << 20, true},
		"one disturbed sample":      {sweep(0.05, 12), 8 << 20, true},
		"disturbed in plateau":      {sweep(0.05, 3), 8 << 20, true},
		"no knee":                   {sweep(0.05, -1)[:20], 0, false},
		"too few":                   {sweep(0, -1)[:9], 0, false},
		"nothing":                   {nil, 0, false},
		"disturbed at the very end": {append(sweep(0, -1)[:20], KneeSample{7 << 20, 99}), 0, false},
	} {
		got, found := Knee(c.samples)
		if got != c.want || found != c.found {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, found, c.want, c.found)
		}
	}
}

func TestCapacityIsTheSmallerOfReportAndKnee(t *testing.T) {
	t.Parallel()
	var samples []KneeSample
	for _, size := range kneeSizes(1<<20, 32<<20, 64) {
		ns := 10.0
		if size > 8<<20 {
			ns = 40
		}
		samples = append(samples, KneeSample{size, ns})
	}
	for reported, want := range map[int64]int64{32 << 20: 8 << 20, 4 << 20: 4 << 20} {
		if got, knee := (KneeSweep{ReportedBytes: reported, Samples: samples}).capacity(); got != want || knee != 8<<20 {
			t.Errorf("reported %d: capacity %d, knee %d", reported, got, knee)
		}
	}
	if got, knee := (KneeSweep{ReportedBytes: 5}).capacity(); got != 5 || knee != 0 {
		t.Errorf("without a knee: %d, %d", got, knee)
	}
}

// Calibration straightens any monotone machine, and keeps the knob as it is
// where only a disturbance in one of the passes bent the curve.
func TestFindCurve(t *testing.T) {
	t.Parallel()
	quadratic := func(u float64) float64 { return u * u / 100 }
	for name, c := range map[string]struct {
		machine func(call int, u float64) float64
		gap     float64 // largest allowed
		curved  bool
	}{
		"linear":    {func(_ int, u float64) float64 { return u }, 0, true},
		"quadratic": {func(_ int, u float64) float64 { return quadratic(u) }, 1, true},
		"disturbed in the second pass": {func(call int, u float64) float64 {
			if call == 25 {
				return u / 2
			}
			return u
		}, 0, false},
		"step": {func(_ int, u float64) float64 {
			if u < 50 {
				return 0
			}
			return 100
		}, 50, false},
	} {
		var sc SourceCalibration
		calls := 0
		bench := &calibrationBench{step: curveStepPercent, passes: sweepPasses, measure: func(knob float64) (float64, error) {
			calls++
			return c.machine(calls, knob), nil
		}}
		if err := sc.findCurve(bench); err != nil {
			t.Fatal(err)
		}
		if sc.MaxGapPercent > c.gap || (len(sc.Curve.KnobPercent) > 0) != c.curved {
			t.Errorf("%s: gap %v, curve %v", name, sc.MaxGapPercent, sc.Curve)
		}
	}
}
