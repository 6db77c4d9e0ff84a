package deadline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/numeric/kalman"
	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// sixDigits is how the worked examples are printed.
const sixDigits = 5e-7

// §IV (equations 5 to 9): three readings, for both readings of R.
func TestKalmanVectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r       float64
		k, b, p [3]float64
	}{
		{0.04, [3]float64{.961557, .493429, .335958}, [3]float64{.288467, .195472, .196993}, [3]float64{.038462, .019737, .013438}},
		{0.22, [3]float64{.819746, .451158, .311973}, [3]float64{.245924, .180089, .186301}, [3]float64{.180344, .099255, .068634}},
	} {
		f := kalman.Filter{Variance: 1, Step: 5e-4, Reading: c.r}
		for i, z := range []float64{.3, .1, .2} {
			k, err := f.Update(z)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "K", k, c.k[i], sixDigits)
			near(t, "b", f.Value, c.b[i], sixDigits)
			near(t, "P", f.Variance, c.p[i], sixDigits)
		}
	}
}

// §IV: the steady state of both readings.
func TestKalmanSteadyState(t *testing.T) {
	t.Parallel()
	for r, want := range map[float64]float64{0.04: 0.1057, 0.22: 0.0466} {
		_, k := kalman.Steady(5e-4, r)
		near(t, "K", k, want, 5e-5)
	}
}

// §IV (equations 1 and 2).
func TestPower(t *testing.T) {
	t.Parallel()
	watts := []float64{175, 193.75, 212.5, 250}
	efficiency := []float64{0, .322581, .588235, 1}
	for i, load := range []float64{0, .25, .5, 1} {
		near(t, "P", deadline.PaperPower.Watts(load), watts[i], 1e-9)
		near(t, "E_P", deadline.PaperPower.Efficiency(load), efficiency[i], sixDigits)
	}
}

// §IV: the finish in closed form, and of two points.
func TestFinish(t *testing.T) {
	t.Parallel()
	near(t, "finish", deadline.Ahead(0, 6000, 40, 0.25).Seconds(), 187.5, 1e-6)
	two := []deadline.Point{{At: 0, Left: 6400}, {At: 12 * time.Second, Left: 6016}}
	near(t, "finish", deadline.Finish(two).Seconds(), 200, 1e-6)
	for name, points := range map[string][]deadline.Point{
		"none": nil, "one": two[:1],
		"no progress": {{0, 10}, {time.Second, 10}},
		"backwards":   {{0, 10}, {time.Second, 11}},
		"one instant": {{time.Second, 10}, {time.Second, 9}},
	} {
		if got := deadline.Finish(points); got != deadline.Never {
			t.Errorf("%s: %v, want never", name, got)
		}
	}
	if got := deadline.Ahead(0, 10, 0, 0); got != deadline.Never {
		t.Errorf("at no rate: %v", got)
	}
}

// §IV: with v = 2 the regression is the closed form, for any steady task.
func TestRegressionEqualsClosedForm(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		left, rate, slowdown := 1000+9000*random.Float64(), 1+99*random.Float64(), random.Float64()/2
		now := time.Duration(random.IntN(1e6)) * time.Millisecond
		before := deadline.Point{At: now - 12*time.Second, Left: left + 12*rate/(1+slowdown)}
		got := deadline.Finish([]deadline.Point{before, {now, left}})
		near(t, "finish", got.Seconds(), deadline.Ahead(now, left, rate, slowdown).Seconds(), 1e-3)
	}
}

// §IV (equations 11 to 13): what a task needs, and after a migration.
func TestResources(t *testing.T) {
	t.Parallel()
	n, ok := deadline.Needed(6600, 44, 15*time.Second, 180*time.Second, 0, 0.2)
	if !ok {
		t.Fatal("it can end in time")
	}
	near(t, "r", n.Rate, 40, 1e-9)
	near(t, "Δr", n.Extra, 8, 1e-9)
	near(t, "cap", n.Held(), 48, 1e-9)
	near(t, "effective", n.Held()/1.2, 40, 1e-9)
	n, ok = deadline.Needed(6600, 44, 15*time.Second, 180*time.Second, 10*time.Second, 0.2)
	if !ok {
		t.Fatal("it can end in time after a migration")
	}
	near(t, "r", n.Rate, 42.58, 5e-3)
	if _, ok := deadline.Needed(6600, 42, 15*time.Second, 180*time.Second, 10*time.Second, 0.2); ok {
		t.Error("42.58 is more than its full speed of 42")
	}
	if _, ok := deadline.Needed(6600, 44, 175*time.Second, 180*time.Second, 10*time.Second, 0); ok {
		t.Error("the migration takes longer than what is left")
	}
	if n, _ := deadline.Needed(6600, 44, 15*time.Second, 180*time.Second, 0, -0.3); n.Extra != 0 {
		t.Errorf("faster than expected takes %v away", n.Extra)
	}
}

// §IV (equation 10): the slowdown expected elsewhere.
func TestMigrationSlowdown(t *testing.T) {
	t.Parallel()
	near(t, "β", deadline.ForMigration(0.30, 0.18), 0.30, 0)
	near(t, "β", deadline.ForMigration(0.10, 0.18), 0.18, 0)
	near(t, "β̄ of none", deadline.MeanOf(nil), 0, 0)
	near(t, "β̄", deadline.MeanOf([]float64{0.1, 0.3}), 0.2, 1e-12)
}

// §IV, line 3: slack is negative where full speed is not enough.
func TestSlack(t *testing.T) {
	t.Parallel()
	if s := deadline.Slack(6600, 44, 15*time.Second, 180*time.Second); s != 15*time.Second {
		t.Errorf("slack %s, want 15 s", s)
	}
	if s := deadline.Slack(6600, 40, 20*time.Second, 180*time.Second); s >= 0 {
		t.Errorf("slack %s, want less than none", s)
	}
}

// §V: what the detectors make of samples.
func TestDetectors(t *testing.T) {
	t.Parallel()
	samples := []float64{.12, .05, .3, .11, .0}
	for name, want := range map[string]struct {
		late     bool
		estimate float64
	}{"std": {true, .116}, "atd": {true, .116}, "etd": {false, .116}, "lr": {false, 0}} {
		d, err := deadline.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		detector, estimate := d.New(deadline.Defaults()), 0.0
		for i, z := range samples {
			estimate = detector.Sample(z)
			if i < 4 && name != "lr" && detector.Late(0, 0) {
				t.Errorf("%s: alarm after %d samples", name, i+1)
			}
		}
		near(t, name, estimate, want.estimate, 1e-12)
		if detector.Late(0, time.Second) != want.late {
			t.Errorf("%s: late is not %v", name, want.late)
		}
	}
}

// §V: the weights of ETD are 1, 2, 3, 3, 3, 2, 1 over 15.
func TestETDWeights(t *testing.T) {
	t.Parallel()
	d, err := deadline.Lookup("etd")
	if err != nil {
		t.Fatal(err)
	}
	for at, weight := range []float64{1, 2, 3, 3, 3, 2, 1} {
		detector, got := d.New(deadline.Defaults()), 0.0
		for i := range 7 {
			z := 0.0
			if i == at {
				z = 1
			}
			got = detector.Sample(z)
		}
		near(t, "weight", got, weight/15, 1e-12)
	}
}

// §IV, the claim: the filter at least halves the error of a meter of 20 %, and LR
// and KFLR agree where the meter has none.
func TestEstimates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	raw, filtered := 0.0, 0.0
	for range 400 {
		kflr := task(t, "kflr", 1e6)
		for i := range 15 {
			z := 0.15 + 0.2*random.NormFloat64()
			v, err := kflr.Step(time.Duration(i+1)*12*time.Second, 40, max(-0.9, z))
			if err != nil {
				t.Fatal(err)
			}
			raw += math.Abs(z - 0.15)
			filtered += math.Abs(v.Slowdown - 0.15)
		}
	}
	if filtered > 0.5*raw {
		t.Errorf("error %.3f filtered, %.3f raw", filtered/6000, raw/6000)
	}
	for _, beta := range []float64{0, 0.05, 0.3} {
		var late [2]bool
		for i, name := range []string{"kflr", "lr"} {
			at := task(t, name, 40*180)
			for k := range 3 {
				v, err := at.Step(time.Duration(k+1)*12*time.Second, 44, beta)
				if err != nil {
					t.Fatal(err)
				}
				late[i] = v.Late
			}
		}
		if want := beta > 0.1; late[0] != want || late[1] != want {
			t.Errorf("slowdown %v with a tenth more than needed: late %v, want %v", beta, late, want)
		}
	}
}

func task(t *testing.T, detector string, work float64) *deadline.Task {
	t.Helper()
	d, err := deadline.Lookup(detector)
	if err != nil {
		t.Fatal(err)
	}
	p := deadline.Defaults()
	return deadline.NewTask(d.New(p), p, 0, work, math.Inf(1), 180*time.Second)
}

// A meter that fails is named, counted, and never an alarm.
func TestFailingMeter(t *testing.T) {
	t.Parallel()
	at := task(t, "kflr", 40*180)
	step := func(seconds int, z float64) (deadline.Verdict, error) {
		return at.Step(time.Duration(seconds)*time.Second, 40, z)
	}
	v, err := step(12, 0.3)
	if err != nil || !v.Late {
		t.Fatalf("a slowdown of 0.3: %+v, %v", v, err)
	}
	before := v.Slowdown
	if v, err = step(24, math.NaN()); err != nil || v.Slowdown != before || !v.Late {
		t.Errorf("without a sample: %+v, %v; want the last estimate", v, err)
	}
	for _, z := range []float64{math.Inf(1), math.Inf(-1), -1, -7} {
		if v, err = step(25, z); !errors.Is(err, deadline.ErrSample) || v.Slowdown != before {
			t.Errorf("sample %v: %+v, %v", z, v, err)
		}
	}
	if v, err = step(131, math.NaN()); err != nil || !v.Late {
		t.Errorf("119 s after the last sample: %+v, %v", v, err)
	}
	if v, err = step(132, math.NaN()); !errors.Is(err, deadline.ErrSilent) || v.Late {
		t.Errorf("two minutes after: %+v, %v; want no alarm", v, err)
	}
	if at.Missing() != 7 {
		t.Errorf("%d samples were missing, want 7", at.Missing())
	}
	if v, err = step(144, 0.3); err != nil || !v.Late {
		t.Errorf("when it is heard again: %+v, %v", v, err)
	}
}

// What stands still is not late for it, and a change begins the regression anew.
func TestPause(t *testing.T) {
	t.Parallel()
	at := task(t, "kflr", 40*180)
	if _, err := at.Step(12*time.Second, 48, 0.2); err != nil {
		t.Fatal(err)
	}
	left := at.Left()
	at.Pause(22 * time.Second)
	if at.Left() != left {
		t.Errorf("%v left after a pause, %v before", at.Left(), left)
	}
	at.Changed()
	v, err := at.Step(34*time.Second, 60, 0.2)
	if err != nil || v.Late || !(v.Left < left) {
		t.Errorf("%+v, %v", v, err)
	}
}

// What was counted is believed instead of what was estimated.
func TestCorrected(t *testing.T) {
	t.Parallel()
	at := task(t, "kflr", 40*180)
	v, err := at.Step(12*time.Second, 40, -0.01)
	if err != nil || v.Late {
		t.Fatalf("faster than expected: %+v, %v", v, err)
	}
	if v = at.Corrected(v, 12*time.Second, 40, 40*180); !v.Late || v.Left != 40*180 || at.Left() != 40*180 {
		t.Errorf("with nothing done yet: %+v", v)
	}
	if again := at.Corrected(v, 12*time.Second, 40, math.NaN()); again != v {
		t.Errorf("nothing was counted: %+v, before %+v", again, v)
	}
	if v = at.Corrected(v, 12*time.Second, 40, 0); v.Late {
		t.Errorf("all is done: %+v", v)
	}
}

// The table is sorted and its names are found.
func TestDetectorTable(t *testing.T) {
	t.Parallel()
	last := ""
	for _, d := range deadline.Detectors() {
		if d.Name <= last || d.Summary == "" {
			t.Errorf("%q after %q", d.Name, last)
		}
		last = d.Name
		if d.New(deadline.Defaults()).Late(0, time.Hour) {
			t.Errorf("%s: late without a sample", d.Name)
		}
	}
	if _, err := deadline.Lookup("nothing"); err == nil {
		t.Error("an unknown detector was found")
	}
}

// A sample through each detector, with the regression.
func BenchmarkStep(b *testing.B) {
	for _, d := range deadline.Detectors() {
		b.Run(d.Name, func(b *testing.B) {
			p := deadline.Defaults()
			at := deadline.NewTask(d.New(p), p, 0, math.MaxFloat64, math.Inf(1), time.Hour)
			b.ReportAllocs()
			now := time.Duration(0)
			for b.Loop() {
				now += 12 * time.Second
				if _, err := at.Step(now, 40, 0.1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
