package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// recordTimeout bounds the writing of records after a release.
const recordTimeout = 10 * time.Second

// How many jobs that are not listed any more are asked for in one pass, and when one whose
// records are still there is asked for again (chosen by us): soon, for the list was older than
// the answer, or somebody did not answer; ever more seldom where nothing can be read, as in a
// namespace that the token may not read any more.
const (
	askedAtMost   = 16
	askAgainSoon  = 15 * time.Second
	askAgainAfter = 5 * time.Minute
)

// Records that nothing here knows of are looked for so often, so many at once (chosen by us): an
// agent that is killed, or that is paused until another leads, leaves some.
const (
	straysEvery  = 2 * time.Minute
	straysAtMost = 64
)

// Decisions are the newest decision of every workload: in the book, and in memory
// for the scores of residents.
type Decisions struct {
	book Book
	log  *slog.Logger

	mu     sync.Mutex
	newest map[cluster.WorkloadID]cluster.Decision
	// What a snapshot says of these, kept with them: a look at each for every snapshot would
	// cost more than a decision.
	scores   map[cluster.WorkloadID]interference.Sensitivity
	promises map[cluster.WorkloadID]performance.DiskSpec
	shared   interference.Interner
	// seen are the jobs that may have records, with their groups: a job may be purged before
	// anything is decided, and another replica, whose decision is not among the newest here,
	// may have released it.
	seen      map[cluster.JobID][]cluster.WorkloadID
	asked     map[cluster.JobID]asked     // for a job that is not listed
	forgotten map[cluster.JobID]time.Time // a short while ago
	searched  time.Time                   // for records that nothing here knows of
}

// asked is when a job was asked for, and how long it is not asked for then.
type asked struct {
	at   time.Time
	rest time.Duration
}

// NewDecisions knows nothing before Load.
func NewDecisions(book Book, log *slog.Logger) *Decisions {
	return &Decisions{
		book: book, log: log,
		newest: map[cluster.WorkloadID]cluster.Decision{}, scores: map[cluster.WorkloadID]interference.Sensitivity{},
		promises: map[cluster.WorkloadID]performance.DiskSpec{}, seen: map[cluster.JobID][]cluster.WorkloadID{}, asked: map[cluster.JobID]asked{},
		forgotten: map[cluster.JobID]time.Time{},
	}
}

// Load reads what earlier leaders decided.
func (s *Decisions) Load(ctx context.Context) error {
	decisions, unusable, err := list[cluster.Decision](ctx, s.book.Store, decisionPrefix)
	if err != nil {
		return fmt.Errorf("engine: reading decisions: %w", err)
	}
	evaluations, more, err := list[cluster.Evaluation](ctx, s.book.Store, evaluationPrefix)
	if err != nil {
		return fmt.Errorf("engine: reading evaluations: %w", err)
	}
	if unusable += more; unusable > 0 {
		s.log.Warn("records that are damaged, or of a newer version, are not used", "count", unusable)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range decisions {
		s.keep(remembered(d))
	}
	for _, e := range evaluations {
		s.saw(e.Job)
	}
	return nil
}

// Saw notes that a job may have records, which go with the job.
func (s *Decisions) Saw(job cluster.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := make([]cluster.WorkloadID, len(job.Workloads))
	for i, w := range job.Workloads {
		groups[i] = w.ID
	}
	s.saw(job.ID, groups...)
}

// saw adds groups to those of a job; versions may have others. The caller holds s.mu.
func (s *Decisions) saw(id cluster.JobID, groups ...cluster.WorkloadID) {
	known := s.seen[id]
	for _, g := range groups {
		if !slices.Contains(known, g) {
			known = append(known, g)
		}
	}
	s.seen[id] = known
}

// remembered is the part of a decision that is kept in memory; the whole record
// is in the store. With its lists a decision takes some 30 kB, and there is one
// per workload of the cluster.
func remembered(d cluster.Decision) cluster.Decision {
	d.Rejected = nil
	d.Candidates = slices.Clone(d.Candidates[:min(len(d.Candidates), d.Count)])
	return d
}

// Record stores decisions and remembers them as residents' scores. The job already
// runs, so a store that fails costs the explanation only.
func (s *Decisions) Record(ctx context.Context, decisions []cluster.Decision, steps []cluster.Step) {
	// Our own write makes the job look newer than the evaluation, which then
	// ends; its records must not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for _, d := range decisions {
		if steps != nil {
			d.Steps = steps
		}
		s.remember(remembered(d))
		if err := s.book.PutDecision(ctx, d); err != nil {
			s.log.Warn("storing a decision", "workload", d.Workload.String(), "error", err)
		}
	}
}

// Amend changes the newest decision on a workload by what was learnt since. It is read
// from the book: the one in memory lacks most of its nodes, and the record of a job that
// runs must name all that it is bound to.
func (s *Decisions) Amend(ctx context.Context, id cluster.WorkloadID, change func(*cluster.Decision)) error {
	d, err := s.book.Decision(ctx, id)
	if err != nil {
		return wrap(err, "amending the decision on %s", id)
	}
	change(&d)
	s.remember(remembered(d))
	return s.book.PutDecision(ctx, d)
}

func (s *Decisions) remember(d cluster.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(d)
}

// keep a decision as the newest. The caller holds s.mu.
func (s *Decisions) keep(d cluster.Decision) {
	s.drop(d.Workload)
	d.Sensitivity.Tolerated, d.Sensitivity.Caused = s.shared.Of(d.Sensitivity.Tolerated), s.shared.Of(d.Sensitivity.Caused)
	d.ToleranceAtTarget = s.shared.Of(d.ToleranceAtTarget)
	s.newest[d.Workload] = d
	one := slices.Values([]cluster.Decision{d})
	maps.Copy(s.scores, ScoresOf(one))
	maps.Copy(s.promises, cluster.DiskPromises(one))
}

// drop what is kept of a workload. The caller holds s.mu.
func (s *Decisions) drop(w cluster.WorkloadID) {
	delete(s.newest, w)
	delete(s.scores, w)
	delete(s.promises, w)
}

// Of is the newest decision on a workload, as far as it is kept in memory.
func (s *Decisions) Of(id cluster.WorkloadID) (cluster.Decision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.newest[id]
	return d, ok
}

// OfJob are the newest decisions on the workloads of a job, whole, as the book has them.
func (s *Decisions) OfJob(ctx context.Context, job cluster.Job) (map[cluster.WorkloadID]cluster.Decision, error) {
	out := map[cluster.WorkloadID]cluster.Decision{}
	for _, w := range job.Workloads {
		d, err := s.book.Decision(ctx, w.ID)
		if errors.Is(err, cluster.ErrNoRecord) {
			continue
		}
		if err != nil {
			return nil, wrap(err, "decision on %s", w.ID)
		}
		out[w.ID] = d
	}
	return out, nil
}

// ForgetGone removes the records of jobs that are gone. A list that got shorter does not
// say so: it may have lost a namespace that the agent's token may not read any more. So
// each job that is missing is asked for by its name, and only one that Nomad says is gone,
// or that has no use for a record any more, is forgotten.
func (s *Decisions) ForgetGone(ctx context.Context, world cluster.State, now time.Time, listed map[cluster.JobID]bool) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	s.findStrays(ctx, now)
	for _, id := range s.missing(now, listed) {
		job, err := world.Job(ctx, id)
		switch {
		case errors.Is(err, cluster.ErrGone), err == nil && !hasRecord(job):
			s.forget(ctx, now, id)
		case ctx.Err() != nil:
			return
		case err == nil:
			s.askSoon(now, id)
		default:
			s.log.Info("a job is not in Nomad's list and not gone: its records are kept", "job", id.String(), "error", err)
		}
	}
}

// findStrays takes up the jobs of records that nothing here knows of.
func (s *Decisions) findStrays(ctx context.Context, now time.Time) {
	s.mu.Lock()
	if now.Sub(s.searched).Abs() < straysEvery {
		s.mu.Unlock()
		return
	}
	s.searched = now
	for w := range s.newest {
		s.saw(w.JobID(), w)
	}
	known := make(map[cluster.JobID][]cluster.WorkloadID, len(s.seen))
	for id, groups := range s.seen {
		known[id] = slices.Clone(groups)
	}
	s.mu.Unlock()
	strays, err := s.book.Strays(ctx, known, straysAtMost)
	if err != nil {
		s.log.Info("looking for records of jobs that are gone", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stray := range strays {
		if stray.Workload != nil {
			s.saw(stray.Job, *stray.Workload)
		} else {
			s.saw(stray.Job)
		}
	}
}

// askSoon has a job asked for again in a short while.
func (s *Decisions) askSoon(now time.Time, id cluster.JobID, groups ...cluster.WorkloadID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saw(id, groups...)
	s.asked[id] = asked{now, askAgainSoon}
}

// hasRecord reports whether the placer keeps records of a job.
func hasRecord(job cluster.Job) bool {
	return !job.Stopped && (job.Held || len(job.Workloads) > 0 || len(job.Problems) > 0)
}

// missing are jobs with a record that are not listed, and that were not asked for a short
// while ago; askedAtMost, and those count as asked for.
func (s *Decisions) missing(now time.Time, listed map[cluster.JobID]bool) []cluster.JobID {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.asked, func(id cluster.JobID, _ asked) bool { return listed[id] })
	maps.DeleteFunc(s.forgotten, func(id cluster.JobID, at time.Time) bool { return listed[id] || now.Sub(at).Abs() > askAgainAfter })
	for w := range s.newest {
		s.saw(w.JobID(), w)
	}
	var out []cluster.JobID
	for id := range s.seen {
		last := s.asked[id]
		if listed[id] || now.Sub(last.at).Abs() < last.rest || len(out) == askedAtMost {
			continue
		}
		out = append(out, id)
		s.asked[id] = asked{now, min(max(askAgainSoon, 2*last.rest), askAgainAfter)}
	}
	return out
}

// forget removes what is kept of a job, in memory and in the book.
func (s *Decisions) forget(ctx context.Context, now time.Time, id cluster.JobID) {
	s.mu.Lock()
	workloads := s.seen[id]
	s.forgotten[id] = now
	delete(s.asked, id)
	delete(s.seen, id)
	for _, w := range workloads {
		s.drop(w)
	}
	s.mu.Unlock()
	if err := s.book.Forget(ctx, id, workloads); err != nil {
		s.log.Warn("forgetting a vanished job; it will be tried again", "job", id.String(), "error", err)
		s.askSoon(now, id, workloads...)
	}
}

// AddObservations keeps readings of a workload, but for one that was forgotten while it was
// measured: nothing would look for them again.
func (s *Decisions) AddObservations(ctx context.Context, w cluster.WorkloadID, o []cluster.Observation) error {
	if err := s.book.AddObservations(ctx, w, o); err != nil {
		return err
	}
	s.mu.Lock()
	_, gone := s.forgotten[w.JobID()]
	s.mu.Unlock()
	if !gone {
		return nil
	}
	return s.book.ForgetObservations(ctx, w)
}

// Snapshot is the cluster's with the scores of residents, and what is promised to them,
// filled in from what was decided before.
func (s *Decisions) Snapshot(ctx context.Context, world cluster.State) (*cluster.Snapshot, error) {
	snapshot, err := world.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	filled := *snapshot
	filled.Known, filled.Disk = maps.Clone(s.scores), maps.Clone(s.promises)
	return &filled, nil
}

// Filled is a snapshot with what decisions say of its residents.
func Filled(s *cluster.Snapshot, decisions iter.Seq[cluster.Decision]) *cluster.Snapshot {
	filled := *s
	filled.Known, filled.Disk = ScoresOf(decisions), cluster.DiskPromises(decisions)
	return &filled
}

// ScoresOf are the scores that decisions say of their workloads, where they say any.
func ScoresOf(decisions iter.Seq[cluster.Decision]) map[cluster.WorkloadID]interference.Sensitivity {
	known := map[cluster.WorkloadID]interference.Sensitivity{}
	for d := range decisions {
		if b := d.Bounds(); len(b.Tolerated)+len(b.Caused) > 0 {
			known[d.Workload] = b
		}
	}
	return known
}
