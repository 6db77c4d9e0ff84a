package placement

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	// admissionFor is how long a decision counts whose job is not registered: the caller
	// registers it within milliseconds, unless Nomad refuses the job.
	admissionFor = 15 * time.Second
	// admissionsAtOnce bounds the decisions whose jobs are not registered: a caller may ask
	// and register nothing.
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

// Admissions are the decisions on jobs that are not registered yet.
type Admissions struct {
	placer      *Placer
	evaluations *Evaluations

	mu       sync.Mutex
	leads    bool // the engine is at work
	admitted map[cluster.JobID]*admission
}

// NewAdmissions admits no job before Lead.
func NewAdmissions(placer *Placer, evaluations *Evaluations) *Admissions {
	return &Admissions{placer: placer, evaluations: evaluations, admitted: map[cluster.JobID]*admission{}}
}

// Lead says whether this agent leads: only a leader evaluates what is admitted.
func (ad *Admissions) Lead(now bool) {
	ad.mu.Lock()
	defer ad.mu.Unlock()
	ad.leads = now
}

// Admit decides on a job before it is registered, from stored profiles. The caller
// registers it as the plan says; once the registration is seen, the decision is put on
// record. Until then, or for admissionFor, it is an in-flight plan. ErrMustBeHeld with a
// reason where something has to happen first: a profile, or room on a node.
func (ad *Admissions) Admit(ctx context.Context, job cluster.Job) (plan cluster.Plan, err error) {
	a := &admission{}
	if err := ad.beginAdmission(job, a); err != nil {
		return cluster.Plan{}, err
	}
	defer func() {
		if err != nil {
			ad.mu.Lock()
			delete(ad.admitted, job.ID)
			ad.mu.Unlock()
		}
	}()
	version, err := ad.nextVersion(ctx, job.ID)
	if err != nil {
		return cluster.Plan{}, err
	}
	job.Version, job.SubmittedAt = version, ad.placer.cfg.Clock.Now()
	t := journal.NewTracker(ad.placer.cfg.Book, ad.placer.cfg.Clock, ad.placer.cfg.Log, job, ad.placer.cfg.Deadline(job))
	t.Begin(ctx, journal.Entry{Stage: cluster.StageClassify, Message: "reading stored profiles"})
	known, err := ad.alreadyKnown(ctx, job)
	if err != nil {
		return cluster.Plan{}, err
	}
	t.Begin(ctx, journal.Entry{Stage: cluster.StagePlace, Message: "choosing nodes"})
	decisions, err := ad.chooseAhead(ctx, job, known)
	if err != nil {
		return cluster.Plan{}, err
	}
	plan = ad.placer.PlanOf(job, decisions)
	ad.mu.Lock()
	defer ad.mu.Unlock()
	*a = admission{plan: plan, version: version, decided: true, expires: ad.placer.cfg.Clock.Now().Add(admissionFor), tracker: t}
	return plan, nil
}

// beginAdmission notes that a job is being decided on. It refuses jobs that must pass the
// hold pool, and all jobs where this agent does not lead.
func (ad *Admissions) beginAdmission(job cluster.Job, a *admission) error {
	ad.mu.Lock()
	defer ad.mu.Unlock()
	switch {
	case !ad.leads:
		return fmt.Errorf("%w: this agent does not lead", ErrMustBeHeld)
	case job.Type != "service" && job.Type != "batch":
		return fmt.Errorf("%w: its type is %q", ErrMustBeHeld, job.Type)
	case len(job.Problems) > 0 || len(job.Workloads) == 0:
		return fmt.Errorf("%w: it has no performance block that can be used", ErrMustBeHeld)
	case ad.evaluations.UnderWay(job.ID):
		return fmt.Errorf("%w: another version of it is being worked on", ErrMustBeHeld)
	case ad.admitted[job.ID] != nil:
		return fmt.Errorf("%w: another version of it was decided on and is not registered yet", ErrMustBeHeld)
	case len(ad.admitted) >= admissionsAtOnce:
		return fmt.Errorf("%w: %d jobs were decided on and are not registered yet", ErrMustBeHeld, len(ad.admitted))
	}
	ad.admitted[job.ID] = a
	return nil
}

// nextVersion is what a registration of the job now would make.
func (ad *Admissions) nextVersion(ctx context.Context, id cluster.JobID) (uint64, error) {
	now, err := ad.placer.cfg.World.Job(ctx, id)
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
func (ad *Admissions) alreadyKnown(ctx context.Context, job cluster.Job) ([]profiling.Known, error) {
	out := make([]profiling.Known, 0, len(job.Workloads))
	for _, w := range job.Workloads {
		desc, err := policy.Lookup(ad.placer.policyOf(w))
		if err != nil {
			return nil, err
		}
		r, err := ad.placer.cfg.Lab.Cached(ctx, w.ID, w.ProfileKey)
		s, err := ad.placer.cfg.Lab.Postpone(ctx, job, ad.placer.cfg.Lab.Judge(desc, w, r.Profile, err))
		if err != nil {
			return nil, err
		}
		if s.ToMeasure {
			return nil, fmt.Errorf("%w: group %s has no complete profile yet", ErrMustBeHeld, w.ID.Group)
		}
		out = append(out, profiling.Known{Workload: w, Knowledge: r.Knowledge, Warnings: s.Warnings, WaitsUntil: ad.placer.cfg.Clock.Now().Add(Patience)})
	}
	return out, nil
}

// chooseAhead decides, and leaves the decisions in flight.
func (ad *Admissions) chooseAhead(ctx context.Context, job cluster.Job, known []profiling.Known) ([]cluster.Decision, error) {
	if err := ad.placer.keepPace(ctx); err != nil {
		return nil, err
	}
	leave, err := ad.placer.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	decisions, forget, err := ad.placer.Choose(ctx, job, job.Version, known)
	if err != nil {
		return nil, err
	}
	if d := FirstQueued(decisions); d != nil {
		return nil, fmt.Errorf("%w: it waits for room: %s", ErrMustBeHeld, d.Reason)
	}
	if err := ctx.Err(); err != nil {
		forget() // the caller does not wait for the answer any more
		return nil, err
	}
	return decisions, nil
}

// take is the decision that a version was registered with; nil where it was
// registered without one of ours.
func (ad *Admissions) take(job cluster.Job) *admission {
	ad.mu.Lock()
	defer ad.mu.Unlock()
	a := ad.admitted[job.ID]
	if a == nil || !a.decided || a.version != job.Version || !boundAs(job, a.plan.Decisions) {
		return nil
	}
	delete(ad.admitted, job.ID)
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

// Conclude puts the decision on record that a version was registered with. It returns
// the JobModifyIndex after which nothing is left to do; false where the version was
// registered without a decision of ours.
func (ad *Admissions) Conclude(ctx context.Context, job cluster.Job) (uint64, bool) {
	a := ad.take(job)
	if a == nil {
		return 0, false
	}
	defer ad.placer.queue.forget(a.plan.Decisions)
	for i := range a.plan.Decisions {
		a.plan.Decisions[i].ModifyIndex = job.ModifyIndex
	}
	ad.placer.cfg.Decisions.Record(ctx, a.plan.Decisions, a.tracker.Steps())
	a.plan.Job = job
	ad.placer.cfg.World.Adopt(a.plan)
	if job.Version > 0 {
		// What an earlier version is said to wait for ends. A new job waits for nothing:
		// its decision says all, and one write less counts where jobs come by the dozen.
		a.tracker.Begin(ctx, journal.Entry{Stage: cluster.StageObserve, Message: "released: " + a.plan.Message, Released: job.Version})
	}
	return job.ModifyIndex, true
}

// Expire forgets decisions whose jobs were never registered.
func (ad *Admissions) Expire() {
	now := ad.placer.cfg.Clock.Now()
	ad.mu.Lock()
	defer ad.mu.Unlock()
	for id, a := range ad.admitted {
		if a.decided && now.After(a.expires) {
			delete(ad.admitted, id)
			ad.placer.queue.forget(a.plan.Decisions)
		}
	}
}
