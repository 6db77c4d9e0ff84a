package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// What bounds the releases of jobs whose deadline passed (chosen by us). A release is some
// eight requests one after the other, each of which a Nomad under heavy load answers within
// seconds; the releases of other jobs do not wait for it.
const (
	releasedAtOnce = 16
	releaseWithin  = 30 * time.Second
	askTimeWithin  = 2 * time.Second
)

// apply records the decisions and writes the job. The record comes first: if
// we die inside the write, the next leader finds a released job and its reasons.
func (e *Engine) apply(ctx context.Context, job cluster.Job, decisions []cluster.Decision, t *journal.Tracker) (uint64, error) {
	e.decisions.Record(ctx, decisions, t.Steps())
	result, err := e.cfg.World.Apply(ctx, e.placer.PlanOf(job, decisions))
	if err != nil {
		return 0, err
	}
	t.Begin(ctx, journal.Entry{Stage: cluster.StageObserve, Message: "released: " + journal.Sentence(decisions), Released: result.Version})
	return result.ModifyIndex, nil
}

// releaseStock lets the job run where stock Nomad puts it, and says why where
// the user looks.
func (e *Engine) releaseStock(ctx context.Context, job cluster.Job, t *journal.Tracker, reason string) (uint64, error) {
	decisions := e.stockDecisions(job, reason)
	if len(job.Workloads) == 0 && len(job.Problems) == 0 {
		// Nothing was asked of us: the job is released as it came.
		result, err := e.cfg.World.Apply(ctx, cluster.Plan{Job: job})
		if err == nil {
			t.Begin(ctx, journal.Entry{Stage: cluster.StageDone, Message: asItCame(result, reason)})
		}
		return result.ModifyIndex, err
	}
	e.decisions.Record(ctx, decisions, t.Steps())
	result, err := e.cfg.World.Apply(ctx, cluster.Plan{
		Job:     job,
		Page:    journal.Page(decisions, ""),
		Link:    e.placer.LinkOf(decisions),
		Message: journal.Sentence(decisions),
	})
	if err != nil {
		return 0, err
	}
	t.Begin(ctx, journal.Entry{Stage: cluster.StageFailed, Message: "left to stock Nomad: " + reason, Released: result.Version})
	return result.ModifyIndex, nil
}

// asItCame is what is said of a job of which nothing was asked.
func asItCame(result cluster.PlanResult, reason string) string {
	if result.DispatchedAs != "" {
		return "dispatched again as " + result.DispatchedAs + " and stopped"
	}
	return "released: " + reason
}

// stockDecisions is one record per group; a job whose block could not be read
// gets one record without a group.
func (e *Engine) stockDecisions(job cluster.Job, reason string) []cluster.Decision {
	workloads := job.Workloads
	if len(workloads) == 0 {
		workloads = []cluster.Workload{{ID: cluster.WorkloadID{Namespace: job.ID.Namespace, Job: job.ID.ID}}}
	}
	out := make([]cluster.Decision, len(workloads))
	for i, w := range workloads {
		out[i] = cluster.Decision{
			Format: cluster.DecisionFormat, Workload: w.ID, JobVersion: job.Version, ModifyIndex: job.ModifyIndex,
			JobType: job.Type, SubmittedAt: job.SubmittedAt, ProfileKey: w.ProfileKey, At: e.cfg.Clock.Now(), Policy: cmp.Or(w.Spec.Policy, e.cfg.Policy), Seed: profiling.Seed(job, w),
			Target: w.Spec.Target, Outcome: cluster.Stock, Reason: reason, Count: w.Count, Resources: w.Ask,
			Warnings: append([]string{"placed by stock Nomad: " + reason}, job.Warnings...),
		}
		if w.Spec.Disk != nil { // it uses it wherever it runs
			out[i].Disk = &cluster.DiskSaid{Promise: *w.Spec.Disk}
		}
	}
	return out
}

// advise records what we would have done with a job that did not pass the
// gate. Nothing is written to it: Nomad has placed it already.
func (e *Engine) advise(ctx context.Context, job cluster.Job) (uint64, error) {
	for _, w := range job.Workloads {
		d, err := e.book.Decision(ctx, w.ID)
		ours := d.JobVersion >= job.Version || d.JobVersion+1 == job.Version && d.ShortlistDigest(job.Type) == w.Bound
		if err == nil && ours {
			continue // this is the version we wrote, or the one we have advised on
		}
		if err != nil && !errors.Is(err, cluster.ErrNoRecord) {
			return 0, err
		}
		if err := e.adviseWorkload(ctx, job, w); err != nil {
			return 0, err
		}
	}
	return job.ModifyIndex, nil
}

func (e *Engine) adviseWorkload(ctx context.Context, job cluster.Job, w cluster.Workload) error {
	warning := "the job did not pass the hold pool, so Nomad placed it at once: this decision is advice only"
	if w.Bound != 0 {
		warning = "the record of the decision that this job runs under is lost: this decision is advice only"
	}
	p, err := e.lab.Stored(ctx, w.ID, w.ProfileKey)
	if err != nil {
		return err
	}
	k := profiling.Known{Workload: w, Knowledge: e.estimator.Classify(w.ID.Namespace, w.ProfileKey, p), Warnings: []string{warning}}
	decisions, err := e.placer.Decide(ctx, job, []profiling.Known{k})
	if err != nil {
		return err
	}
	d := decisions[0]
	if d.Count, d.Resources = w.Count, w.Ask; d.Sizing != nil {
		d.Sizing.Chosen = false
	}
	d.Outcome, d.Reason = cluster.Stock, warning+". It would have been: "+d.Reason
	e.decisions.Record(ctx, []cluster.Decision{d}, nil)
	return e.cfg.World.Note(ctx, w.ID, warning, true)
}

// WatchDeadlines releases held jobs whose deadline passed and that no leader
// released. Every replica runs it: by compare-and-set only one of them writes.
func (e *Engine) WatchDeadlines(ctx context.Context) error {
	o := &overdue{underWay: map[cluster.JobID]bool{}, slots: make(chan struct{}, releasedAtOnce), seen: map[cluster.JobID]sighting{}}
	defer o.attempts.Wait()
	for {
		next, err := e.releaseOverdue(ctx, o)
		if err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("watching hold deadlines", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.cfg.Clock.After(next):
		}
	}
}

// overdue are the attempts at jobs whose deadline passed. No pass waits for them: one that
// hangs would keep the jobs held that become due meanwhile.
type overdue struct {
	attempts sync.WaitGroup
	slots    chan struct{}
	seen     map[cluster.JobID]sighting // of held versions; of one goroutine

	mu       sync.Mutex
	underWay map[cluster.JobID]bool
}

// sighting is when a version was first seen here, by a clock that nobody sets.
type sighting struct {
	modifyIndex uint64
	at          time.Time
}

// look notes the held versions that are seen for the first time.
func (o *overdue) look(jobs []cluster.Job, now time.Time) {
	held := map[cluster.JobID]sighting{}
	for _, job := range jobs {
		if !job.Held || job.Stopped {
			continue
		}
		s := o.seen[job.ID]
		if s.modifyIndex != job.ModifyIndex {
			s = sighting{job.ModifyIndex, now}
		}
		held[job.ID] = s
	}
	o.seen = held
}

// begin reports whether an attempt at the job may begin; at most one is under way.
func (o *overdue) begin(id cluster.JobID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.underWay[id] {
		return false
	}
	o.underWay[id] = true
	return true
}

// attempt runs release, with others, when there is room.
func (o *overdue) attempt(id cluster.JobID, release func()) {
	o.attempts.Go(func() {
		o.slots <- struct{}{}
		release()
		<-o.slots
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.underWay, id)
	})
}

// releaseOverdue begins one attempt at each job that is due, and returns when to look again:
// at the next deadline, since a look that is late by a poll leaves a slow Nomad little of the
// 5 s that are promised.
func (e *Engine) releaseOverdue(ctx context.Context, o *overdue) (next time.Duration, err error) {
	next = e.cfg.Poll
	jobs, err := e.cfg.World.Jobs(ctx)
	if err != nil {
		return next, err
	}
	o.look(jobs, e.steady())
	isDue := func(job cluster.Job) bool {
		return job.Held && !job.Stopped && e.dueIn(job, o.seen[job.ID].at) <= 0 && e.retries.due(job, e.steady())
	}
	for _, job := range jobs {
		if in := e.dueIn(job, o.seen[job.ID].at); job.Held && !job.Stopped && in > 0 {
			next = min(next, in)
		}
	}
	if !slices.ContainsFunc(jobs, isDue) {
		return next, nil
	}
	e.askTime(ctx)
	for _, job := range jobs {
		if isDue(job) && o.begin(job.ID) {
			o.attempt(job.ID, func() { e.releaseOverdueJob(ctx, job) })
		}
	}
	return next, nil
}

// dueIn is how long it is until a replica that does not lead releases a held job, which was
// first seen here at a time of the steady clock. A job that was submitted later than now is of
// a time before the servers' clock was set back: it is not held for longer than it asked for
// all the same.
func (e *Engine) dueIn(job cluster.Job, seen time.Time) time.Duration {
	now := e.cfg.Clock.Now()
	if job.SubmittedAt.After(now) && e.timekeeper != nil {
		return seen.Add(e.hold(job)).Sub(e.steady())
	}
	return e.deadline(job).Add(replicaGrace).Sub(now)
}

// noteAttempt counts waits by the steady clock: one that is set back makes none longer.
func (e *Engine) noteAttempt(job cluster.Job, err error) (firstRefusal bool) {
	now := e.steady()
	return e.retries.note(job, now, now.Add(e.deadline(job).Sub(e.cfg.Clock.Now())), err)
}

func (e *Engine) steady() time.Time {
	if e.timekeeper == nil {
		return e.cfg.Clock.Now()
	}
	return e.timekeeper.Steady()
}

// askTime makes sure of the servers' time before something is released by it: a clock that
// is ahead would have jobs released before the leader has placed them.
func (e *Engine) askTime(ctx context.Context) {
	if e.timekeeper == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeWithin)
	defer cancel()
	if err := e.timekeeper.AskTime(ctx); err != nil && ctx.Err() == nil {
		e.cfg.Log.Warn("the servers' time is as it was known before", "error", err)
	}
}

func (e *Engine) releaseOverdueJob(ctx context.Context, job cluster.Job) {
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	// The list may be from before somebody else's release, whose record must stay.
	if _, err := profiling.Unchanged(ctx, e.cfg.World, job); err != nil {
		if !overtaken(err) {
			e.failed(ctx, job, err)
		}
		return
	}
	t := journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, e.deadline(job))
	reason := fmt.Sprintf("its hold deadline of %s passed and no leader had released it", e.hold(job))
	if _, err := e.releaseStock(ctx, job, t, reason); err != nil && !overtaken(err) {
		e.failed(ctx, job, err)
	}
}

// overtaken reports whether a write failed because the job is not any more what it was
// made for, or because another agent leads: there is nothing to try again.
func overtaken(err error) bool {
	return errors.Is(err, cluster.ErrStale) || errors.Is(err, cluster.ErrGone) || errors.Is(err, cluster.ErrNotLeading)
}

// failed notes that an attempt at a job failed, and says so where its user looks when it
// is the first one that was refused for good: until its user acts the job stays held.
func (e *Engine) failed(ctx context.Context, job cluster.Job, err error) {
	log := e.cfg.Log.With("job", job.ID.String(), "version", job.Version)
	first := e.noteAttempt(job, err)
	if !errors.Is(err, cluster.ErrRefused) {
		log.Warn("evaluation failed; it will be tried again", "error", err)
		return
	}
	log.Error("Nomad refuses to have the job released; it is tried again every "+retryRefused.String(), "error", err)
	if !first || ctx.Err() != nil {
		return
	}
	message := "the job cannot be released from its hold: " + err.Error() + "; stop it, or register it again in another node pool"
	journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, e.deadline(job)).
		Begin(ctx, journal.Entry{Stage: cluster.StageFailed, Message: message})
	for _, w := range job.Workloads {
		if err := e.cfg.World.Note(ctx, w.ID, message, true); err != nil {
			log.Warn("no scaling event left", "workload", w.ID.String(), "error", err)
		}
	}
}
