package profiler

import (
	"context"
	"errors"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// awaitCompletion watches a workload whose probe sees only the end. If that
// falls inside the run, and no kernel exerted pressure, the whole run gives the
// performance in isolation.
func (r *run) awaitCompletion(ctx context.Context) error {
	if r.request.Probe == nil || r.progressing() {
		return nil
	}
	if len(r.request.Sources) > 0 {
		r.warn("the performance in isolation was not measured: the %s probe sees only whole runs, and this one ran under pressure", r.request.Probe.Type)
		return nil
	}
	r.phase = PhaseBaseline
	for r.clock.Now().Before(r.deadline) {
		// Whether it lives is asked first: one that ends in between has left
		// its last reading by then.
		ended := r.alive(ctx)
		reading, err := r.subject.Read(ctx)
		switch {
		case err == nil && reading.Done:
			return r.recordWholeRun(reading)
		case ctx.Err() != nil:
			return ctx.Err()
		case ended != nil:
			return errors.Join(ended, err)
		}
		if err := r.sleep(ctx, waitPoll); err != nil {
			return err
		}
	}
	r.warn("the workload did not finish within %d s, so its speed is unknown", r.request.Seconds)
	return nil
}

// recordWholeRun: one run is one window, and has no interval.
func (r *run) recordWholeRun(reading performance.Reading) error {
	seconds := reading.At.Sub(reading.Started).Seconds()
	if reading.Started.IsZero() || seconds <= 0 {
		r.warn("the workload finished, but its probe does not say how long it took")
		return nil
	}
	unit := "runs/s"
	if r.request.Probe.Work > 0 {
		unit = r.request.Target.RateUnit()
	}
	speed := reading.Work / seconds
	r.setIsolated(profile.Measurement{Value: speed, Low: speed, High: speed, Unit: unit, Windows: 1})
	r.warn("the performance in isolation rests on one whole run")
	return nil
}
