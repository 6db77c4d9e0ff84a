package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// outcome is what was measured of one job.
type outcome struct {
	Nodes       []string `json:"nodes,omitempty"`
	RatePerSec  float64  `json:"rate_per_sec,omitempty"`
	TailMillis  float64  `json:"tail_millis,omitempty"`
	TookSeconds float64  `json:"took_seconds,omitempty"` // a batch job
	Missing     string   `json:"missing,omitempty"`      // why there is no number
	Target      string   `json:"target"`
	Met         bool     `json:"met"` // false without a target
}

// met judges a measurement that is complete.
func met(t performance.Target, o outcome) bool {
	if o.Missing != "" {
		return false
	}
	if t.Kind == performance.FinishWithin {
		return t.Met(o.TookSeconds, 0)
	}
	return t.Met(o.RatePerSec, time.Duration(o.TailMillis*float64(time.Millisecond)))
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure reads the job's own probe over one window.
func (e *evaluation) measure(ctx context.Context, a app, f rig.JobFile, window time.Duration) outcome {
	o := outcome{Target: f.Spec.Target.String()}
	var err error
	if o.Nodes, err = e.rig.Nodes(f.ID); err != nil {
		o.Missing = err.Error()
		return o
	}
	readings, err := e.rig.World.Observe(ctx, f.Workload(), window)
	switch {
	case err != nil:
		o.Missing = fmt.Sprintf("not measured: %v", err)
		return o
	case len(readings) == 0:
		o.Missing = "it has no allocation"
		return o
	}
	for _, r := range readings {
		if r.Unavailable != "" {
			o.Missing = r.Unavailable
			return o
		}
		o.RatePerSec += r.Measure.RatePerSec
		o.TailMillis = max(o.TailMillis, millis(r.Measure.LatencyTail))
	}
	o.Met = met(f.Spec.Target, o)
	return o
}

// batchPoll is how often a batch job is looked at.
const batchPoll = 250 * time.Millisecond

// follow waits for a batch job's end, at most until half as long again as it may
// take.
func (e *evaluation) follow(ctx context.Context, f rig.JobFile) outcome {
	o := outcome{Target: f.Spec.Target.String()}
	limit := f.Spec.Target.FinishWithin * 3 / 2
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if nodes, err := e.rig.Nodes(f.ID); err == nil && len(nodes) > 0 {
			o.Nodes = nodes
		}
		started, finished, done, err := e.rig.BatchTimes(f.ID)
		switch {
		case err != nil:
			o.Missing = err.Error()
			return o
		case done:
			o.TookSeconds = finished.Sub(started).Seconds()
			o.Met = met(f.Spec.Target, o)
			return o
		}
		if cluster.Sleep(ctx, batchPoll) != nil {
			o.Missing = "not finished after " + limit.String()
			return o
		}
	}
}

// whileRunning submits jobs, waits until they run, does something, and purges them
// in any case.
func (e *evaluation) whileRunning(ctx context.Context, files []rig.JobFile, submit, do func(context.Context) error) error {
	return e.whileSubmitted(ctx, files, submit, func(ctx context.Context) error {
		if err := e.waitRunning(ctx, files); err != nil {
			return err
		}
		return do(ctx)
	})
}

// whileSubmitted is whileRunning without the wait.
func (e *evaluation) whileSubmitted(ctx context.Context, files []rig.JobFile, submit, do func(context.Context) error) (err error) {
	defer func() { err = errors.Join(err, e.purge(context.WithoutCancel(ctx), files)) }()
	if err := submit(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// runWithin is for all of some jobs to be decided on and to run.
const runWithin = 3 * time.Minute

func (e *evaluation) waitRunning(ctx context.Context, files []rig.JobFile) error {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() { errs[i] = e.rig.WaitRunning(ctx, f.ID) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// purge removes jobs side by side, and waits until nothing is left of them.
func (e *evaluation) purge(ctx context.Context, files []rig.JobFile) error {
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() { errs[i] = e.rig.Purge(ctx, f.ID) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return e.rig.Idle(ctx)
}
