package profiler_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// response is a relative performance under pressure x, 1 without.
type response func(x float64) float64

// curve is the pressure model of the specification of the kernels, §2.9: five
// percent lost at knee, quadratic below it, then a line down to floor at 100.
func curve(knee, floor float64) response {
	return func(x float64) float64 {
		if x <= knee {
			if knee == 0 {
				return 0.95
			}
			return 1 - 0.05*(x/knee)*(x/knee)
		}
		return 0.95 - (0.95-floor)*(x-knee)/(100-knee)
	}
}

func flat(float64) float64 { return 1 }

// points interpolates a published plot given at 10, 20, … 100.
func points(y ...float64) response {
	return func(x float64) float64 {
		at := x / 10
		i := int(at)
		if i >= len(y) {
			return y[len(y)-1]
		}
		before := 1.0
		if i > 0 {
			before = y[i-1]
		}
		return before + (y[i]-before)*(at-float64(i))
	}
}

// machine is a simulated workload next to a simulated kernel, on a clock that
// only sleeping moves. It is Clock, Subject, Bench and Kernel at once.
type machine struct {
	now    time.Time
	random *rand.Rand

	rate        float64 // units/s of the workload without pressure
	workload    response
	kernel      response
	cpus        response // part of the workload's progress that is CPU time lost, where it counts
	noise       float64  // sigma of the log of both speeds, per window of 250 ms
	drift       float64  // amplitude of a slow sine of the log of both speeds
	phase       float64  // of the sine, in radians
	wander      float64  // sigma of the log of the cores' tempo, which takes both speeds along
	heat        float64  // what full pressure takes off the log of the tempo
	burstsPerS  float64  // how often another guest of the host takes a fifth of both speeds for a moment
	tick        time.Duration
	stamps      bool    // readings say when the last tick was
	share       float64 // share of requests within 1 ms alone; 0: no latency
	late        bool    // no request is ever within 1 ms
	queueing    bool    // pressure beyond a quarter, and pauses, queue requests up
	readError   func(at time.Duration) error
	aliveError  func(at time.Duration) error
	kernelError error
	statsError  func(at time.Duration) error
	resumeError error
	resetAt     []time.Duration
	onSleep     func(at time.Duration)

	begun     time.Time
	ticked    time.Time     // the last tick
	queue     time.Duration // how long the queue takes to drain; all answers are late until then
	work, ops float64
	used      float64 // seconds of CPU time, where cpus is set
	demand    float64
	good      float64
	intensity float64
	paused    bool
	pauses    int
	resumes   int
	burst     time.Duration // what is left of one
	tempo     float64       // log of the cores' tempo, without what heat takes
	beats     []beat
	open      int
	readings  int
}

const kernelOps = 1e9 // per second at full intensity

func newMachine(seed uint64) *machine {
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &machine{
		now: epoch, begun: epoch, random: rand.New(rand.NewPCG(seed, 1)),
		rate: 20000, workload: flat, kernel: flat, noise: 0.02,
	}
}

func (m *machine) at() time.Duration { return m.now.Sub(m.begun) }

func (m *machine) Now() time.Time { return m.now }

// quantum is the step of the simulation; noise is drawn anew for each, so that
// a window of 250 ms averages some of them.
const quantum = 50 * time.Millisecond

// finely is the step where the tempo wanders, wanderTime how long it remembers.
const (
	finely     = 5 * time.Millisecond
	wanderTime = 150 * time.Millisecond
)

// beat is the tempo from one moment on.
type beat struct {
	from  time.Time
	tempo float64
}

func (m *machine) beat(step time.Duration) float64 {
	keep := math.Exp(-step.Seconds() / wanderTime.Seconds())
	m.tempo = keep*m.tempo + m.wander*math.Sqrt(1-keep*keep)*m.random.NormFloat64()
	tempo := m.tempo
	if m.open > 0 {
		tempo -= m.heat * m.intensity / 100
	}
	m.beats = append(m.beats, beat{m.now.Add(-step), math.Exp(tempo)})
	return math.Exp(tempo)
}

// Mean is the mean tempo of the simulated cores.
func (m *machine) Mean(from, to time.Time) float64 {
	sum, n := 0.0, 0
	for i := len(m.beats) - 1; i >= 0 && !m.beats[i].from.Before(from); i-- {
		if m.beats[i].from.Before(to) {
			sum, n = sum+m.beats[i].tempo, n+1
		}
	}
	return sum / float64(n)
}

func (m *machine) Sleep(ctx context.Context, d time.Duration) error {
	for d > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := min(d, quantum)
		if m.wander > 0 {
			step = min(d, finely)
		}
		m.advance(step)
		d -= step
	}
	return ctx.Err()
}

// queueUp lengthens the queue while requests are not served as they come, and
// drains it otherwise.
func (m *machine) queueUp(step time.Duration) {
	if m.queueing && (m.paused || m.intensity > 25) {
		m.queue = min(m.queue+2*step, 3*time.Second)
		return
	}
	m.queue = max(0, m.queue-step)
}

// advance moves the world: both parties interfere with each other at once.
func (m *machine) advance(step time.Duration) {
	m.now = m.now.Add(step)
	seconds := step.Seconds()
	// The noise of quanta averages out over a window of 250 ms, so each has
	// more of it.
	scale := m.noise * math.Sqrt(float64(250*time.Millisecond)/float64(step))
	common := m.disturbed(step)
	draw := func() float64 { return math.Exp(scale*m.random.NormFloat64()) * common }
	if !m.paused {
		speed := m.rate * m.workload(m.intensity) * draw()
		if m.cpus != nil {
			got := m.cpus(m.intensity) * (1 + 0.1*m.random.NormFloat64())
			speed *= got
			m.used += got * seconds
		}
		m.work += speed * seconds
		if perTick := m.rate * m.tick.Seconds(); perTick > 0 && math.Mod(m.work, perTick) < speed*seconds {
			ago := math.Mod(m.work, perTick) / speed
			m.ticked = m.now.Add(-time.Duration(ago * float64(time.Second)))
		}
		if m.queue <= 0 {
			m.good += speed * seconds * m.share
		}
	}
	m.queueUp(step)
	if m.open > 0 {
		slow := 1.0
		if !m.paused {
			slow = m.kernel(m.intensity)
		}
		m.ops += kernelOps * m.intensity / 100 * slow * draw() * seconds
		m.demand += kernelOps * m.intensity / 100 * seconds
	}
	for len(m.resetAt) > 0 && m.at() >= m.resetAt[0] {
		m.resetAt, m.work, m.good = m.resetAt[1:], 0, 0
	}
	if m.onSleep != nil {
		m.onSleep(m.at())
	}
}

// driftPeriod is slow against a window and short against a source.
const driftPeriod = 30 * time.Second

// disturbed is what the rest of the host does to both speeds at once.
func (m *machine) disturbed(step time.Duration) float64 {
	f := math.Exp(m.drift * math.Sin(m.phase+2*math.Pi*m.at().Seconds()/driftPeriod.Seconds()))
	if m.wander > 0 || m.heat > 0 {
		f *= m.beat(step)
	}
	if m.burstsPerS > 0 && m.burst <= 0 && m.random.Float64() < m.burstsPerS*step.Seconds() {
		m.burst = 200 * time.Millisecond
	}
	if m.burst > 0 {
		m.burst -= step
		f *= 0.8
	}
	return f
}

func (m *machine) Read(context.Context) (performance.Reading, error) {
	m.readings++
	if m.readError != nil {
		if err := m.readError(m.at()); err != nil {
			return performance.Reading{}, err
		}
	}
	r := performance.Reading{At: m.now, Work: math.Floor(m.work), RateNow: math.NaN()}
	if m.tick > 0 {
		perTick := m.rate * m.tick.Seconds()
		r.Work = math.Floor(m.work/perTick) * perTick
	}
	if m.stamps {
		r.At, r.Exact = m.ticked, true
	}
	if m.share > 0 || m.late {
		r.Latency = []performance.Bucket{{UpperSeconds: 0.001, Count: m.good}, {UpperSeconds: math.Inf(1), Count: m.work}}
	}
	return r, nil
}

func (m *machine) Pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.paused = true
	m.pauses++
	return nil
}

func (m *machine) Resume(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.resumeError != nil {
		return m.resumeError
	}
	m.paused = false
	m.resumes++
	return nil
}

func (m *machine) Alive(context.Context) error {
	if m.aliveError != nil {
		return m.aliveError(m.at())
	}
	return nil
}

func (m *machine) Kernel(context.Context, interference.Source) (profiler.Kernel, error) {
	if m.kernelError != nil {
		return nil, m.kernelError
	}
	m.open++
	m.intensity = 0
	return kernelOf{m}, nil
}

// kernelOf is the machine's one kernel.
type kernelOf struct{ m *machine }

func (k kernelOf) Set(ctx context.Context, percent float64) error {
	if percent < 0 || percent > 100 {
		return fmt.Errorf("intensity %v", percent)
	}
	k.m.intensity = percent
	return ctx.Err()
}

func (k kernelOf) Stats(ctx context.Context) (profiler.KernelStats, error) {
	if k.m.statsError != nil {
		if err := k.m.statsError(k.m.at()); err != nil {
			return profiler.KernelStats{}, err
		}
	}
	return profiler.KernelStats{
		At: k.m.now, IntensityPct: k.m.intensity, Ops: k.m.ops, DemandOps: k.m.demand,
		WallNanoseconds: float64(k.m.at()), Unit: "bytes",
	}, ctx.Err()
}

func (kernelOf) Speed(a, b profiler.KernelStats) float64 {
	return (b.Ops - a.Ops) / (b.WallNanoseconds - a.WallNanoseconds) * 1e9
}

func (kernelOf) Placement() string { return "beside" }

func (kernelOf) Window() time.Duration { return 50 * time.Millisecond }

func (k kernelOf) Close() error {
	if k.m.open == 0 {
		return errors.New("closed twice")
	}
	k.m.open--
	k.m.intensity = 0
	return nil
}

func request(sources ...interference.Source) profiler.Request {
	return profiler.Request{
		Format: profiler.RequestFormat, Key: "k", Workload: "default/cache/cache", Configuration: "large",
		NodeID: "n1", NodeName: "one", Task: "server",
		Target: performance.Target{Kind: performance.Rate, Rate: 20000, Unit: "rows"},
		Probe:  &performance.ProbeSpec{Type: "log", Pattern: `rows=(\d+)`},
		// Two sources in 45 s, as the issue asks.
		Sources: sources, Seconds: 45, SlowdownPercent: 5, Seed: 1,
	}
}

func options(m *machine) profiler.Options { return profiler.Options{Clock: m} }
