package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// caused searches for the intensity at which the kernel loses its bound because
// of the workload: off is the workload paused, on the workload running. Where
// the kernel shares the workload's CPUs a pause also gives it their time; that
// is part of what the workload does to others.
func (r *run) caused(ctx context.Context, p *pressed, deadline time.Time) (s *search, b bracket, err error) {
	if y, ok := p.kernel.(Yielder); ok {
		if err := y.Yield(ctx); err != nil {
			return nil, bracket{}, err
		}
	}
	paused := false
	resume := func() error {
		if !paused {
			return nil
		}
		ctx, cancel := cleanup(ctx)
		defer cancel()
		if err := r.subject.Resume(ctx); err != nil {
			return fmt.Errorf("%w: %w", ErrStillPaused, err)
		}
		paused = false
		return nil
	}
	// Also on a panic in a Subject or a Bench: a paused workload is worse than
	// a lost run.
	defer func() { err = errors.Join(err, resume()) }()

	pace := r.pace.forKernel()
	c := &contrast{
		pace:    pace,
		equal:   &noise{}, // a kernel's speed varies in its own way: learned on the way
		onFirst: r.random.IntN(2) == 0,
		backlog: func(c condition) time.Duration {
			if !c.on {
				return 0 // a paused workload answers nothing
			}
			// A workload that catches up causes more than it usually does.
			return r.drain(drainAfterPause)
		},
		set: func(ctx context.Context, c condition) error {
			if err := p.kernel.Set(ctx, c.percent); err != nil {
				return err
			}
			if c.on {
				return resume()
			}
			paused = true // before the call: a failed pause may have paused a part
			if err := r.subject.Pause(ctx); err != nil {
				return fmt.Errorf("pause the workload: %w", err)
			}
			return nil
		},
		measure: func(ctx context.Context, c condition) (float64, error) {
			return r.kernelWindow(ctx, p, pace.dwell, c.on)
		},
	}
	return r.searchUntil(ctx, deadline, c)
}

// kernelWindow measures the kernel's own speed for one dwell at the present
// level.
func (r *run) kernelWindow(ctx context.Context, p *pressed, dwell time.Duration, running bool) (float64, error) {
	before, err := p.kernel.Stats(ctx)
	if err != nil {
		return math.NaN(), err
	}
	if err := r.sleep(ctx, dwell); err != nil {
		return math.NaN(), err
	}
	after, err := p.kernel.Stats(ctx)
	if err != nil {
		return math.NaN(), err
	}
	if running {
		if err := r.alive(ctx); err != nil {
			return math.NaN(), err
		}
		p.achieve(r.intensity, before, after)
	}
	speed := p.kernel.Speed(before, after)
	if math.IsNaN(speed) || math.IsInf(speed, 0) || speed < 0 {
		return math.NaN(), &badWindow{fmt.Errorf("the kernel gave a speed of %v", speed)}
	}
	return speed, nil
}
