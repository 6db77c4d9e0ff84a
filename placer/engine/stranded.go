package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
)

// stranded are the groups found so by the last pass, and since when.
type stranded struct {
	world cluster.Waiter // nil: it cannot tell
	since map[cluster.WorkloadID]time.Time
}

// placeStranded places groups again that wait for a node while none of those that an
// earlier decision bound them to is left: the nodes are gone, or an old version of the job
// came back with an old shortlist. Where that cannot be decided within the job's hold, it
// is left to stock Nomad.
func (e *Engine) placeStranded(ctx context.Context) error {
	adjuster, ok := e.stranded.world.(cluster.Adjuster)
	if !ok {
		return nil
	}
	found, err := e.stranded.world.Stranded(ctx)
	if err != nil {
		return err
	}
	now := e.cfg.Clock.Now()
	maps.DeleteFunc(e.stranded.since, func(id cluster.WorkloadID, _ time.Time) bool { return !slices.Contains(found, id) })
	var errs []error
	for _, id := range found {
		if _, known := e.stranded.since[id]; !known {
			e.stranded.since[id] = now
		}
		if err := e.placeStrandedGroup(ctx, adjuster, id); err != nil && !overtaken(err) {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) placeStrandedGroup(ctx context.Context, adjuster cluster.Adjuster, id cluster.WorkloadID) error {
	job, err := e.cfg.World.Job(ctx, id.JobID())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(job.Workloads, func(w cluster.Workload) bool { return w.ID == id })
	if job.Held || job.Stopped || i < 0 {
		return nil
	}
	ctx, end, begun := e.evaluations.Begin(ctx, job)
	if !begun {
		return nil
	}
	var index uint64
	defer func() { end(index) }()
	d, written, err := e.placer.Elsewhere(ctx, job, job.Workloads[i], nil)
	if err != nil {
		return err
	}
	defer written()
	if d.Outcome == cluster.Placed {
		d.JobVersion, d.Count = job.Version+1, job.Workloads[i].Count
		e.decisions.Record(ctx, []cluster.Decision{d}, nil)
		result, err := adjuster.Adjust(ctx, cluster.Change{
			Workload: id, ModifyIndex: job.ModifyIndex, Rebind: true, Nodes: d.Candidates, Anyway: true,
			Message: id.Group + " is placed again: none of the nodes that it was bound to is left; " + journal.Sentence([]cluster.Decision{d}),
		})
		index = result.ModifyIndex
		return err
	}
	if d.Outcome == cluster.Queued && e.cfg.Clock.Now().Before(e.stranded.since[id].Add(e.hold(job))) {
		return nil // the next pass asks again
	}
	t := journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, e.cfg.Clock.Now())
	index, err = e.releaseStock(ctx, job, t, "none of the nodes that it was bound to is left, and no other was found: "+d.Reason)
	return err
}
