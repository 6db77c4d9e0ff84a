package adaptation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	a.cfg.Log.Debug("adaptation begins", "workload", r.Workload.String(), "kind", r.Kind)
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
