package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// A profile of what runs is tried again after a while, and takes so long at the most (chosen by
// us): nobody waits for it.
const (
	profileAgainAfter    = 10 * time.Minute
	profileRunningWithin = 10 * time.Minute
)

// profileRunning profiles what was placed before it was profiled, one workload at a time. The
// record of its decision says so; the adapter then goes by what was measured.
func (e *Engine) profileRunning(ctx context.Context) error {
	jobs, err := e.cfg.World.Jobs(ctx)
	if err != nil {
		return err
	}
	now := e.cfg.Clock.Now()
	maps.DeleteFunc(e.profiled, func(_ string, at time.Time) bool { return now.Sub(at).Abs() >= profileAgainAfter })
	var errs []error
	for _, job := range jobs {
		if job.Held || job.Stopped || job.Complete || len(job.Problems) > 0 {
			continue
		}
		for _, w := range job.Workloads {
			if err := e.profileOne(ctx, job, w); err != nil && ctx.Err() == nil && !overtaken(err) {
				errs = append(errs, fmt.Errorf("%s: %w", w.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) profileOne(ctx context.Context, job cluster.Job, w cluster.Workload) error {
	d, ok := e.decisions.Of(w.ID)
	if _, tried := e.profiled[w.ProfileKey]; tried || !ok || d.Outcome != cluster.Placed || d.ProfileKey != w.ProfileKey {
		return nil
	}
	now := e.cfg.Clock.Now()
	p, warnings, err := e.lab.ProfileRunning(ctx, job, w, now.Add(profileRunningWithin))
	if p != nil || err != nil {
		e.profiled[w.ProfileKey] = now
	}
	if p == nil || err != nil {
		return err
	}
	if err := e.adaptation.Reclassify(ctx, w.ID); err != nil {
		return err
	}
	return e.decisions.Amend(ctx, w.ID, func(d *cluster.Decision) { d.Warnings = profiling.ProfiledLater(d.Warnings, warnings) })
}
