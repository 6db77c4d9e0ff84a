package pairs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// machine is a simulated one: time passes only in Sleep, and each subject works
// at a speed that depends on who else runs.
type machine struct {
	now      time.Time
	subjects map[string]*simulated
	// ratio is the speed of a subject beside another over its speed in isolation.
	ratio func(who, other *simulated) float64
	// drift is the machine's own speed at a time.
	drift  func(since time.Duration) float64
	start  time.Time
	random *rand.Rand
	noise  float64 // relative, of each millisecond's work
}

func (m *machine) Now() time.Time { return m.now }

func (m *machine) Sleep(ctx context.Context, d time.Duration) error {
	for range d / time.Millisecond {
		m.now = m.now.Add(time.Millisecond)
		for _, name := range sorted(m.subjects) {
			m.subjects[name].work(m)
		}
	}
	return ctx.Err()
}

func sorted(m map[string]*simulated) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// simulated is a workload whose count moves in steps.
type simulated struct {
	machine *machine
	speed   float64 // units/s alone
	step    float64 // units counted at once
	running bool
	cpus    []int
	done    float64
	counted float64
	at      time.Time // of the last step
	pauses  int
	broken  error
}

func (s *simulated) work(m *machine) {
	if !s.running {
		return
	}
	v := s.speed / 1000 * m.drift(m.now.Sub(m.start)) * (1 + m.noise*m.random.NormFloat64())
	for _, other := range m.subjects {
		if other != s && other.running {
			v *= m.ratio(s, other)
		}
	}
	s.done += v
	if s.done-s.counted >= s.step {
		s.counted, s.at = s.done, m.now
	}
}

func (s *simulated) Read(context.Context) (performance.Reading, error) {
	if !s.running {
		return performance.Reading{}, errors.New("it stands still and cannot answer")
	}
	return performance.Reading{At: s.at, Work: s.counted, RateNow: math.NaN()}, s.broken
}

func (s *simulated) Pause(context.Context) error {
	s.running = false
	s.pauses++
	return nil
}

func (s *simulated) Resume(context.Context) error { s.running = true; return nil }
func (s *simulated) Alive(context.Context) error  { return s.broken }

func (s *simulated) Pin(_ context.Context, cpus []int) error {
	if s.running {
		return errors.New("bound while it runs")
	}
	s.cpus = cpus
	return nil
}

func newMachine(seed uint64) *machine {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &machine{
		now: start, start: start, subjects: map[string]*simulated{}, random: rand.New(rand.NewPCG(seed, seed)),
		ratio: func(_, _ *simulated) float64 { return 1 }, drift: func(time.Duration) float64 { return 1 },
	}
}

// add makes a running workload.
func (m *machine) add(name string, speed, step float64) {
	m.subjects[name] = &simulated{machine: m, speed: speed, step: step, running: true, at: m.start}
}

func (m *machine) request(choices ...pairs.Choice) pairs.Request {
	r := pairs.Request{Format: pairs.RequestFormat, Pairs: choices, CPUs: []int{0, 1}, Configuration: "c", Seed: 5}
	for _, name := range sorted(m.subjects) {
		r.Applications = append(r.Applications, pairs.Application{
			Key: "key-" + name, Application: name, Task: "task-" + name, Target: performance.Target{Kind: performance.Rate, Rate: 1, Unit: "steps"},
		})
	}
	return r
}

func (m *machine) measure(ctx context.Context, r pairs.Request) ([]profile.Pair, error) {
	subjects := map[string]pairs.Subject{}
	for name, s := range m.subjects {
		subjects[name] = s
	}
	var out []profile.Pair
	err := pairs.Measure(ctx, r, subjects, pairs.Options{Clock: m, Machine: profile.Machine{CPUModel: "simulated"}, Measured: func(p profile.Pair) error {
		out = append(out, p)
		return nil
	}})
	return out, err
}

// Planted ratios come back, for workloads that count finely and coarsely, on a
// machine that slows down while it is measured.
func TestPlantedRatios(t *testing.T) {
	t.Parallel()
	planted := map[string]float64{"a": 0.83, "b": 0.51, "c": 1}
	for _, steps := range [][2]float64{{0.01, 0.01}, {5, 0.01}, {20, 40}} {
		m := newMachine(uint64(steps[0]*100 + 1))
		m.noise = 0.05
		m.drift = func(since time.Duration) float64 { return 1 - since.Seconds()/60 }
		m.add("a", 400, steps[0])
		m.add("b", 900, steps[1])
		m.add("c", 100, 1)
		m.ratio = func(who, other *simulated) float64 {
			if slices.Equal(who.cpus, other.cpus) {
				return 0.5 * planted[nameOf(m, who)]
			}
			return planted[nameOf(m, who)]
		}
		got, err := m.measure(t.Context(), m.request(pairs.Choice{A: "a", B: "b", Placement: pairs.Beside}, pairs.Choice{A: "b", B: "a", Placement: pairs.Same}))
		if err != nil || len(got) != 2 {
			t.Fatalf("steps %v: %d pairs, %v", steps, len(got), err)
		}
		// A coarse step is up to a tenth of a window; six rounds average it.
		tolerance := 0.01 + 0.05*max(steps[0]/80, steps[1]/180)
		for i, side := range []profile.PairSide{got[0].A, got[0].B, got[1].A, got[1].B} {
			want := planted[side.Application]
			if i > 1 {
				want *= 0.5
			}
			if math.Abs(side.Ratio-want) > tolerance || side.Low > side.Ratio || side.High < side.Ratio {
				t.Errorf("steps %v: %s: %.3f [%.3f, %.3f], want %.3f", steps, side.Application, side.Ratio, side.Low, side.High, want)
			}
			if side.Isolated.Unit != "steps/s" || side.Key != "key-"+side.Application {
				t.Errorf("side %+v", side)
			}
		}
		if !slices.Equal(got[0].A.CPUs, []int{0}) || !slices.Equal(got[0].B.CPUs, []int{1}) || !slices.Equal(got[1].B.CPUs, []int{0}) {
			t.Errorf("bound to %v %v %v", got[0].A.CPUs, got[0].B.CPUs, got[1].B.CPUs)
		}
		for name, s := range m.subjects {
			if !s.running {
				t.Errorf("%s was left standing", name)
			}
		}
	}
}

func nameOf(m *machine, s *simulated) string {
	for name, other := range m.subjects {
		if other == s {
			return name
		}
	}
	return ""
}

// Coverage: of many pairs without any effect, the interval holds 1 in about 95 %
// of the sides (six rounds give 96.9 %); the bound is four standard deviations
// below.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	m.noise = 0.5
	m.add("a", 1000, 0.01)
	m.add("b", 1000, 0.01)
	choices := slices.Repeat([]pairs.Choice{{A: "a", B: "b", Placement: pairs.Beside}}, 200)
	got, err := m.measure(t.Context(), m.request(choices...))
	if err != nil {
		t.Fatal(err)
	}
	covered := 0
	for _, p := range got {
		for _, s := range []profile.PairSide{p.A, p.B} {
			if s.Low <= 1 && 1 <= s.High {
				covered++
			}
		}
	}
	const sides, expected = 400, 0.969
	if share := float64(covered) / sides; share < expected-4*math.Sqrt(expected*(1-expected)/sides) {
		t.Errorf("%d of %d sides covered", covered, sides)
	}
}

// A workload that dies takes its own pairs with it and no others.
func TestOneWorkloadFails(t *testing.T) {
	t.Parallel()
	m := newMachine(1)
	for _, name := range []string{"a", "b", "c"} {
		m.add(name, 100, 0.1)
	}
	gone := errors.New("it has ended")
	r := m.request(pairs.Choice{A: "a", B: "b", Placement: pairs.Same}, pairs.Choice{A: "b", B: "c", Placement: pairs.Same},
		pairs.Choice{A: "a", B: "c", Placement: pairs.Same})
	broken := false
	subjects := map[string]pairs.Subject{}
	for name, s := range m.subjects {
		subjects[name] = s
	}
	var got []string
	err := pairs.Measure(t.Context(), r, subjects, pairs.Options{Clock: m, Measured: func(p profile.Pair) error {
		got = append(got, p.A.Application+p.B.Application)
		if !broken {
			m.subjects["b"].broken, broken = gone, true
		}
		return nil
	}})
	if !errors.Is(err, pairs.ErrPartial) || !errors.Is(err, gone) || !strings.Contains(err.Error(), "b:") {
		t.Errorf("error %v", err)
	}
	if fmt.Sprint(got) != "[ab ac]" {
		t.Errorf("measured %v", got)
	}
}

func TestEndOfContextResumesAll(t *testing.T) {
	t.Parallel()
	m := newMachine(1)
	m.add("a", 100, 0.1)
	m.add("b", 100, 0.1)
	ctx, cancel := context.WithCancel(t.Context())
	subjects := map[string]pairs.Subject{"a": m.subjects["a"], "b": m.subjects["b"]}
	choice := pairs.Choice{A: "a", B: "b", Placement: pairs.Same}
	err := pairs.Measure(ctx, m.request(choice, choice), subjects, pairs.Options{Clock: m, Measured: func(profile.Pair) error {
		cancel()
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for name, s := range m.subjects {
		if !s.running || s.pauses == 0 {
			t.Errorf("%s: running %v after %d pauses", name, s.running, s.pauses)
		}
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	good := func() pairs.Request {
		m := newMachine(1)
		m.add("a", 1, 1)
		m.add("b", 1, 1)
		return m.request(pairs.Choice{A: "a", B: "b", Placement: pairs.Beside})
	}
	if _, err := good().WithDefaults(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*pairs.Request){
		"format":    func(r *pairs.Request) { r.Format = 2 },
		"no pairs":  func(r *pairs.Request) { r.Pairs = nil },
		"rounds":    func(r *pairs.Request) { r.Rounds = 1000 },
		"time":      func(r *pairs.Request) { r.WindowMillis = -1 },
		"CPUs":      func(r *pairs.Request) { r.CPUs = nil },
		"one CPU":   func(r *pairs.Request) { r.CPUs = r.CPUs[:1] },
		"stranger":  func(r *pairs.Request) { r.Pairs[0].B = "x" },
		"itself":    func(r *pairs.Request) { r.Pairs[0].B = "a" },
		"placement": func(r *pairs.Request) { r.Pairs[0].Placement = "near" },
		"twice":     func(r *pairs.Request) { r.Applications[1].Application = "a" },
		"no key":    func(r *pairs.Request) { r.Applications[1].Key = "" },
	}
	for name, spoil := range tests {
		r := good()
		spoil(&r)
		if _, err := r.WithDefaults(); !errors.Is(err, pairs.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
