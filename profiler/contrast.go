package profiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// contrast compares windows under two conditions.
type contrast struct {
	// set brings about a condition.
	set func(ctx context.Context, c condition) error
	// measure gives the performance of one window under the present condition.
	measure func(ctx context.Context, c condition) (float64, error)
	pace    pace
	// backlog is how long work that queued up under the condition before may
	// drain before a window; nil: the workload's queue does not matter.
	backlog func(c condition) time.Duration
	equal   *noise     // grows with every two windows under one condition
	onFirst bool       // order of the next pair
	present *condition // nil before the first
	last    float64    // the window before under present; NaN once compared
	bad     int        // windows without a number, in a row
}

// condition is what a window is measured under: on is with the other party
// present.
type condition struct {
	on      bool
	percent float64 // the kernel's level, where the condition has one
}

// pair measures both conditions once. Orders alternate, so that four windows
// make ABBA and a linear drift cancels; the first order is drawn by lot.
func (r *run) pair(ctx context.Context, c *contrast) (on, off float64, err error) {
	order := [2]bool{c.onFirst, !c.onFirst}
	c.onFirst = !c.onFirst
	for _, present := range order {
		v, err := r.measureUnder(ctx, c, condition{present, r.intensity})
		if err != nil {
			return 0, 0, err
		}
		if present {
			on = v
		} else {
			off = v
		}
	}
	return on, off, nil
}

func (r *run) measureUnder(ctx context.Context, c *contrast, want condition) (float64, error) {
	if c.present == nil || *c.present != want {
		if err := c.set(ctx, want); err != nil {
			return 0, err
		}
		c.present, c.last = &want, math.NaN()
		limit := time.Duration(0)
		if c.backlog != nil {
			limit = c.backlog(want)
		}
		if err := r.settle(ctx, c.pace.settle, limit); err != nil {
			return 0, err
		}
	}
	v, err := c.measure(ctx, want)
	if err != nil {
		c.last = math.NaN()
		return v, err
	}
	if math.IsNaN(c.last) {
		c.last = v
	} else {
		c.equal.add(c.last, v)
		c.last = math.NaN()
	}
	return v, nil
}

// take measures one more pair at a level. A pair that gives no ratio is dropped
// and counted; too many in a row are an error.
func (r *run) take(ctx context.Context, c *contrast, l *level) error {
	r.intensity = float64(l.percent)
	on, off, err := r.pair(ctx, c)
	var bad *badWindow
	switch {
	case errors.As(err, &bad):
		l.dropped++
		if c.bad++; c.bad >= maxBadWindows {
			return fmt.Errorf("%d windows in a row gave no number: %w", c.bad, bad.cause)
		}
		// A probe that fails at once must not turn this into a busy loop.
		return r.sleep(ctx, c.pace.dwell)
	case err != nil:
		return err
	}
	c.bad = 0
	if v, ok := stat.LogRatio(on, off); ok {
		l.logs = append(l.logs, v)
	} else {
		l.dropped++
	}
	return nil
}

// searchUntil finds the crossing of a contrast in the time until deadline.
func (r *run) searchUntil(ctx context.Context, deadline time.Time, c *contrast) (*search, bracket, error) {
	s := &search{
		levels:   map[int]*level{},
		logBound: r.logBound,
		noise:    c.equal,
		take:     func(ctx context.Context, l *level) error { return r.take(ctx, c, l) },
		more:     func() bool { return !r.clock.Now().Add(c.pace.pair()).After(deadline) },
	}
	b, err := s.run(ctx)
	return s, b, err
}
