package profiler

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// pressed is a kernel at work, with what was seen of it.
type pressed struct {
	kernel   Kernel
	achieved map[int][]float64 // percent of the demand, by level
}

func newPressed(k Kernel) *pressed {
	return &pressed{kernel: k, achieved: map[int][]float64{}}
}

// tolerated searches for the pressure at which the workload loses its bound
// (Delimitrou 2015, §3.3.2): off is the kernel at rest, on the kernel at the
// level.
func (r *run) tolerated(ctx context.Context, p *pressed, deadline time.Time) (*search, bracket, error) {
	c := &contrast{
		pace:    r.pace,
		equal:   &r.noise,
		onFirst: r.random.IntN(2) == 0,
		backlog: func(c condition) time.Duration {
			if c.on {
				return 0 // what queues up under pressure is its effect
			}
			return r.drain(drainAfterPressure)
		},
		set: func(ctx context.Context, c condition) error {
			if !c.on {
				return p.kernel.Set(ctx, 0)
			}
			return p.kernel.Set(ctx, c.percent)
		},
		measure: func(ctx context.Context, c condition) (float64, error) {
			if !c.on {
				return r.window(ctx)
			}
			v, err := r.windowPressed(ctx, p)
			if starved(err) {
				return 0, nil
			}
			return v, err
		},
	}
	s, b, err := r.searchUntil(ctx, deadline, c)
	if err != nil {
		return s, b, err
	}
	return s, b, p.kernel.Set(ctx, 0)
}

// starved: under pressure the workload lives but does not even answer its
// probe, which it does without. That is a standstill, not a failed window.
func starved(err error) bool {
	var bad *badWindow
	return errors.As(err, &bad) && errors.Is(bad.cause, probe.ErrNotReady)
}

// windowPressed is a workload's window with a look at what the kernel achieves
// in it.
func (r *run) windowPressed(ctx context.Context, p *pressed) (float64, error) {
	before, err := p.kernel.Stats(ctx)
	if err != nil {
		return math.NaN(), err
	}
	v, windowErr := r.window(ctx)
	after, err := p.kernel.Stats(ctx)
	if err != nil {
		return math.NaN(), err
	}
	if windowErr == nil {
		p.achieve(r.intensity, before, after)
	}
	return v, windowErr
}

// achieve notes the share of the demanded operations that were done.
func (p *pressed) achieve(percent float64, a, b KernelStats) {
	if demand := b.DemandOps - a.DemandOps; demand > 0 {
		share := 100 * (b.Ops - a.Ops) / demand
		p.achieved[int(percent)] = append(p.achieved[int(percent)], share)
	}
}

// achievedPercent is the median share; ok is false where the kernel states no
// demand.
func (p *pressed) achievedPercent(percent int) (v float64, ok bool) {
	v = stat.Median(p.achieved[percent])
	return v, !math.IsNaN(v)
}
