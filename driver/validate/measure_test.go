package validate

import (
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestLinearity(t *testing.T) {
	t.Parallel()
	square := func(_ interference.Source, percent float64) float64 { return percent * percent / 1e4 }
	for name, c := range map[string]struct {
		source interference.Source
		impact func(interference.Source, float64) float64
		linear bool
		gap    float64
	}{
		"straight rate":      {interference.MemoryBandwidth, nil, true, 0},
		"bent rate":          {interference.MemoryBandwidth, square, false, 25},
		"straight duty":      {interference.Integer, nil, true, 0},
		"footprint in time":  {interference.L1Data, nil, true, 0},
		"footprint too late": {interference.L1Data, square, false, 25},
	} {
		b := newFakeBench()
		if c.impact != nil {
			b.impact = c.impact
		}
		l, err := fakeSession(b, fullPace()).measureLinearity(t.Context(), c.source)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if l.Linear() != c.linear || math.Abs(float64(l.MaxGap)-c.gap) > 1e-6 {
			t.Errorf("%s: linear %t with gap %v, want %t with %v", name, l.Linear(), l.MaxGap, c.linear, c.gap)
		}
		if len(l.Points) != 42 || b.open != 0 {
			t.Errorf("%s: %d points, %d left running", name, len(l.Points), b.open)
		}
	}
}

func TestStraightness(t *testing.T) {
	t.Parallel()
	if r, gap := straightness([]LinearPoint{{0, 0, false}, {50, 60, false}, {100, 100, false}}); gap != 10 || r >= 1 || r < 0.97 {
		t.Errorf("R² %v, gap %v", r, gap)
	}
	if r, _ := straightness([]LinearPoint{{0, 0, false}, {50, unknown, false}}); r.Known() {
		t.Errorf("an unknown point has R² %v", r)
	}
	if r, _ := straightness([]LinearPoint{{0, 5, false}, {100, 5, false}}); r.Known() {
		t.Errorf("a flat line has R² %v", r)
	}
}

func TestVictimCurve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loss    func(percent float64) float64 // 0..1
		verdict string
	}{
		"grows":   {func(x float64) float64 { return x / 200 }, verdictMonotone},
		"nothing": {func(float64) float64 { return 0 }, verdictNoEffect},
		"gains":   {func(x float64) float64 { return -x / 200 }, verdictNoEffect},
		"bumpy":   {func(x float64) float64 { return 0.3 * math.Abs(math.Sin(x)) }, verdictBumpy},
	} {
		b := newFakeBench()
		b.slow = func(b *fakeBench, who string) float64 {
			if who == "integer" {
				return 1 - c.loss(b.percent(interference.Integer))
			}
			return 1
		}
		v, err := fakeSession(b, fullPace()).measureVictim(t.Context(), interference.Integer)
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != c.verdict || len(v.Points) != 10 || b.open != 0 {
			t.Errorf("%s: %q, %d points, %d left running", name, v.Verdict, len(v.Points), b.open)
		}
		if want := 100 * c.loss(100); math.Abs(float64(v.Points[9].Loss.Center)-want) > 1e-6 {
			t.Errorf("%s: loss %v at 100, want %v", name, v.Points[9].Loss.Center, want)
		}
	}
}

func TestMemoryVictimSharesAGroup(t *testing.T) {
	t.Parallel()
	b := newFakeBench()
	if _, err := fakeSession(b, quickPace()).measureVictim(t.Context(), interference.MemoryCapacity); err != nil {
		t.Fatal(err)
	}
	if b.open != 0 {
		t.Errorf("%d left behind", b.open)
	}
}

func TestDisplacement(t *testing.T) {
	t.Parallel()
	b := newFakeBench()
	b.slow = func(b *fakeBench, who string) float64 {
		// A miss costs three times a hit; half of the intensity arrives.
		return 1 / (1 + 2*b.percent(interference.L1Data)/200)
	}
	d, err := fakeSession(b, fullPace()).measureDisplacement(t.Context(), interference.L1Data)
	if err != nil {
		t.Fatal(err)
	}
	if top := d.Points[len(d.Points)-1].Impact; math.Abs(float64(top)-50) > 1e-6 || math.Abs(float64(d.MaxGap)-50) > 1e-6 {
		t.Errorf("half displaced reads %v, gap %v", top, d.MaxGap)
	}
	if b.open != 0 {
		t.Errorf("%d left running", b.open)
	}
}

func TestCrossTalk(t *testing.T) {
	t.Parallel()
	b := newFakeBench()
	b.slow = func(b *fakeBench, who string) float64 {
		if who == string(interference.L1Data) {
			return 1 - 0.4*b.percent(interference.Integer)/100
		}
		return 1
	}
	s := fakeSession(b, fullPace())
	for _, c := range []struct {
		from, to interference.Source
		loss     float64
		verdict  Verdict
	}{
		{interference.Integer, interference.L1Data, 40, VerdictMiss},
		{interference.Integer, interference.FloatingPoint, 0, VerdictOK},
		{interference.L1Data, interference.Integer, 0, VerdictOK},
	} {
		got, err := s.measureCrossTalk(t.Context(), c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(got.Loss.Center)-c.loss) > 1e-6 || got.Verdict != c.verdict || got.Placement != placementBeside {
			t.Errorf("%s on %s: %v, %s, %s", c.from, c.to, got.Loss, got.Verdict, got.Placement)
		}
	}
	if err := s.cast.end(); err != nil || b.open != 0 {
		t.Errorf("%v, %d left running", err, b.open)
	}
}

func TestOffTarget(t *testing.T) {
	t.Parallel()
	b := newFakeBench()
	b.slow = func(b *fakeBench, who string) float64 {
		if who == "float" {
			return 1 - 0.3*b.percent(interference.MemoryBandwidth)/100
		}
		return 1
	}
	s := fakeSession(b, fullPace())
	got, err := s.measureOffTarget(t.Context(), interference.MemoryBandwidth, interference.FloatingPoint)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(got.Loss.Center)-30) > 1e-6 || got.Verdict != VerdictMiss {
		t.Errorf("%v, %s", got.Loss, got.Verdict)
	}
	if err := s.cast.end(); err != nil || b.open != 0 {
		t.Errorf("%v, %d left running", err, b.open)
	}
}

func TestContrastCancelsDrift(t *testing.T) {
	t.Parallel()
	speed := 100.0
	got, err := contrast(t.Context(), 8, func(on bool) (float64, error) {
		speed *= 0.99 // the machine gets slower all the time
		if on {
			return speed / 2, nil
		}
		return speed, nil
	})
	if err != nil || math.Abs(float64(got.Center)-0.5) > 0.01 {
		t.Errorf("ratio %v, %v", got, err)
	}
	if _, err := contrast(t.Context(), 2, func(bool) (float64, error) { return 0, nil }); err == nil {
		t.Error("nothing was done, and that is a result")
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate float64
		took time.Duration // beyond the pace's settling
	}{
		"at once":   {0, 0},
		"one step":  {100 << 20, 0},
		"ten steps": {10 << 20, 9 * 20 * time.Millisecond},
		"never":     {0.1, 3 * time.Second},
	} {
		b := newFakeBench()
		b.fillRate = c.rate
		p := fullPace()
		k, err := b.Kernel(t.Context(), interference.MemoryCapacity, place{})
		if err != nil {
			t.Fatal(err)
		}
		if err := fakeSession(b, p).setAndSettle(t.Context(), k, 100); err != nil {
			t.Fatal(err)
		}
		if took := b.now - p.settle; took != c.took {
			t.Errorf("%s: took %v, want %v", name, took, c.took)
		}
	}
}

func TestYardsticks(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, y := range yardsticks() {
		key := string(y.source) + slug(y.name)
		if seen[key] || y.compares == "" || y.unit == "" || y.expect <= 0 || y.measure == nil {
			t.Errorf("incomplete or double: %s %s", y.source, y.name)
		}
		seen[key] = true
		if _, ok := interference.Info(y.source); !ok {
			t.Errorf("unknown source %s", y.source)
		}
	}
	for _, source := range []interference.Source{interference.MemoryBandwidth, interference.Integer} {
		for _, y := range yardsticks() {
			if y.source != source {
				continue
			}
			b := newFakeBench()
			s := fakeSession(b, quickPace()) // without other programs
			s.storage = t.TempDir()
			got, err := s.measureYardstick(t.Context(), y)
			if err != nil {
				t.Fatalf("%s against %s: %v", source, y.name, err)
			}
			if got.Absent == "" && math.Abs(float64(got.Ratio.Center)-1) > 1e-6 {
				t.Errorf("%s against %s: %v, want 1", source, y.name, got.Ratio)
			}
			if b.open != 0 {
				t.Errorf("%s against %s: %d left running", source, y.name, b.open)
			}
		}
	}
}

// TestFullPaceFits checks that a run takes a quarter of an hour at most, by the
// expectations that the remaining time is computed from.
func TestFullPaceFits(t *testing.T) {
	t.Parallel()
	s := &session{pace: fullPace(), machine: fakeMachine(2, false), layout: fakeLayout(2, false)}
	all, err := parseSources("")
	if err != nil {
		t.Fatal(err)
	}
	total := time.Duration(0)
	byStage := map[stage]time.Duration{}
	for _, c := range s.cells(all) {
		if c.expect <= 0 {
			t.Errorf("%s is expected to take %v", c.key, c.expect)
		}
		total += c.expect
		byStage[c.stage] += c.expect
	}
	t.Log(total, byStage)
	// The rest is for the calibration, what that has to repeat, and other programs' starts.
	if total > 9*time.Minute {
		t.Errorf("a full validation is expected to take %v", total)
	}
}
