package adaptation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// act carries out one action of the adapter. What cannot be done is recorded with
// its reason, and the next kind in order is tried.
func (c *Controller) act(ctx context.Context, sc *scene, a adapt.Action) error {
	switch a.Kind {
	case adapt.Close, adapt.Open:
		c.closeNode(sc, a)
		return nil
	case adapt.Reclassify:
		return c.Reclassify(ctx, sc.byHandle[a.Handle])
	case adapt.Evict:
		return c.evict(ctx, sc, a)
	}
	id, ok := sc.byHandle[a.Handle]
	if !ok {
		id = sc.allocation(a.Handle).Workload
	}
	s, ok := sc.running[id]
	if !ok {
		return nil
	}
	switch a.Kind {
	case adapt.Resize:
		return c.resize(ctx, s, sc.allocation(a.Handle), a)
	case adapt.Grow:
		return c.grow(ctx, sc, s, a)
	case adapt.Shrink:
		return c.shrink(ctx, sc, s, a)
	case adapt.Relaunch, adapt.Migrate:
		return c.move(ctx, sc, s, a, sc.allocation(a.Handle))
	case adapt.Move:
		return c.move(ctx, sc, s, a, firstAllocation(sc, id))
	default:
		return fmt.Errorf("the adapter asks for %q, which is not an action", a.Kind)
	}
}

// firstAllocation is one allocation of a workload; without an ID where there is none.
func firstAllocation(sc *scene, id cluster.WorkloadID) cluster.Allocation {
	if handles := sc.handles[id]; len(handles) > 0 {
		return sc.allocation(handles[0])
	}
	return cluster.Allocation{}
}

// closeNode: the placer puts nothing more on a node. Nomad's own placements go on.
func (c *Controller) closeNode(sc *scene, a adapt.Action) {
	id := sc.board.Node(a.Node).ID
	c.live.mu.Lock()
	if a.Kind == adapt.Close {
		c.live.closed[id] = true
	} else {
		delete(c.live.closed, id)
	}
	c.live.mu.Unlock()
	c.cfg.Log.Info("adaptation", "kind", string(a.Kind), "node", string(id), "reason", a.Reason)
	c.live.counted(string(a.Kind), nil)
}

// Reclassify folds in what was learnt from others since the workload was placed;
// nothing is measured anew.
func (c *Controller) Reclassify(ctx context.Context, id cluster.WorkloadID) error {
	d, ok := c.cfg.Decisions.Of(id)
	if !ok || d.ProfileKey == "" {
		return nil
	}
	p, err := c.cfg.Lab.Stored(ctx, d.Workload, d.ProfileKey)
	if err != nil || p == nil {
		return err
	}
	k := c.cfg.Estimator.Classify(id.Namespace, d.ProfileKey, p)
	c.live.counted(string(adapt.Reclassify), nil)
	return c.cfg.Decisions.Amend(ctx, id, func(d *cluster.Decision) {
		d.Sensitivity = k.Sensitivity
		if why := c.cfg.Estimator.Distrusted(id, d.ProfileKey, p); why != "" && !slices.Contains(d.Warnings, why) {
			d.Warnings = append(slices.Clone(d.Warnings), why)
		}
		d.ToleranceAtTarget = c.cfg.Estimator.Tolerance(&k, p.SlowdownMax, d.RequiredFraction, d.Target)
	})
}

// errRefused wraps why an action was not tried: nothing was written.
var errRefused = errors.New("not done")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errRefused, fmt.Errorf(format, args...))
}

// tolerated drops the error of an action that was refused, or came too late: it is on
// record, and the next window decides anew.
func tolerated(err error) error {
	for _, known := range []error{errRefused, errNoRoom, cluster.ErrStale, cluster.ErrGone, cluster.ErrBusy, cluster.ErrYields, cluster.ErrImpossible, cluster.ErrNotLeading} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

// errUnderEvaluation: a job under evaluation is written by that evaluation only.
var errUnderEvaluation = refuse("an evaluation of the job is under way")

// adjust writes a change. Meanwhile the job counts as under evaluation, and its
// decisions are written first: the version that follows is ours, whoever leads.
func (a *term) adjust(ctx context.Context, s subject, as cluster.Workload, change cluster.Change, decision *cluster.Decision) error {
	ctx, end, begun := a.cfg.Evaluations.Begin(ctx, s.job)
	if !begun {
		return errUnderEvaluation
	}
	var index uint64
	defer func() { end(index) }()
	before, err := a.cfg.Decisions.OfJob(ctx, s.job)
	if err != nil {
		return err
	}
	after := maps.Clone(before)
	if decision != nil && decision.Outcome == cluster.Placed {
		after[as.ID] = *decision
	}
	a.cfg.Decisions.Record(ctx, ours(after, s.job.Version, as), nil)
	result, err := a.adjuster.Adjust(ctx, change)
	if err != nil {
		a.cfg.Decisions.Record(ctx, slices.Collect(maps.Values(before)), nil)
		return err
	}
	index = result.ModifyIndex
	if !result.Unchanged {
		// A group may be bound to more nodes than were decided on, so that the next leader knows
		// the version as ours by its number.
		a.cfg.Decisions.Record(ctx, ours(after, result.Version, as), nil)
	}
	return nil
}

func change(s subject, message string) cluster.Change {
	return cluster.Change{Workload: s.workload.ID, ModifyIndex: s.job.ModifyIndex, Message: message}
}

// ours are the decisions as those of a version we write next.
func ours(decisions map[cluster.WorkloadID]cluster.Decision, version uint64, as cluster.Workload) []cluster.Decision {
	var out []cluster.Decision
	for _, id := range sortedIDs(decisions) {
		d := decisions[id]
		d.JobVersion = max(d.JobVersion, version)
		if id == as.ID {
			d.Count = as.Count
		}
		out = append(out, d)
	}
	return out
}
