package profiling

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// shipped is an application of the training set, simulated: it responds to each source as
// its row says, on a clock that only sleeping moves. It is Clock, Subject, Bench and Kernel
// of a profiling run.
type shipped struct {
	workload, kernel map[interference.Source][]ramped
	noise            float64 // sigma of the log of both speeds, for each window of 250 ms
	random           *rand.Rand
	report           func(at time.Duration, work float64) float64 // what the probe says; nil: the truth
	phases           func(at time.Duration) float64               // factor of its speed; nil: none

	now       time.Time
	source    interference.Source
	intensity float64
	paused    bool
	work, ops float64
}

// ramped is a point of a response.
type ramped struct{ intensity, kept float64 }

var simulatedEpoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newShipped(row profile.Profile, noise float64, seed uint64) *shipped {
	side := func(ratio func(profile.RampPoint) *float64) map[interference.Source][]ramped {
		out := map[interference.Source][]ramped{}
		for _, r := range row.Ramp {
			if v := ratio(r); v != nil {
				out[r.Source] = append(out[r.Source], ramped{r.IntensityPercent, *v})
			}
		}
		for s, points := range out {
			slices.SortFunc(points, func(a, b ramped) int { return cmp.Compare(a.intensity, b.intensity) })
			level := make([]float64, len(points))
			for i, p := range points {
				level[i] = p.kept
			}
			for i, v := range stat.NonIncreasing(level, nil) {
				points[i].kept = min(1, v)
			}
			out[s] = points
		}
		return out
	}
	return &shipped{
		workload: side(func(r profile.RampPoint) *float64 { return r.WorkloadRatio }),
		kernel:   side(func(r profile.RampPoint) *float64 { return r.KernelRatio }),
		noise:    noise, random: rand.New(rand.NewPCG(seed, 7)), now: simulatedEpoch,
	}
}

// kept at a pressure: on lines between the points, from 1 at none.
func kept(points []ramped, x float64) float64 {
	before := ramped{0, 1}
	for _, p := range points {
		if x <= p.intensity {
			return before.kept + (p.kept-before.kept)*(x-before.intensity)/(p.intensity-before.intensity)
		}
		before = p
	}
	return before.kept
}

func (m *shipped) at() time.Duration { return m.now.Sub(simulatedEpoch) }

func (m *shipped) Now() time.Time { return m.now }

func (m *shipped) Sleep(ctx context.Context, d time.Duration) error {
	const quantum = 50 * time.Millisecond
	for d > 0 && ctx.Err() == nil {
		step := min(d, quantum)
		d -= step
		m.now = m.now.Add(step)
		scale := m.noise * math.Sqrt(float64(250*time.Millisecond)/float64(step))
		speed := func(of []ramped) float64 {
			return step.Seconds() * kept(of, m.intensity) * math.Exp(scale*m.random.NormFloat64())
		}
		if !m.paused {
			work := 20000 * speed(m.workload[m.source])
			if m.phases != nil {
				work *= m.phases(m.at())
			}
			m.work += work
		}
		beside := m.kernel[m.source]
		if m.paused {
			beside = nil
		}
		m.ops += 1e9 * m.intensity / 100 * speed(beside)
	}
	return ctx.Err()
}

func (m *shipped) Read(context.Context) (performance.Reading, error) {
	work := math.Floor(m.work)
	if m.report != nil {
		work = m.report(m.at(), work)
	}
	return performance.Reading{At: m.now, Work: work, RateNow: math.NaN()}, nil
}

func (m *shipped) Pause(ctx context.Context) error  { m.paused = true; return ctx.Err() }
func (m *shipped) Resume(ctx context.Context) error { m.paused = false; return ctx.Err() }
func (m *shipped) Alive(ctx context.Context) error  { return ctx.Err() }

func (m *shipped) Kernel(_ context.Context, s interference.Source) (profiler.Kernel, error) {
	m.source, m.intensity = s, 0
	return shippedKernel{m}, nil
}

type shippedKernel struct{ m *shipped }

func (k shippedKernel) Set(ctx context.Context, percent float64) error {
	k.m.intensity = percent
	return ctx.Err()
}

func (k shippedKernel) Stats(ctx context.Context) (profiler.KernelStats, error) {
	return profiler.KernelStats{At: k.m.now, IntensityPct: k.m.intensity, Ops: k.m.ops, WallNanoseconds: float64(k.m.at()), Unit: "bytes"}, ctx.Err()
}

func (shippedKernel) Speed(a, b profiler.KernelStats) float64 {
	return (b.Ops - a.Ops) / (b.WallNanoseconds - a.WallNanoseconds) * 1e9
}

func (shippedKernel) Placement() string     { return "beside" }
func (shippedKernel) Window() time.Duration { return 50 * time.Millisecond }
func (k shippedKernel) Close() error        { k.m.intensity = 0; return nil }

// profiled is what a run of default length leaves of it.
func (m *shipped) profiled(ctx context.Context, sources []interference.Source, seed uint64) (profile.Profile, error) {
	return profiler.Measure(ctx, profiler.Request{
		Format: profiler.RequestFormat, Key: "k", Workload: "default/new/new", Configuration: "large", NodeID: "n1", NodeName: "one", Task: "server",
		Target: performance.Target{Kind: performance.Rate, Rate: 20000, Unit: "rows"}, Probe: &performance.ProbeSpec{Type: "log", Pattern: `rows=(\d+)`},
		Sources: sources, Seconds: performance.DefaultProfileSeconds, SlowdownPercent: performance.DefaultSlowdownMaxPercent, Seed: seed,
	}, m, m, profiler.Options{Clock: m})
}
