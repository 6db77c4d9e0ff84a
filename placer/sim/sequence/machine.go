package sequence

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// What disturbs a simulated run, as in the study of the estimator (profiler.TestStudy):
// a slow drift of both speeds, and another guest of the host that takes a fifth of both for a
// moment.
const (
	driftAmplitude  = 0.02
	driftPeriod     = 30 * time.Second
	burstsPerSecond = 0.15
	burstLength     = 200 * time.Millisecond
	burstTakes      = 0.2
)

// quantum is the step of a simulated machine.
const quantum = 50 * time.Millisecond

// kernelStarts is how long a kernel takes until it presses (chosen by us: a process is
// started, and some fill memory first).
const kernelStarts = 500 * time.Millisecond

const kernelOpsPerSecond = 1e9

// machine is a copy of an application under profile next to a kernel, on a clock that only
// sleeping moves: Clock, Subject and Bench at once.
type machine struct {
	application *truth.Application
	columns     []interference.Source
	rate        float64 // units/s without pressure
	sigma       float64 // of the log of both speeds, per window of 250 ms
	phase       float64 // of the drift
	random      *rand.Rand

	now, begun time.Time
	burst      time.Duration
	paused     bool
	active     int // column under pressure; -1: none
	intensity  float64
	work       float64
	ops        float64
	demand     float64
}

func newMachine(a *truth.Application, columns []interference.Source, rate, sigma float64, seed uint64) *machine {
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	random := rand.New(rand.NewPCG(seed, streamMachine))
	return &machine{
		application: a, columns: columns, rate: rate, sigma: sigma, phase: 2 * math.Pi * random.Float64(), random: random,
		now: epoch, begun: epoch, active: -1,
	}
}

func (m *machine) Now() time.Time { return m.now }

func (m *machine) Sleep(ctx context.Context, d time.Duration) error {
	for d > 0 && ctx.Err() == nil {
		step := min(d, quantum)
		m.advance(step)
		d -= step
	}
	return ctx.Err()
}

// advance moves the world by a step.
func (m *machine) advance(step time.Duration) {
	m.now = m.now.Add(step)
	at := m.now.Sub(m.begun)
	common := math.Exp(driftAmplitude * math.Sin(m.phase+2*math.Pi*at.Seconds()/driftPeriod.Seconds()))
	if m.burst <= 0 && m.random.Float64() < burstsPerSecond*step.Seconds() {
		m.burst = burstLength
	}
	if m.burst > 0 {
		m.burst -= step
		common *= 1 - burstTakes
	}
	// The noise of steps averages out over a window, so each has more of it.
	scale := m.sigma * math.Sqrt(0.25/step.Seconds())
	own, kernel := math.Exp(scale*m.random.NormFloat64()), math.Exp(scale*m.random.NormFloat64())
	p := &m.application.Phases[0]
	if !m.paused {
		kept := 1.0
		if m.active >= 0 {
			kept = p.Response[m.active].At(m.intensity)
		}
		m.work += m.rate * kept * own * common * step.Seconds()
	}
	if m.active >= 0 {
		kept := 1.0
		if !m.paused {
			q := p.Pressure[m.active]
			curve := truth.Planted(100-q, max(0.1, 1-q/100))
			kept = curve.At(m.intensity)
		}
		m.ops += kernelOpsPerSecond * m.intensity / 100 * kept * kernel * common * step.Seconds()
		m.demand += kernelOpsPerSecond * m.intensity / 100 * step.Seconds()
	}
}

// Read implements profiler.Subject.
func (m *machine) Read(context.Context) (performance.Reading, error) {
	return performance.Reading{At: m.now, Work: math.Floor(m.work), RateNow: math.NaN()}, nil
}

// Pause implements profiler.Subject.
func (m *machine) Pause(context.Context) error { m.paused = true; return nil }

// Resume implements profiler.Subject.
func (m *machine) Resume(context.Context) error { m.paused = false; return nil }

// Alive implements profiler.Subject.
func (m *machine) Alive(context.Context) error { return nil }

// Kernel implements profiler.Bench.
func (m *machine) Kernel(ctx context.Context, s interference.Source) (profiler.Kernel, error) {
	for k, c := range m.columns {
		if c != s {
			continue
		}
		if err := m.Sleep(ctx, kernelStarts); err != nil {
			return nil, err
		}
		m.active, m.intensity = k, 0
		if info, _ := interference.Info(s); info.Scope == interference.ScopeCore {
			return yielding{kernel{m}}, nil
		}
		return kernel{m}, nil
	}
	return nil, profiler.ErrKernelUnsupported
}

type kernel struct{ m *machine }

func (k kernel) Set(ctx context.Context, percent float64) error {
	k.m.intensity = percent
	return ctx.Err()
}

func (k kernel) Stats(ctx context.Context) (profiler.KernelStats, error) {
	return profiler.KernelStats{
		At: k.m.now, IntensityPct: k.m.intensity, Ops: k.m.ops, DemandOps: k.m.demand,
		WallNanoseconds: float64(k.m.now.Sub(k.m.begun)), Unit: "ops",
	}, ctx.Err()
}

func (kernel) Speed(a, b profiler.KernelStats) float64 {
	return (b.Ops - a.Ops) / (b.WallNanoseconds - a.WallNanoseconds) * 1e9
}

func (kernel) Placement() string { return "beside" }

func (kernel) Window() time.Duration { return 50 * time.Millisecond }

var errClosed = errors.New("the kernel was closed before")

func (k kernel) Close() error {
	if k.m.active < 0 {
		return errClosed
	}
	k.m.active = -1
	return nil
}

// yielding is a kernel on the workload's own CPUs: both scores need windows of their own.
type yielding struct{ kernel }

func (yielding) Placement() string { return profiler.PlacementSame }

func (yielding) Yield(ctx context.Context) error { return ctx.Err() }
