package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// How long a job made here may take to stop before its removal is given up.
const (
	removeWithin = 20 * time.Second
	removePoll   = 200 * time.Millisecond
)

// ErrNotQuiet: a stopped job's allocations still run. It may be removed later.
var ErrNotQuiet = errors.New("its allocations have not ended yet")

// RemoveJob stops a job, waits until its allocations and evaluations have ended,
// and purges it. A job that does not exist is no error. It is for jobs made here
// (profiling runs, a demo's), never for a user's.
//
// The wait matters: a Nomad 1.11.2 server panics when the plan of a purged job
// still has allocations to stop (planner.applyPlan looks up a job that is gone).
func (w *World) RemoveJob(ctx context.Context, id cluster.JobID) error {
	if err := w.deregister(ctx, id, false); err != nil {
		return err
	}
	if err := w.waitQuiet(ctx, id); err != nil {
		return fmt.Errorf("job %s is stopped but not purged: %w", id, err)
	}
	return w.deregister(ctx, id, true)
}

// waitQuiet returns when nothing of a stopped job is left to be done.
func (w *World) waitQuiet(ctx context.Context, id cluster.JobID) error {
	deadline := w.clock.Now().Add(removeWithin)
	for {
		if err := cluster.MayWrite(ctx); err != nil {
			return err // it would not be purged in the end
		}
		quiet, err := w.quiet(ctx, id)
		if quiet || err != nil {
			return err
		}
		if w.clock.Now().After(deadline) {
			return ErrNotQuiet
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.clock.After(removePoll):
		}
	}
}

func (w *World) quiet(ctx context.Context, id cluster.JobID) (bool, error) {
	q := api.QueryOptions{Namespace: id.Namespace}
	var evals []struct{ Status string }
	if _, err := w.nomad.get(ctx, jobPath(id, "/evaluations"), q, &evals); err != nil {
		return false, err
	}
	var allocs []struct{ ClientStatus string }
	if _, err := w.nomad.get(ctx, jobPath(id, "/allocations"), q, &allocs); err != nil {
		return false, err
	}
	for _, e := range evals {
		if e.Status == "pending" {
			return false, nil
		}
	}
	ended := []string{"complete", "failed", "lost"}
	for _, a := range allocs {
		if !slices.Contains(ended, a.ClientStatus) {
			return false, nil
		}
	}
	return true, nil
}

func (w *World) deregister(ctx context.Context, id cluster.JobID, purge bool) error {
	err := w.nomad.delete(ctx, jobPath(id, "")+"?purge="+strconv.FormatBool(purge), id.Namespace)
	if isNotFound(err) {
		return nil
	}
	return wrap(err, "remove job %s", id)
}
