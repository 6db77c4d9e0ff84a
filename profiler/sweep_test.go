package profiler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func sweepRequest(sources ...interference.Source) profiler.Request {
	r := request(sources...)
	r.Method = profiler.MethodSweep
	return r
}

func levelsOf(p profile.Profile) (workload, kernel []float64) {
	for _, point := range p.Ramp {
		if point.WorkloadRatio != nil {
			workload = append(workload, point.IntensityPercent)
		}
		if point.KernelRatio != nil {
			kernel = append(kernel, point.IntensityPercent)
		}
	}
	return workload, kernel
}

// A sweep leaves the whole curve of both sides, each point with an interval that
// holds the planted ratio.
func TestSweepCoversTheCurve(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	m.noise = 0.01
	m.workload, m.kernel = curve(40, 0.3), curve(60, 0.5)
	r := sweepRequest(bandwidth)
	r.Seconds = 25
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]profile.RampPoint{}
	missed := 0
	for _, point := range p.Ramp {
		seen[point.IntensityPercent] = point
		if point.WorkloadRatio == nil || point.KernelRatio == nil || point.WorkloadLow == nil || point.KernelHigh == nil || point.Pairs == 0 || point.AchievedPercent <= 0 {
			t.Fatalf("point %+v", point)
		}
		for _, side := range []struct{ low, high, truth float64 }{
			{*point.WorkloadLow, *point.WorkloadHigh, m.workload(point.IntensityPercent)},
			{*point.KernelLow, *point.KernelHigh, m.kernel(point.IntensityPercent)},
		} {
			if side.truth < side.low || side.truth > side.high {
				missed++
			}
		}
	}
	for at := 10.0; at <= 100; at += 10 {
		if _, ok := seen[at]; !ok {
			t.Errorf("no point at %v %%", at)
		}
	}
	if missed > 4 { // 95 % intervals: 1.3 of 26 are expected to miss
		t.Errorf("%d of %d intervals miss the planted ratio", missed, 2*len(p.Ramp))
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 40) {
		t.Errorf("tolerated %+v", e)
	}
	if e := p.Sensitivity.Caused[bandwidth]; !holds(e, 40) {
		t.Errorf("caused %+v", e)
	}
	checkUntouched(t, m)
}

// Where nothing is lost a sweep does not linger, and what it does not need goes
// to the sources after it.
func TestSweepOfNothingIsShort(t *testing.T) {
	t.Parallel()
	m := newMachine(4)
	r := sweepRequest(bandwidth)
	r.Seconds = 60
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	wantScore(t, "t", p.Sensitivity.Tolerated[bandwidth], 100, 0)
	wantScore(t, "c", p.Sensitivity.Caused[bandwidth], 0, 0)
	if p.Duration > 25*time.Second {
		t.Errorf("took %s", p.Duration)
	}
	if levels, _ := levelsOf(p); len(levels) < 4 {
		t.Errorf("only levels %v", levels)
	}
}

// With little time a sweep thins the curve out instead of ending half-way.
func TestShortSweepSpreadsItsLevels(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	m.workload, m.kernel = curve(40, 0.3), curve(60, 0.5)
	r := sweepRequest(bandwidth)
	r.Seconds = 12
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := levelsOf(p)
	if n := len(levels); n < 5 || levels[0] > 30 || levels[n-1] != 100 || p.Duration > 12*time.Second {
		t.Errorf("levels %v in %s", levels, p.Duration)
	}
}

// A response that moves while it is measured is noted.
func TestHysteresisIsNoted(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	m.noise = 0.003
	before, after := curve(30, 0.2), curve(70, 0.2)
	m.workload = func(x float64) float64 {
		if m.at() < 17*time.Second {
			return before(x)
		}
		return after(x)
	}
	r := sweepRequest(bandwidth)
	r.Seconds = 40
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	e := p.Sensitivity.Tolerated[bandwidth]
	if e.Score.Known() && !strings.Contains(e.Note, "moved by") {
		t.Errorf("tolerated %+v", e)
	}
	if c := p.Sensitivity.Caused[bandwidth]; c.Note != "" {
		t.Errorf("caused %+v", c)
	}
}

// yielding is a machine whose kernel shares the workload's CPUs: it presses hard
// until it yields, and only then notices the workload.
type yielding struct {
	*machine
	yields, pausesBefore int
	gentle               response
}

func (y *yielding) Kernel(ctx context.Context, s interference.Source) (profiler.Kernel, error) {
	k, err := y.machine.Kernel(ctx, s)
	return yieldingKernel{k, y}, err
}

type yieldingKernel struct {
	profiler.Kernel
	y *yielding
}

func (yieldingKernel) Placement() string { return profiler.PlacementSame }

func (k yieldingKernel) Yield(context.Context) error {
	k.y.yields++
	k.y.pausesBefore = k.y.pauses
	k.y.workload, k.y.kernel = flat, k.y.gentle
	return nil
}

// On shared CPUs the workload is watched before the kernel yields and the kernel
// after, for both methods.
func TestSharedCPUsAreMeasuredInTwoParts(t *testing.T) {
	t.Parallel()
	for _, method := range []profiler.Method{profiler.MethodSearch, profiler.MethodSweep} {
		m := newMachine(6)
		m.noise, m.workload = 0.005, curve(30, 0.2)
		y := &yielding{machine: m, gentle: curve(60, 0.4)}
		r := request(bandwidth)
		r.Method = method
		p, err := profiler.Measure(t.Context(), r, m, y, options(m))
		if err != nil {
			t.Fatal(err)
		}
		if y.yields != 1 || y.pausesBefore != 0 || m.pauses == 0 {
			t.Errorf("%s: %d yields, %d pauses before it, %d in all", method, y.yields, y.pausesBefore, m.pauses)
		}
		if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 30) {
			t.Errorf("%s: tolerated %+v", method, e)
		}
		if e := p.Sensitivity.Caused[bandwidth]; !holds(e, 40) {
			t.Errorf("%s: caused %+v", method, e)
		}
		checkUntouched(t, m)
	}
}

// A service catches up after a pause, so it is not paused while it is watched.
func TestAServiceIsNotPausedWhileItIsWatched(t *testing.T) {
	t.Parallel()
	m := newMachine(6)
	m.workload = curve(30, 0.2)
	r := request(bandwidth)
	r.Target = performance.Target{Kind: performance.QPS, QPS: 20000}
	var pressedBeforePause, pressedAfter bool
	m.onSleep = func(time.Duration) {
		switch {
		case m.intensity > 0 && !m.paused && m.pauses == 0:
			pressedBeforePause = true
		case m.intensity == 0 && !m.paused && m.open > 0 && m.pauses > 0:
			pressedAfter = true // a window without pressure between pauses
		}
	}
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	if !pressedBeforePause || pressedAfter {
		t.Errorf("pressed before the first pause: %v, watched alone after it: %v", pressedBeforePause, pressedAfter)
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 30) {
		t.Errorf("tolerated %+v", e)
	}
}

// Levels that crush a service cost seconds each, for the queue behind them: a
// sweep still closes in on its crossing in time.
func TestSweepOfAServiceWithAQueue(t *testing.T) {
	t.Parallel()
	m := newMachine(8)
	m.share, m.queueing, m.noise = 0.99, true, 0.01
	r := sweepRequest(bandwidth)
	r.Target = performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: time.Millisecond}}
	r.Probe = &performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "r", Latency: "l"}
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 25) {
		t.Errorf("tolerated %+v", e)
	}
	if levels, _ := levelsOf(p); len(levels) < 3 || p.Duration > 45*time.Second {
		t.Errorf("levels %v in %s", levels, p.Duration)
	}
	checkUntouched(t, m)
}

// A workload that counts some seven times a second, in large units, needs windows
// of seconds; one that also says when it counted needs short ones.
func TestExactStamps(t *testing.T) {
	t.Parallel()
	run := func(stamps bool) (e interference.Estimate, pairs int) {
		m := newMachine(5)
		m.tick, m.stamps, m.noise = 150*time.Millisecond, stamps, 0.005
		m.workload, m.kernel = curve(40, 0.1), flat
		r := sweepRequest(bandwidth)
		r.Seconds = 30
		p, err := measure(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		if a := p.Isolated["large"]; a.Value < 19000 || a.Value > 21000 {
			t.Errorf("stamps %v: alone %+v", stamps, a)
		}
		for _, point := range p.Ramp {
			pairs += point.Pairs
		}
		checkUntouched(t, m)
		return p.Sensitivity.Tolerated[bandwidth], pairs
	}
	e, pairs := run(true)
	if !holds(e, 40) || e.High.Or(100)-e.Low.Or(0) > 20 {
		t.Errorf("with stamps: tolerated %+v", e)
	}
	if other, fewer := run(false); fewer*4 > pairs || other.Score.Known() && !holds(other, 40) {
		t.Errorf("without stamps: tolerated %+v, %d pairs of windows against %d", other, fewer, pairs)
	}
}

// A count in short, exact steps is measured in short windows: under the bursts of
// a shared host more is known in the same time.
func TestFineCountsHaveShortWindows(t *testing.T) {
	t.Parallel()
	run := func(fine bool) (pairs int, width float64) {
		for seed := range uint64(4) {
			m := newMachine(seed)
			m.noise, m.burstsPerS = 0.01, 1
			if fine {
				m.tick, m.stamps = 2*time.Millisecond, true
			}
			m.workload, m.kernel = curve(60, 0.7), flat
			r := sweepRequest(bandwidth)
			r.Seconds = 12
			p, err := measure(t, m, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, point := range p.Ramp {
				pairs += point.Pairs
			}
			e := p.Sensitivity.Tolerated[bandwidth]
			width += e.High.Or(100) - e.Low.Or(0)
			if e.Score.Known() && !holds(e, 60) {
				t.Errorf("fine %v: tolerated %+v", fine, e)
			}
			checkUntouched(t, m)
		}
		return pairs, width / 4
	}
	coarsePairs, coarseWidth := run(false)
	finePairs, fineWidth := run(true)
	t.Logf("%d pairs and %.0f points against %d and %.0f", finePairs, fineWidth, coarsePairs, coarseWidth)
	if finePairs < 3*coarsePairs/2 || fineWidth > coarseWidth {
		t.Errorf("%d pairs and intervals of %.0f points, %d and %.0f without stamps", finePairs, fineWidth, coarsePairs, coarseWidth)
	}
}

// filling is a machine whose kernel takes time to reach a level, and presses on
// everything until then.
type filling struct {
	*machine
	goal    float64
	settles int
}

func (f *filling) Kernel(ctx context.Context, s interference.Source) (profiler.Kernel, error) {
	k, err := f.machine.Kernel(ctx, s)
	return fillingKernel{k, f}, err
}

type fillingKernel struct {
	profiler.Kernel
	f *filling
}

func (k fillingKernel) Set(ctx context.Context, percent float64) error {
	k.f.goal = percent
	if percent > 0 {
		percent = 100 // while it fills
	}
	return k.Kernel.Set(ctx, percent)
}

func (k fillingKernel) Settle(ctx context.Context) error {
	k.f.settles++
	if err := k.f.Sleep(ctx, 200*time.Millisecond); err != nil {
		return err
	}
	return k.Kernel.Set(ctx, k.f.goal)
}

// A level counts once the kernel has reached it.
func TestALevelIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := newMachine(7)
	m.noise, m.workload, m.kernel = 0.005, curve(50, 0.2), curve(70, 0.4)
	f := &filling{machine: m}
	p, err := profiler.Measure(t.Context(), request(bandwidth), m, f, options(m))
	if err != nil {
		t.Fatal(err)
	}
	if f.settles == 0 {
		t.Error("nobody waited")
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 50) {
		t.Errorf("tolerated %+v", e)
	}
	if e := p.Sensitivity.Caused[bandwidth]; !holds(e, 30) {
		t.Errorf("caused %+v", e)
	}
	checkUntouched(t, m)
}

// Under pressure that stops the count, an exact count that stands still is zero,
// not a window without a number.
func TestExactStandstill(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	m.tick, m.stamps, m.noise = 100*time.Millisecond, true, 0.005
	m.workload = func(x float64) float64 {
		if x > 50 {
			return 0
		}
		return 1
	}
	p, err := measure(t, m, request(bandwidth))
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 50) || e.High.Or(101) > 55 {
		t.Errorf("tolerated %+v", e)
	}
}

// Stamps that come and go give no ratio of two different clocks.
func TestStampsThatComeAndGo(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	m.tick, m.noise = 100*time.Millisecond, 0.005
	m.workload = curve(40, 0.1)
	m.onSleep = func(at time.Duration) { m.stamps = at.Milliseconds()/700%5 != 0 }
	p, err := measure(t, m, request(bandwidth))
	if err != nil && !errors.Is(err, profiler.ErrNoMeasurableWork) {
		t.Log(err) // too few windows is an honest end, a wrong score is not
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; e.Score.Known() && !holds(e, 40) {
		t.Errorf("tolerated %+v", e)
	}
	checkUntouched(t, m)
}

func TestUnknownMethod(t *testing.T) {
	t.Parallel()
	r := request(bandwidth)
	r.Method = "guess"
	_, err := measure(t, newMachine(1), r)
	if !errors.Is(err, profiler.ErrBadRequest) || !strings.Contains(fmt.Sprint(err), "sweep") {
		t.Errorf("error %v", err)
	}
}

// Whenever the context ends in a sweep, the workload runs on.
func TestSweepPauseSafety(t *testing.T) {
	t.Parallel()
	for at := 4 * time.Second; at < 16*time.Second; at += 730 * time.Millisecond {
		m := newMachine(4)
		m.kernel, m.workload = curve(30, 0.5), curve(50, 0.3)
		ctx, cancel := context.WithCancel(t.Context())
		m.onSleep = func(now time.Duration) {
			if now >= at {
				cancel()
			}
		}
		r := sweepRequest(bandwidth)
		r.Seconds = 16
		p, err := profiler.Measure(ctx, r, m, m, options(m))
		if err != nil && (!errors.Is(err, context.Canceled) || p.Complete) {
			t.Errorf("cancelled at %s: complete %v, %v", at, p.Complete, err)
		}
		checkUntouched(t, m)
		cancel()
	}
}
