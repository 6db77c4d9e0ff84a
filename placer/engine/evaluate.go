package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// evaluate takes one job version from held to released. It returns the
// JobModifyIndex after which nothing is left to do.
func (e *Engine) evaluate(ctx context.Context, job cluster.Job) (uint64, error) {
	if !job.Held {
		if a := e.admission(job); a != nil {
			return e.conclude(ctx, job, a), nil
		}
		return e.advise(ctx, job)
	}
	deadline := e.deadline(job)
	t := journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, deadline)
	t.Stage(ctx, cluster.StageHold, "", "held: the placer has seen the job")
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
	known, err := e.lab.Learn(ctx, job, limit, t)
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

// placeUntil decides and applies, and waits for room while no node has any,
// up to the hold deadline.
func (e *Engine) placeUntil(ctx context.Context, job cluster.Job, known []profiling.Known, limit time.Time, t *journal.Tracker) (uint64, error) {
	t.Stage(ctx, cluster.StagePlace, "", "choosing nodes")
	for {
		decisions, index, err := e.placeOnce(ctx, job, known, t)
		if err != nil {
			return 0, err
		}
		waiting := firstQueued(decisions)
		if waiting == nil {
			return index, nil
		}
		if !e.cfg.Clock.Now().Before(limit) {
			return e.releaseStock(ctx, job, t, "no node had room before the hold deadline: "+waiting.Reason)
		}
		t.Waiting(ctx, cluster.StagePlace, waiting.Workload.Group, "waiting for room: "+waiting.Reason)
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-e.cfg.Clock.After(e.cfg.Poll):
		}
		if job, err = profiling.Unchanged(ctx, e.cfg.World, job); err != nil {
			return 0, err
		}
	}
}

func firstQueued(decisions []cluster.Decision) *cluster.Decision {
	for i := range decisions {
		if decisions[i].Outcome == cluster.Queued {
			return &decisions[i]
		}
	}
	return nil
}

// placeOnce decides on fresh state and, unless a group must wait, writes the
// job. Concurrent evaluations see each other's decisions; see placing.
func (e *Engine) placeOnce(ctx context.Context, job cluster.Job, known []profiling.Known, t *journal.Tracker) ([]cluster.Decision, uint64, error) {
	select {
	case e.placing.slots <- struct{}{}:
		defer func() { <-e.placing.slots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	decisions, written, err := e.choose(ctx, job, job.Version+1, known)
	if err != nil {
		return nil, 0, err
	}
	if firstQueued(decisions) != nil {
		return decisions, 0, nil
	}
	defer written()
	t.Stage(ctx, cluster.StageRewrite, "", "writing the job, compare-and-set")
	index, err := e.apply(ctx, job, decisions, t)
	return decisions, index, err
}

// decide asks the policy of each workload on a fresh look at the cluster.
func (e *Engine) decide(ctx context.Context, job cluster.Job, known []profiling.Known) ([]cluster.Decision, error) {
	snapshot, err := e.decisions.Snapshot(ctx, e.cfg.World)
	if err != nil {
		return nil, err
	}
	decisions, _, err := e.decideOn(withPromises(snapshot, nil), job, known)
	return decisions, err
}

// decideOn asks the policy of each workload. Earlier groups of the same job
// count as residents for later ones: the snapshot, which is the caller's own,
// has them all afterwards, until undo is called.
func (e *Engine) decideOn(snapshot *cluster.Snapshot, job cluster.Job, known []profiling.Known) (decisions []cluster.Decision, undo func(), err error) {
	undo = func() {}
	for i := range known {
		d, err := e.ask(job, &known[i], snapshot)
		if err != nil {
			return nil, undo, err
		}
		decisions = append(decisions, d)
		before, last := undo, reserve(snapshot, d)
		undo = func() {
			last()
			before()
		}
	}
	return decisions, undo, nil
}

func (e *Engine) ask(job cluster.Job, k *profiling.Known, snapshot *cluster.Snapshot) (cluster.Decision, error) {
	desc, err := policy.Lookup(e.policyOf(k.Workload))
	if err != nil {
		return cluster.Decision{}, err
	}
	workload, knowledge, kept, maySize := e.sized(k, snapshot)
	d, err := desc.New().Place(policy.Request{
		Workload:  &workload,
		JobType:   job.Type,
		RunPool:   job.RunPool,
		Knowledge: &knowledge,
		Snapshot:  snapshot,
		Columns:   e.estimator.Columns(),
		Seed:      profiling.Seed(job, k.Workload),
		At:        e.cfg.Clock.Now(),
		MaySize:   maySize,
	})
	if err != nil {
		return d, fmt.Errorf("policy %s on %s: %w", desc.Name, k.Workload.ID, err)
	}
	if kept != nil {
		d.Sizing = kept
	}
	if s := k.Workload.Spec.Scale; !desc.Sizes && len(s.Count)+len(s.Cores)+len(s.MemoryMB) > 0 {
		d.Warnings = append(d.Warnings, "the scale block is not used: policy "+desc.Name+" does not size (quasar does)")
	}
	d.Format = cluster.DecisionFormat
	d.JobVersion, d.ModifyIndex = job.Version, job.ModifyIndex
	d.ProfileKey = k.Workload.ProfileKey
	d.Target = k.Workload.Spec.Target
	d.Sensitivity = k.Knowledge.Sensitivity
	d.Warnings = append(append([]string(nil), k.Warnings...), d.Warnings...)
	return d, nil
}

func (e *Engine) policyOf(w cluster.Workload) string {
	if w.Spec.Policy != "" {
		return w.Spec.Policy
	}
	return e.cfg.Policy
}
