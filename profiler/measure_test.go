package profiler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

const (
	bandwidth = interference.MemoryBandwidth
	cache     = interference.LLCCapacity
)

func measure(t *testing.T, m *machine, r profiler.Request) (profile.Profile, error) {
	t.Helper()
	return profiler.Measure(t.Context(), r, m, m, options(m))
}

func holds(e interference.Estimate, truth float64) bool {
	return e.Low.Or(math.Inf(1)) <= truth && truth <= e.High.Or(math.Inf(-1))
}

// Planted scores must lie in the reported interval for at least 90 % of the
// seeds that give one, at noises from quiet to bad, and a score must never be
// outside its own interval. known says how many of the seeds must give a score
// in 45 s for two sources: where a response crosses the bound at a shallow angle,
// noise may leave it unknown.
func TestRecoversPlantedScores(t *testing.T) {
	t.Parallel()
	const seeds = 16
	tests := []struct {
		name              string
		tolerated, caused float64 // planted knees: t, and 100 − x
		floor             float64
		noise             float64
		known             [2]float64 // share of seeds that must give a score: tolerated, caused
	}{
		{"fragile, gentle", 15, 0, 0.1, 0.01, [2]float64{0.9, 0.9}},
		{"fragile, aggressive", 20, 80, 0.3, 0.02, [2]float64{0.9, 0.9}},
		{"middling", 50, 40, 0.4, 0.02, [2]float64{0.85, 0.75}},
		{"middling, quiet machine", 50, 40, 0.4, 0.005, [2]float64{0.95, 0.95}},
		{"robust", 100, 5, 0.95, 0.02, [2]float64{0.85, 0.7}},
		{"never touched", 100, 0, 1, 0.02, [2]float64{0.9, 0.85}},
		{"noisy machine", 40, 60, 0.1, 0.05, [2]float64{0.85, 0.5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var known, covered, width [2]float64
			for seed := range uint64(seeds) {
				m := newMachine(seed)
				m.noise = tt.noise
				m.workload, m.kernel = planted(tt.tolerated, tt.floor), planted(100-tt.caused, 0.6)
				r := request(bandwidth, cache)
				r.Seed = seed
				p, err := measure(t, m, r)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for i, e := range []interference.Estimate{p.Sensitivity.Tolerated[bandwidth], p.Sensitivity.Caused[bandwidth]} {
					truth := []float64{tt.tolerated, tt.caused}[i]
					if !e.Score.Known() {
						if e.Note == "" {
							t.Errorf("seed %d: unknown without a note", seed)
						}
						continue
					}
					known[i]++
					width[i] += e.High.Or(0) - e.Low.Or(0)
					if holds(e, truth) {
						covered[i]++
					}
					if !holds(e, e.Score.Or(-1)) {
						t.Errorf("seed %d: %v outside [%v, %v]", seed, e.Score, e.Low, e.High)
					}
				}
			}
			for i, side := range []string{"tolerated", "caused"} {
				t.Logf("%s: %.0f of %d known, %.0f covered, mean width %.1f points", side, known[i], seeds, covered[i], width[i]/known[i])
				if known[i] < tt.known[i]*float64(seeds) {
					t.Errorf("%s: only %.0f of %d seeds gave a score", side, known[i], seeds)
				}
				if covered[i] < 0.9*known[i] {
					t.Errorf("%s: interval holds the planted score for %.0f of %.0f", side, covered[i], known[i])
				}
			}
		})
	}
}

// planted is the model's curve; a knee of 100 with floor 1 never bends.
func planted(knee, floor float64) response {
	if knee == 100 && floor == 1 {
		return flat
	}
	return curve(knee, floor)
}

// A workload whose windows differ by half shows nothing of a 5 % bound: an
// interval of half the scale may miss the truth now and then, but not more often
// than in one seed of ten.
func TestNoiseOnlyIsUnknown(t *testing.T) {
	t.Parallel()
	const seeds, allowed = 20, 2
	scores := 0
	for seed := range uint64(seeds) {
		m := newMachine(seed)
		m.noise = 0.5
		p, err := measure(t, m, request(bandwidth, cache))
		if err != nil {
			t.Fatal(err)
		}
		e := p.Sensitivity.Tolerated[bandwidth]
		if e.Score.Known() {
			scores++
		} else if !strings.Contains(e.Note, "noise") && !strings.Contains(e.Note, "too wide") {
			t.Errorf("seed %d: note %q", seed, e.Note)
		}
	}
	if scores > allowed {
		t.Errorf("%d of %d seeds gave a score", scores, seeds)
	}
}

// Same seed, same bytes.
func TestMeasureIsDeterministic(t *testing.T) {
	t.Parallel()
	once := func() []byte {
		m := newMachine(7)
		m.workload, m.kernel = curve(30, 0.2), curve(60, 0.5)
		p, err := measure(t, m, request(bandwidth, cache))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if a, b := once(), once(); !bytes.Equal(a, b) {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

func TestBudgetAndProgress(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	m.workload, m.kernel = curve(40, 0.3), curve(50, 0.5)
	var seen []profiler.Progress
	o := options(m)
	o.Progress = func(p profiler.Progress) { seen = append(seen, p) }
	p, err := profiler.Measure(t.Context(), request(bandwidth, cache), m, m, o)
	if err != nil || !p.Complete {
		t.Fatalf("complete %v, %v", p.Complete, err)
	}
	if p.Duration > 45*time.Second {
		t.Errorf("took %s", p.Duration)
	}
	for i := 1; i < len(seen); i++ {
		if gap := seen[i].At.Sub(seen[i-1].At); gap > time.Second {
			t.Errorf("silent for %s", gap)
		}
		if seen[i].Fraction < seen[i-1].Fraction || seen[i].RemainingSeconds > seen[i-1].RemainingSeconds {
			t.Errorf("progress goes back: %+v after %+v", seen[i], seen[i-1])
		}
	}
	last := seen[len(seen)-1]
	if seen[0].Phase != profiler.PhaseWaiting || last.Phase != profiler.PhaseDone || last.Fraction != 1 || last.RemainingSeconds != 0 {
		t.Errorf("first %+v, last %+v", seen[0], last)
	}
	checkUntouched(t, m)
}

func checkUntouched(t *testing.T, m *machine) {
	t.Helper()
	if m.paused || m.open != 0 || m.intensity != 0 {
		t.Errorf("left paused=%v, %d kernels open at %v %%", m.paused, m.open, m.intensity)
	}
}

func TestIsolatedOnly(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	p, err := measure(t, m, request())
	if err != nil || !p.Complete {
		t.Fatalf("complete %v, %v", p.Complete, err)
	}
	a := p.Isolated["large"]
	if !(a.Low <= 20000 && 20000 <= a.High) || a.Unit != "rows/s" || a.Windows < 20 || a.Value < a.Low || a.Value > a.High {
		t.Errorf("alone %+v", a)
	}
	if p.Duration < 5*time.Second || p.Duration > 9*time.Second {
		t.Errorf("took %s", p.Duration)
	}
}

// metered is a workload whose CPU time is known.
type metered struct {
	*machine
	cpus, stolen float64 // CPUs used of what is left, and share that the host takes
	may          float64 // CPUs that it may use
	err          error
	threads      func(took float64) map[int]profiler.ThreadTime
}

func (m metered) CPUTime() (profiler.CPUTime, error) {
	took := float64(m.now.Sub(m.begun))
	out := profiler.CPUTime{Used: time.Duration(m.cpus * took * (1 - m.stolen)), Stolen: time.Duration(m.stolen * took), CPUs: m.may}
	if m.threads != nil {
		out.Threads = m.threads(took)
	}
	return out, m.err
}

// How long a workload runs at a time is that of its threads, by the time that each uses; what
// those used that come and go, as much as the scheduler allows.
func TestRunsInIsolation(t *testing.T) {
	t.Parallel()
	const changes = 1000 // another thread at each reading
	ran := func(share, ms float64) func(took float64) profiler.ThreadTime {
		return func(took float64) profiler.ThreadTime {
			return profiler.ThreadTime{Ran: time.Duration(share * took), Waits: int64(share * took / ms / 1e6)}
		}
	}
	fromFirst := func(of func(float64) profiler.ThreadTime) func(took float64) profiler.ThreadTime {
		first := math.NaN()
		return func(took float64) profiler.ThreadTime {
			if math.IsNaN(first) {
				first = took
			}
			return of(took - first)
		}
	}
	idle := func(float64) profiler.ThreadTime { return profiler.ThreadTime{} }
	for name, c := range map[string]struct {
		threads map[int]func(took float64) profiler.ThreadTime
		want    float64
	}{
		"one":                           {map[int]func(float64) profiler.ThreadTime{1: ran(0.3, 0.5)}, 0.5},
		"many short and few long":       {map[int]func(float64) profiler.ThreadTime{1: ran(0.2, 3), 2: ran(0.1, 0.3)}, 2.1},
		"it never waits":                {map[int]func(float64) profiler.ThreadTime{1: ran(0.3, 1e6)}, 4},
		"one that hardly ever runs too": {map[int]func(float64) profiler.ThreadTime{1: ran(0.3, 0.5), 2: idle}, 0.5},
		"a thread that was started":     {map[int]func(float64) profiler.ThreadTime{1: ran(0.2, 0.5), changes: fromFirst(ran(0.1, 0.2))}, 0.4},
		"processes that come and go":    {map[int]func(float64) profiler.ThreadTime{1: ran(0.1, 0.5), changes: idle}, 0.5/3 + 4*2.0/3},
		"an identifier is used anew": {map[int]func(float64) profiler.ThreadTime{1: func(took float64) profiler.ThreadTime {
			return profiler.ThreadTime{Ran: time.Duration(1e12 - took)}
		}}, 4},
		"no thread is known": {nil, 0},
	} {
		m := newMachine(5)
		subject := metered{machine: m, cpus: 0.3, may: 1, threads: func(took float64) map[int]profiler.ThreadTime {
			out := map[int]profiler.ThreadTime{}
			for id, of := range c.threads {
				if id == changes {
					id += int(took)
				}
				out[id] = of(took)
			}
			return out
		}}
		p, err := profiler.Measure(t.Context(), request(interference.Integer), subject, m, options(m))
		if err != nil || math.Abs(p.RunIsolatedMS-c.want) > 0.05*c.want {
			t.Errorf("%s: %g ms at a time, want %g (%v)", name, p.RunIsolatedMS, c.want, err)
		}
	}
}

// The CPU time used in isolation is part of the profile, and unknown where it cannot be read:
// that is no reason to lose the rest. Under a quota it is a larger part of what there is.
func TestCPUTimeInIsolation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		may         float64
		err         error
		want, share float64
	}{
		{1, nil, 0.3, 0.3}, {2, nil, 0.3, 0.15}, {0.4, nil, 0.3, 0.75}, {0.25, nil, 0.3, 1},
		{1, errors.New("no such file"), 0, 0},
	} {
		m := newMachine(5)
		p, err := profiler.Measure(t.Context(), request(interference.Integer), metered{machine: m, cpus: 0.3, stolen: 0.4, may: c.may, err: c.err}, m, options(m))
		if err != nil || !p.Complete || len(p.Isolated) == 0 {
			t.Fatalf("complete %v, %v", p.Complete, err)
		}
		if math.Abs(p.CPUsIsolated-c.want) > 1e-6 {
			t.Errorf("reading fails with %v: %g CPUs, want %g", c.err, p.CPUsIsolated, c.want)
		}
		if got := p.CPUShareIsolated[p.Machine.Configuration]; math.Abs(got-c.share) > 1e-6 {
			t.Errorf("of %g CPUs, reading fails with %v: a share of %g, want %g", c.may, c.err, got, c.share)
		}
		if reported := strings.Contains(strings.Join(p.Warnings, "\n"), "CPU time"); reported != (c.err != nil) {
			t.Errorf("reading fails with %v: warnings %q", c.err, p.Warnings)
		}
	}
}

// Goodput, not the rate, is what counts for a service with a latency bound.
func TestGoodputUnderLatency(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	m.share = 0.5
	r := request()
	r.Target = performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: time.Millisecond}}
	r.Probe = &performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "requests_total", Latency: "seconds"}
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	if a := p.Isolated["large"]; math.Abs(a.Value-10000) > 500 || a.Unit != "requests/s" {
		t.Errorf("alone %+v, want half of 20000 requests/s", a)
	}
}

// A workload that reports once a second is measured from report to report.
func TestCoarseCounter(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	m.tick, m.noise = 700*time.Millisecond, 0.005
	m.workload, m.kernel = curve(40, 0.1), flat
	r := request(bandwidth)
	r.Seconds = 120
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	if a := p.Isolated["large"]; math.Abs(a.Value-20000) > 1000 {
		t.Errorf("alone %+v", a)
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; !holds(e, 40) {
		t.Errorf("tolerated %+v", e)
	}
	if p.Duration > 120*time.Second {
		t.Errorf("took %s", p.Duration)
	}
}

func TestWithoutProgress(t *testing.T) {
	t.Parallel()
	completion := &performance.ProbeSpec{Type: "completion"}
	for name, spec := range map[string]*performance.ProbeSpec{"completion": completion, "none": nil} {
		m := newMachine(9)
		m.kernel = curve(40, 0.3)
		r := request(bandwidth)
		r.Probe, r.Target = spec, performance.Target{Kind: performance.BestEffort}
		p, err := measure(t, m, r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e := p.Sensitivity.Tolerated[bandwidth]; e.Score.Known() || e.Note == "" {
			t.Errorf("%s: tolerated %+v", name, e)
		}
		if e := p.Sensitivity.Caused[bandwidth]; !holds(e, 60) {
			t.Errorf("%s: caused %+v", name, e)
		}
		checkUntouched(t, m)
	}
}

// finisher ends its work at a time and then says so.
type finisher struct {
	*machine
	after time.Duration
}

func (f finisher) Read(ctx context.Context) (performance.Reading, error) {
	r, err := f.machine.Read(ctx)
	r.Started = f.begun
	if f.at() >= f.after {
		r.Done, r.At, r.Work = true, f.begun.Add(f.after), 600
	}
	return r, err
}

func TestWholeRunGivesPerformanceInIsolation(t *testing.T) {
	t.Parallel()
	m := newMachine(9)
	r := request()
	r.Probe = &performance.ProbeSpec{Type: "completion", Work: 600}
	r.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	p, err := profiler.Measure(t.Context(), r, finisher{m, 20 * time.Second}, m, options(m))
	if err != nil {
		t.Fatal(err)
	}
	if a := p.Isolated["large"]; a.Value != 30 || a.Windows != 1 || a.Unit != "units/s" {
		t.Errorf("alone %+v, want 600 units in 20 s", a)
	}
	slow, err := profiler.Measure(t.Context(), r, finisher{m, time.Hour}, m, options(m))
	if err != nil || len(slow.Isolated) != 0 || len(slow.Warnings) == 0 {
		t.Errorf("unfinished: %+v, %v", slow, err)
	}
}

func TestBadWorkloads(t *testing.T) {
	t.Parallel()
	down := errors.New("exit code 139")
	tests := []struct {
		name  string
		spoil func(*machine)
		want  error
		ramp  bool // something of the ramp must be left
	}{
		{"never answers", func(m *machine) {
			m.readError = func(time.Duration) error { return probe.ErrNotReady }
		}, profiler.ErrProbeSilent, false},
		{"no measurable work", func(m *machine) { m.rate = 0 }, profiler.ErrNoMeasurableWork, false},
		{"dead before", func(m *machine) {
			m.aliveError = func(time.Duration) error { return down }
		}, profiler.ErrWorkloadEnded, false},
		{"crash in mid-ramp", func(m *machine) {
			m.aliveError = func(at time.Duration) error {
				if at > 11*time.Second {
					return down
				}
				return nil
			}
		}, profiler.ErrWorkloadEnded, true},
		{"crash while the kernel is measured", func(m *machine) {
			m.aliveError = func(time.Duration) error {
				if m.pauses > 2 {
					return down
				}
				return nil
			}
		}, profiler.ErrWorkloadEnded, true},
		{"restarts again and again", func(m *machine) {
			for at := 9 * time.Second; at < 40*time.Second; at += time.Second {
				m.resetAt = append(m.resetAt, at)
			}
		}, profiler.ErrWorkloadRestarted, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(2)
			tt.spoil(m)
			p, err := measure(t, m, request(bandwidth, cache))
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if p.Complete || len(p.Warnings) == 0 {
				t.Errorf("complete %v, warnings %v", p.Complete, p.Warnings)
			}
			if got := len(p.Ramp) > 0; got != tt.ramp {
				t.Errorf("%d ramp points", len(p.Ramp))
			}
			if tt.ramp && len(p.Isolated) == 0 {
				t.Error("the performance alone was lost")
			}
			checkUntouched(t, m)
		})
	}
}

// A probe that cannot be read on this node ends the run before it begins; best effort, whose
// speed no target needs, is pressed on all the same.
func TestProbeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, target := range []performance.Target{{Kind: performance.Rate, Rate: 1e9, Unit: "instructions"}, {Kind: performance.BestEffort}} {
		m := newMachine(9)
		m.kernel = curve(40, 0.3)
		m.readError = func(time.Duration) error { return fmt.Errorf("%w: no counters", probe.ErrUnsupported) }
		r := request(bandwidth)
		r.Probe, r.Target = &performance.ProbeSpec{Type: "instructions"}, target
		p, err := measure(t, m, r)
		if !strings.Contains(strings.Join(p.Warnings, " "), "no counters") {
			t.Errorf("%s: warnings %v", target, p.Warnings)
		}
		if target.Kind == performance.Rate {
			if !errors.Is(err, probe.ErrUnsupported) || m.at() > 0 || p.Complete {
				t.Errorf("%s: after %s: %v", target, m.at(), err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if e := p.Sensitivity.Tolerated[bandwidth]; e.Score.Known() || e.Note == "" || len(p.Isolated) != 0 {
			t.Errorf("%s: tolerated %+v, in isolation %+v", target, e, p.Isolated)
		}
		if e := p.Sensitivity.Caused[bandwidth]; !holds(e, 60) {
			t.Errorf("%s: caused %+v", target, e)
		}
		checkUntouched(t, m)
	}
}

// Instructions are the unit of what they give, whatever the target is.
func TestUnitOfInstructions(t *testing.T) {
	t.Parallel()
	m := newMachine(9)
	r := request()
	r.Probe, r.Target = &performance.ProbeSpec{Type: "instructions"}, performance.Target{Kind: performance.BestEffort}
	p, err := measure(t, m, r)
	if a := p.Isolated["large"]; err != nil || a.Unit != "instructions/s" {
		t.Errorf("in isolation %+v, %v", a, err)
	}
}

func TestOneRestartIsSurvived(t *testing.T) {
	t.Parallel()
	m := newMachine(2)
	m.resetAt = []time.Duration{4 * time.Second}
	p, err := measure(t, m, request(bandwidth, cache))
	if err != nil || !p.Complete || !strings.Contains(strings.Join(p.Warnings, " "), "restarted") {
		t.Errorf("complete %v, %v, %v", p.Complete, p.Warnings, err)
	}
}

func TestKernelThatCannotStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err      error
		complete bool
	}{{profiler.ErrKernelUnsupported, true}, {errors.New("fork failed"), false}} {
		m := newMachine(2)
		m.kernelError = tt.err
		p, err := measure(t, m, request(bandwidth))
		if err != nil || p.Complete != tt.complete {
			t.Errorf("%v: complete %v, %v", tt.err, p.Complete, err)
		}
		if e := p.Sensitivity.Tolerated[bandwidth]; e.Score.Known() || !strings.Contains(e.Note, tt.err.Error()) {
			t.Errorf("%v: %+v", tt.err, e)
		}
		if len(p.Isolated) != 1 {
			t.Errorf("%v: alone %v", tt.err, p.Isolated)
		}
	}
}

// A kernel that dies costs its source, not the run.
func TestKernelThatDies(t *testing.T) {
	t.Parallel()
	m := newMachine(2)
	killed := errors.New("the kernel was killed")
	struck := false
	m.statsError = func(at time.Duration) error {
		if struck || at < 9*time.Second {
			return nil
		}
		struck = true
		return killed
	}
	p, err := measure(t, m, request(bandwidth, cache))
	if err != nil || p.Complete {
		t.Fatalf("complete %v, %v", p.Complete, err)
	}
	if e := p.Sensitivity.Tolerated[cache]; !holds(e, 100) {
		t.Errorf("the next source was not measured: %+v", e)
	}
	if !strings.Contains(strings.Join(p.Warnings, " "), killed.Error()) {
		t.Errorf("warnings %v", p.Warnings)
	}
	checkUntouched(t, m)
}

// A workload that cannot be resumed is the worst that can happen, and is said.
func TestStuckPauseIsReported(t *testing.T) {
	t.Parallel()
	m := newMachine(2)
	m.resumeError = errors.New("the freezer is busy")
	p, err := measure(t, m, request(bandwidth, cache))
	if !errors.Is(err, profiler.ErrStillPaused) || !errors.Is(err, m.resumeError) || p.Complete {
		t.Errorf("complete %v, %v", p.Complete, err)
	}
	if e := p.Sensitivity.Tolerated[cache]; e.Score.Known() || e.Note == "" {
		t.Errorf("the source after it: %+v", e)
	}
}

// A service that never meets its latency bound has no ratio to lose.
func TestNoGoodput(t *testing.T) {
	t.Parallel()
	m := newMachine(2)
	m.late = true
	r := request(bandwidth)
	r.Target = performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: time.Microsecond}}
	r.Probe = &performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "requests_total", Latency: "seconds"}
	p, err := measure(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Sensitivity.Tolerated[bandwidth]; e.Score.Known() || e.Note == "" {
		t.Errorf("tolerated %+v", e)
	}
	if _, err := json.Marshal(p); err != nil {
		t.Errorf("the profile cannot be written: %v", err)
	}
}

func TestWorkloadThatFinishesInMidRamp(t *testing.T) {
	t.Parallel()
	m := newMachine(9)
	r := request(bandwidth)
	r.Probe = &performance.ProbeSpec{Type: "completion"}
	r.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	m.aliveError = func(at time.Duration) error {
		if at > 2*time.Second {
			return errors.New("exit code 0")
		}
		return nil
	}
	p, err := profiler.Measure(t.Context(), r, finisher{m, 2 * time.Second}, m, options(m))
	if !errors.Is(err, profiler.ErrWorkloadFinished) || p.Complete {
		t.Errorf("complete %v, %v", p.Complete, err)
	}
	checkUntouched(t, m)
}

// Whenever the context ends, the workload runs on and no kernel is left.
func TestPauseSafety(t *testing.T) {
	t.Parallel()
	for at := 500 * time.Millisecond; at < 45*time.Second; at += 1300 * time.Millisecond {
		m := newMachine(4)
		m.kernel = curve(30, 0.5)
		ctx, cancel := context.WithCancel(t.Context())
		m.onSleep = func(now time.Duration) {
			if now >= at {
				cancel()
			}
		}
		p, err := profiler.Measure(ctx, request(bandwidth, cache), m, m, options(m))
		if err != nil && (!errors.Is(err, context.Canceled) || p.Complete) {
			t.Errorf("cancelled at %s: complete %v, %v", at, p.Complete, err)
		}
		checkUntouched(t, m)
		cancel()
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*profiler.Request){
		"format":        func(r *profiler.Request) { r.Format = 99 },
		"key":           func(r *profiler.Request) { r.Key = "" },
		"configuration": func(r *profiler.Request) { r.Configuration = "" },
		"seconds":       func(r *profiler.Request) { r.Seconds = -1 },
		"slowdown":      func(r *profiler.Request) { r.SlowdownPercent = math.NaN() },
		"source":        func(r *profiler.Request) { r.Sources = []interference.Source{"warp"} },
		"twice":         func(r *profiler.Request) { r.Sources = []interference.Source{bandwidth, bandwidth} },
		"probe":         func(r *profiler.Request) { r.Probe = &performance.ProbeSpec{Type: "psychic"} },
		"pattern":       func(r *profiler.Request) { r.Probe.Pattern = "(" },
	}
	for name, spoil := range tests {
		m := newMachine(1)
		r := request(bandwidth)
		spoil(&r)
		if _, err := measure(t, m, r); !errors.Is(err, profiler.ErrBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A service under open-loop load answers late for a while after the pressure
// is gone; its windows without pressure must begin after that. Here pressure
// beyond 25 % makes a queue, so that is where the service breaks.
func TestAQueueDrainsBeforeTheNextWindow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		m := newMachine(seed)
		m.share, m.queueing, m.noise = 0.99, true, 0.005
		r := request(bandwidth)
		r.Target = performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: time.Millisecond}}
		r.Probe = &performance.ProbeSpec{Type: "prometheus", Port: "metrics", Rate: "r", Latency: "l"}
		p, err := measure(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		e := p.Sensitivity.Tolerated[bandwidth]
		if low, high := e.Low.Or(101), e.High.Or(-1); low > 25 || high < 25 {
			t.Errorf("seed %d: tolerated %s [%s, %s] %s, planted 25", seed, e.Score, e.Low, e.High, e.Note)
		}
	}
}

// A workload that gets no CPU time cannot answer its probe either: from 60 %
// on it stands still, and that is where it breaks.
func TestSilenceUnderPressureIsAStandstill(t *testing.T) {
	t.Parallel()
	m := newMachine(5)
	m.noise = 0.005
	m.readError = func(time.Duration) error {
		if m.intensity >= 60 {
			return fmt.Errorf("%w: timeout", probe.ErrNotReady)
		}
		return nil
	}
	p, err := measure(t, m, request(bandwidth))
	if err != nil {
		t.Fatal(err)
	}
	e := p.Sensitivity.Tolerated[bandwidth]
	if low, high := e.Low.Or(101), e.High.Or(-1); low > 55 || high < 55 || high > 60 {
		t.Errorf("tolerated %s [%s, %s] %s, planted 55", e.Score, e.Low, e.High, e.Note)
	}
}
