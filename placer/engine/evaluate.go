package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// evaluate takes one job version from held to released. It returns the
// JobModifyIndex after which nothing is left to do.
func (e *Engine) evaluate(ctx context.Context, job cluster.Job) (uint64, error) {
	if !job.Held {
		if index, ok := e.admissions.Conclude(ctx, job); ok {
			return index, nil
		}
		if job.Complete {
			return job.ModifyIndex, nil // there is nothing left to decide on, and its record stays
		}
		return e.advise(ctx, job)
	}
	deadline := e.deadline(job)
	t := journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, deadline)
	t.Begin(ctx, journal.Entry{Stage: cluster.StageHold, Message: "held: the placer has seen the job"})
	if len(job.Problems) > 0 {
		return e.releaseStock(ctx, job, t, "the performance block could not be used: "+strings.Join(job.Problems, "; "))
	}
	if len(job.Workloads) == 0 {
		return e.releaseStock(ctx, job, t, "the job has no performance block")
	}
	limit := deadline.Add(-releaseMargin)
	if !e.cfg.Clock.Now().Before(limit) {
		return e.releaseStock(ctx, job, t, fmt.Sprintf("its hold deadline of %s passed", e.hold(job)))
	}
	began := e.cfg.Clock.Now()
	known, err := e.lab.Learn(ctx, job, limit, t)
	if e.cfg.Clock.Now().Sub(began).Abs() > e.cfg.Poll {
		// Whoever released it meanwhile has written its record.
		if _, changed := profiling.Unchanged(ctx, e.cfg.World, job); changed != nil {
			return 0, changed
		}
	}
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, cluster.ErrGone) || errors.Is(err, cluster.ErrStale) {
			return 0, err
		}
		return e.releaseStock(ctx, job, t, err.Error())
	}
	return e.placeUntil(ctx, job, known, limit, t)
}

// hold is how long the job may be held: the longest its groups ask for.
func (e *Engine) hold(job cluster.Job) time.Duration {
	var longest time.Duration
	for _, w := range job.Workloads {
		longest = max(longest, w.Spec.Hold)
	}
	if longest == 0 {
		return e.cfg.Hold
	}
	return longest
}

func (e *Engine) deadline(job cluster.Job) time.Time { return job.SubmittedAt.Add(e.hold(job)) }

// placeUntil decides and applies, and tries again while no node has room or a write
// fails for a passing reason, up to the hold deadline.
func (e *Engine) placeUntil(ctx context.Context, job cluster.Job, known []profiling.Known, limit time.Time, t *journal.Tracker) (uint64, error) {
	t.Begin(ctx, journal.Entry{Stage: cluster.StagePlace, Message: "choosing nodes"})
	patience := e.cfg.Clock.Now().Add(placement.Patience)
	for i := range known {
		known[i].WaitsUntil = patience
	}
	for {
		decisions, index, err := e.placeOnce(ctx, job, known, limit, t)
		waiting := placement.FirstQueued(decisions)
		switch {
		case err == nil && waiting == nil:
			return index, nil
		case err != nil && (ctx.Err() != nil || overtaken(err)):
			return 0, err
		case errors.Is(err, cluster.ErrRefused):
			return e.releaseStock(ctx, job, t, "Nomad does not accept the job with its placement: "+err.Error())
		case err != nil:
			e.cfg.Log.Warn("placing the job failed; trying again", "job", job.ID.String(), "error", err)
		default:
			t.Begin(ctx, journal.Entry{Stage: cluster.StagePlace, Group: waiting.Workload.Group, Message: "waiting for room: " + waiting.Reason, Waits: true})
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-e.cfg.Clock.After(e.cfg.Poll):
		}
		// The record of whoever released it meanwhile stays.
		now, changed := profiling.Unchanged(ctx, e.cfg.World, job)
		if changed != nil {
			return 0, changed
		}
		job = now
		if !e.cfg.Clock.Now().Before(limit) {
			return e.releaseStock(ctx, job, t, "it had no place before the hold deadline: "+whyNot(waiting, err))
		}
	}
}

// whyNot is why a job was not placed: an error, or the group that found no room.
func whyNot(waiting *cluster.Decision, err error) string {
	if err != nil {
		return err.Error()
	}
	return "no node had room: " + waiting.Reason
}

// placeOnce decides on fresh state and, unless a group must wait, writes the job, once:
// others wait for their turn meanwhile. Concurrent evaluations see each other's
// decisions; see package placement.
func (e *Engine) placeOnce(ctx context.Context, job cluster.Job, known []profiling.Known, limit time.Time, t *journal.Tracker) ([]cluster.Decision, uint64, error) {
	leave, err := e.enter(ctx, limit)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	decisions, written, err := e.placer.Choose(ctx, job, job.Version+1, known)
	if err != nil {
		return nil, 0, err
	}
	if placement.FirstQueued(decisions) != nil {
		return decisions, 0, nil
	}
	defer written()
	t.Begin(ctx, journal.Entry{Stage: cluster.StageRewrite, Message: "writing the job, compare-and-set"})
	index, err := e.apply(ctx, job, decisions, t)
	return decisions, index, err
}

// enter waits for the job's turn, up to its limit.
func (e *Engine) enter(ctx context.Context, limit time.Time) (leave func(), _ error) {
	turn, cancel := context.WithTimeout(ctx, limit.Sub(e.cfg.Clock.Now()))
	defer cancel()
	leave, err := e.placer.Enter(turn)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%d jobs were being placed before it: %w", placement.AtOnce, err)
	}
	return leave, err
}
