package adaptation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
)

// Token buckets over all workloads, chosen by us: a fault of ours must not become
// a storm of job versions.
const (
	writeBurst = 4
	writeEvery = 15 * time.Second
	moveBurst  = 1
	moveEvery  = time.Minute
)

// actionDone is the Result of a record whose action was carried out; underWay, of
// one that was begun: the leader died in between.
const (
	actionDone     = "done"
	actionUnderWay = "under way"
)

// errRefused wraps why an action was not tried: nothing was written.
var errRefused = errors.New("not done")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errRefused, fmt.Errorf(format, args...))
}

// errUnderEvaluation: a job under evaluation is written by that evaluation only.
var errUnderEvaluation = refuse("an evaluation of the job is under way")

// act carries out one action of the adapter. What cannot be done is recorded with
// its reason, and the next kind in order is tried.
func (c *Controller) act(ctx context.Context, sc *scene, a adapt.Action) error {
	switch a.Kind {
	case adapt.Close, adapt.Open:
		c.closeNode(sc, a)
		return nil
	case adapt.Reclassify:
		return c.reclassify(ctx, sc.byHandle[a.Handle])
	case adapt.Evict:
		return c.evict(ctx, sc, a)
	}
	id, ok := sc.byHandle[a.Handle]
	if !ok {
		id = sc.allocations[a.Handle].Workload
	}
	s, ok := sc.running[id]
	if !ok {
		return nil
	}
	switch a.Kind {
	case adapt.Resize:
		return c.resize(ctx, s, sc.allocations[a.Handle], a)
	case adapt.Grow:
		return c.grow(ctx, sc, s, a)
	case adapt.Shrink:
		return c.shrink(ctx, sc, s, a)
	case adapt.Relaunch, adapt.Migrate:
		return c.move(ctx, sc, s, a, sc.allocations[a.Handle])
	case adapt.Move:
		return c.move(ctx, sc, s, a, firstAllocation(sc, id))
	default:
		return fmt.Errorf("the adapter asks for %q, which is not an action", a.Kind)
	}
}

// firstAllocation is one allocation of a workload; without an ID where there is none.
func firstAllocation(sc *scene, id cluster.WorkloadID) cluster.Allocation {
	if handles := sc.handles[id]; len(handles) > 0 {
		return sc.allocations[handles[0]]
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

// reclassify folds in what was learnt from others since the workload was placed;
// nothing is measured anew.
func (c *Controller) reclassify(ctx context.Context, id cluster.WorkloadID) error {
	d, ok := c.cfg.Decisions.Of(id)
	if !ok || d.ProfileKey == "" {
		return nil
	}
	p, err := c.cfg.Lab.Stored(ctx, d.ProfileKey)
	if err != nil || p == nil {
		return err
	}
	k := c.cfg.Estimator.Classify(p)
	d.Sensitivity = k.Sensitivity
	d.ToleranceAtTarget = c.cfg.Estimator.Tolerance(&k, p.SlowdownMax, d.RequiredFraction)
	c.live.counted(string(adapt.Reclassify), nil)
	return c.cfg.Decisions.Amend(ctx, d)
}

// tolerated drops the error of an action that was refused, or came too late: it is on
// record, and the next window decides anew.
func tolerated(err error) error {
	for _, known := range []error{errRefused, errNoRoom, cluster.ErrStale, cluster.ErrGone, cluster.ErrBusy, cluster.ErrYields, cluster.ErrImpossible} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

func change(s subject, message string) cluster.Change {
	return cluster.Change{Workload: s.workload.ID, ModifyIndex: s.job.ModifyIndex, Message: message}
}

// adjust writes a change. Meanwhile the job counts as under evaluation, and its
// decisions are written first: the version that follows is ours, whoever leads.
func (a *term) adjust(ctx context.Context, s subject, as cluster.Workload, change cluster.Change, decision *cluster.Decision) error {
	ctx, end, begun := a.cfg.Evaluations.Begin(ctx, s.job)
	if !begun {
		return errUnderEvaluation
	}
	var index uint64
	defer func() { end(index) }()
	before := a.cfg.Decisions.OfJob(s.job)
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
	return nil
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

// do carries out one action, unless it may not begin.
func (a *term) do(ctx context.Context, s subject, r cluster.ActionRecord, writes, moves *bucket, f func(context.Context) error) error {
	end, err := a.begin(ctx, s, r, writes, moves)
	if err != nil {
		return err
	}
	return end(ctx, f(ctx))
}

// begin refuses at rest times and without tokens. What it lets begin is on record
// before it is begun, and with the call of end as it ended.
func (a *term) begin(ctx context.Context, s subject, r cluster.ActionRecord, writes, moves *bucket) (end func(context.Context, error) error, _ error) {
	now := a.cfg.Clock.Now()
	r.At = now
	doc, err := a.doc(ctx, r.Workload)
	if err != nil {
		return nil, err
	}
	if resting(doc.Actions, now) {
		return nil, refuse("the last change was too recent")
	}
	if !takeBoth(writes, moves, now) {
		a.cfg.Log.Info("adaptation waits for its limit of changes", "workload", r.Workload.String(), "kind", r.Kind)
		return nil, refuse("too many changes in a short time")
	}
	r.Result = actionUnderWay
	if err := a.remember(ctx, r.Workload, func(d *journal.ActionLog) { d.Actions = append(d.Actions, r) }); err != nil {
		return nil, err
	}
	return func(ctx context.Context, err error) error { return a.end(ctx, s, r, writes, moves, err) }, nil
}

func (a *term) end(ctx context.Context, s subject, r cluster.ActionRecord, writes, moves *bucket, err error) error {
	r.Result = actionDone
	if err != nil {
		r.Result = err.Error()
	}
	a.counted(r.Kind, err)
	a.cfg.Log.Info("adaptation", "workload", r.Workload.String(), "kind", r.Kind, "from", r.From, "to", r.To, "reason", r.Reason, "result", r.Result)
	kept := a.remember(context.WithoutCancel(ctx), r.Workload, func(d *journal.ActionLog) {
		i := slices.IndexFunc(d.Actions, func(o cluster.ActionRecord) bool {
			return o.Result == actionUnderWay && o.Kind == r.Kind && o.At.Equal(r.At)
		})
		switch {
		case i < 0:
		case err != nil && onRecord(d.Actions, r):
			d.Actions = slices.Delete(d.Actions, i, i+1)
		default:
			d.Actions[i] = r
		}
	})
	if errors.Is(err, cluster.ErrImpossible) {
		writes.give() // nothing has changed
	}
	if errors.Is(err, cluster.ErrBusy) || errors.Is(err, cluster.ErrStale) {
		writes.give()
		if moves != nil {
			moves.give()
		}
		a.judgeAnew(s.workload.ID)
	}
	return errors.Join(err, kept)
}

// judgeAnew lets the adapter judge a workload anew: what it wanted was only put off.
func (a *term) judgeAnew(id cluster.WorkloadID) {
	if handle, ok := a.handles[id]; ok && a.adapter != nil {
		a.adapter.Forget(handle)
	}
}

// onRecord reports that the same was recorded a while ago already.
func onRecord(records []cluster.ActionRecord, r cluster.ActionRecord) bool {
	return slices.ContainsFunc(records, func(o cluster.ActionRecord) bool {
		return o.Kind == r.Kind && o.Result == r.Result && r.At.Sub(o.At) < refusalRepeatAfter
	})
}

// resting: something was done, or begun, a short while ago.
func resting(records []cluster.ActionRecord, now time.Time) bool {
	for _, r := range records {
		if (r.Result == actionDone || r.Result == actionUnderWay) && now.Sub(r.At) < restAfterAction {
			return true
		}
	}
	return false
}

// refused records why something was not done, once in a while.
func (a *term) refused(ctx context.Context, r cluster.ActionRecord, why error) {
	r.At, r.Result = a.cfg.Clock.Now(), why.Error()
	a.counted(r.Kind, why)
	doc, err := a.doc(ctx, r.Workload)
	if err != nil {
		a.cfg.Log.Warn("reading actions", "workload", r.Workload.String(), "error", err)
		return
	}
	if onRecord(doc.Actions, r) {
		return
	}
	a.cfg.Log.Info("adaptation", "workload", r.Workload.String(), "kind", r.Kind, "reason", r.Reason, "result", r.Result)
	if err := a.remember(ctx, r.Workload, func(d *journal.ActionLog) { d.Actions = append(d.Actions, r) }); err != nil {
		a.cfg.Log.Warn("recording an action", "workload", r.Workload.String(), "error", err)
	}
}

// doc is what was done to a workload, read from the book once a term.
func (a *term) doc(ctx context.Context, id cluster.WorkloadID) (journal.ActionLog, error) {
	if doc, ok := a.docs[id]; ok {
		return doc, nil
	}
	doc, err := a.cfg.Book.ActionLog(ctx, id)
	if err != nil {
		return doc, fmt.Errorf("reading what was done to %s: %w", id, err)
	}
	a.docs[id] = doc
	return doc, nil
}

// remember changes what is on record of a workload.
func (a *term) remember(ctx context.Context, id cluster.WorkloadID, change func(*journal.ActionLog)) error {
	doc, err := a.cfg.Book.ChangeActions(ctx, id, change)
	if err != nil {
		return fmt.Errorf("recording what was done to %s: %w", id, err)
	}
	a.docs[id] = doc
	return nil
}

// counted adds an action to the counts.
func (a *term) counted(kind string, err error) {
	result := cluster.ActionDone
	switch {
	case err == nil:
	case tolerated(err) == nil:
		result = cluster.ActionRefused
	default:
		result = cluster.ActionFailed
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Actions[cluster.ActionCount{Kind: kind, Result: result}]++
}
