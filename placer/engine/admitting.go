package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// ErrMustBeHeld: a job that cannot be decided on before it is registered. It passes
// the hold pool like any other.
var ErrMustBeHeld = errors.New("the job must be held")

// The bounds of admissions, chosen by us.
const (
	// admissionFor is how long a decision counts whose job is not registered: who asked
	// for it registers within milliseconds, unless Nomad refuses the job.
	admissionFor = 15 * time.Second
	// admissionsAtOnce bounds what is promised to who asks and registers nothing.
	admissionsAtOnce = 1024
)

// admission is a decision on a job that is not registered yet.
type admission struct {
	plan    cluster.Plan
	version uint64 // that the registration will make
	decided bool   // else it is being decided on
	expires time.Time
	tracker *journal.Tracker
}

// Admit decides on a job before it is registered, from stored profiles. The caller
// registers it as the plan says; once the registration is seen, the decision is put on
// record. Until then, or for admissionFor, it counts as a promise. ErrMustBeHeld with a
// reason where something has to happen first: a profile, or room on a node.
func (e *Engine) Admit(ctx context.Context, job cluster.Job) (plan cluster.Plan, err error) {
	a := &admission{}
	if err := e.beginAdmission(job, a); err != nil {
		return cluster.Plan{}, err
	}
	defer func() {
		if err != nil {
			e.mu.Lock()
			delete(e.admitted, job.ID)
			e.mu.Unlock()
		}
	}()
	version, err := e.nextVersion(ctx, job.ID)
	if err != nil {
		return cluster.Plan{}, err
	}
	job.Version, job.SubmittedAt = version, e.cfg.Clock.Now()
	t := journal.NewTracker(e.book, e.cfg.Clock, e.cfg.Log, job, e.deadline(job))
	t.Stage(ctx, cluster.StageClassify, "", "reading stored profiles")
	known, err := e.alreadyKnown(ctx, job)
	if err != nil {
		return cluster.Plan{}, err
	}
	t.Stage(ctx, cluster.StagePlace, "", "choosing nodes")
	decisions, err := e.chooseAhead(ctx, job, known)
	if err != nil {
		return cluster.Plan{}, err
	}
	plan = cluster.Plan{
		Job: job, Decisions: decisions, Page: journal.Page(decisions, e.chartOf(decisions)), Link: e.linkOf(decisions), Message: journal.Sentence(decisions),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	*a = admission{plan: plan, version: version, decided: true, expires: e.cfg.Clock.Now().Add(admissionFor), tracker: t}
	return plan, nil
}

// beginAdmission notes that a job is being decided on. It refuses what the gate is needed for,
// and what nobody could look after.
func (e *Engine) beginAdmission(job cluster.Job, a *admission) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.leads:
		return fmt.Errorf("%w: this agent does not lead", ErrMustBeHeld)
	case job.Type != "service" && job.Type != "batch":
		return fmt.Errorf("%w: its type is %q", ErrMustBeHeld, job.Type)
	case len(job.Problems) > 0 || len(job.Workloads) == 0:
		return fmt.Errorf("%w: it has no performance block that can be used", ErrMustBeHeld)
	case e.flights[job.ID] != nil:
		return fmt.Errorf("%w: another version of it is being worked on", ErrMustBeHeld)
	case e.admitted[job.ID] != nil:
		return fmt.Errorf("%w: another version of it was decided on and is not registered yet", ErrMustBeHeld)
	case len(e.admitted) >= admissionsAtOnce:
		return fmt.Errorf("%w: %d jobs were decided on and are not registered yet", ErrMustBeHeld, len(e.admitted))
	}
	e.admitted[job.ID] = a
	return nil
}

// nextVersion is what a registration of the job now would make.
func (e *Engine) nextVersion(ctx context.Context, id cluster.JobID) (uint64, error) {
	now, err := e.cfg.World.Job(ctx, id)
	switch {
	case errors.Is(err, cluster.ErrGone):
		return 0, nil
	case err != nil:
		return 0, err
	case now.Held && !now.Stopped:
		return 0, fmt.Errorf("%w: a version of it is held", ErrMustBeHeld)
	}
	return now.Version + 1, nil
}

// alreadyKnown is what the store has of each workload, ErrMustBeHeld where that is not
// enough.
func (e *Engine) alreadyKnown(ctx context.Context, job cluster.Job) ([]profiling.Known, error) {
	out := make([]profiling.Known, 0, len(job.Workloads))
	for _, w := range job.Workloads {
		desc, err := policy.Lookup(e.policyOf(w))
		if err != nil {
			return nil, err
		}
		r, err := e.lab.Cached(ctx, w.ProfileKey)
		s := e.lab.Judge(desc, w, r.Profile, err)
		if s.ToMeasure {
			return nil, fmt.Errorf("%w: group %s has no complete profile yet", ErrMustBeHeld, w.ID.Group)
		}
		out = append(out, profiling.Known{Workload: w, Knowledge: r.Knowledge, Warnings: s.Warnings})
	}
	return out, nil
}

// chooseAhead decides, and leaves the decisions promised.
func (e *Engine) chooseAhead(ctx context.Context, job cluster.Job, known []profiling.Known) ([]cluster.Decision, error) {
	if err := e.keepPace(ctx); err != nil {
		return nil, err
	}
	select {
	case e.placing.slots <- struct{}{}:
		defer func() { <-e.placing.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	decisions, forget, err := e.choose(ctx, job, job.Version, known)
	if err != nil {
		return nil, err
	}
	if d := firstQueued(decisions); d != nil {
		return nil, fmt.Errorf("%w: it waits for room: %s", ErrMustBeHeld, d.Reason)
	}
	if err := ctx.Err(); err != nil {
		forget() // nobody waits for the answer
		return nil, err
	}
	return decisions, nil
}

// admission takes the decision that a version was registered with; nil where it was
// registered without one of ours.
func (e *Engine) admission(job cluster.Job) *admission {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.admitted[job.ID]
	if a == nil || !a.decided || a.version != job.Version || !boundAs(job, a.plan.Decisions) {
		return nil
	}
	delete(e.admitted, job.ID)
	return a
}

// boundAs reports whether the job's groups are bound to the nodes of the decisions.
func boundAs(job cluster.Job, decisions []cluster.Decision) bool {
	bound := make(map[cluster.WorkloadID]cluster.ShortlistDigest, len(job.Workloads))
	for _, w := range job.Workloads {
		bound[w.ID] = w.Bound
	}
	for _, d := range decisions {
		if d.ShortlistDigest(job.Type) != bound[d.Workload] {
			return false
		}
	}
	return true
}

// conclude puts a decision on record whose job is registered now.
func (e *Engine) conclude(ctx context.Context, job cluster.Job, a *admission) uint64 {
	defer e.placing.forget(a.plan.Decisions)
	for i := range a.plan.Decisions {
		a.plan.Decisions[i].ModifyIndex = job.ModifyIndex
	}
	e.decisions.Record(ctx, a.plan.Decisions, a.tracker.Steps())
	a.plan.Job = job
	e.cfg.World.Adopt(ctx, a.plan)
	a.tracker.Released(job.Version)
	if job.Version > 0 {
		// What an earlier version is said to wait for ends. A new job waits for nothing:
		// its decision says all, and one write less counts where jobs come by the dozen.
		a.tracker.Stage(ctx, cluster.StageObserve, "", "released: "+a.plan.Message)
	}
	return job.ModifyIndex
}

// dropAdmissions forgets decisions whose jobs were never registered.
func (e *Engine) dropAdmissions() {
	now := e.cfg.Clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, a := range e.admitted {
		if a.decided && now.After(a.expires) {
			delete(e.admitted, id)
			e.placing.forget(a.plan.Decisions)
		}
	}
}
