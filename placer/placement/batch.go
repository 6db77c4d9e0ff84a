package placement

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// queue is where jobs wait for their decision. Jobs that wait at the same time
// are decided together on one look at the cluster, those with most to lose first; each
// sees what was decided for the others. Writing a decision takes several requests
// and is done side by side: a decision counts as a promise until its write has
// ended, by when the world knows of it or it is void.
type queue struct {
	slots    chan struct{} // of the jobs that are decided on and written
	deciding sync.Mutex    // held from snapshot to promise
	memo     cluster.Memo  // guarded by deciding

	mu       sync.Mutex
	waiting  []*placement
	arrived  int // who ever waited
	promises map[cluster.WorkloadID]promise

	pace pace
}

// placedAtOnce is how many jobs are decided on and written side by side: writing
// takes some requests one after the other, mostly waiting for Nomad.
const placedAtOnce = 16

// What is sent together arrives one after the other: a decision waits until no other
// job has come for as long as the first, but no longer than the second (chosen by us:
// jobs of one command line follow each other within some ten milliseconds).
const (
	gatherQuiet  = 100 * time.Millisecond
	gatherAtMost = 500 * time.Millisecond
)

// Config is what a placer is made of.
type Config struct {
	World     cluster.World
	Clock     cluster.Clock
	Log       *slog.Logger
	Book      journal.Book
	Decisions *journal.Decisions
	Lab       *profiling.Lab
	Estimator *profiling.Estimator

	Policy   string                          // default policy
	Deadline func(cluster.Job) time.Time     // hold deadline
	Link     func(cluster.WorkloadID) string // URL of the record; nil: none
	Chart    func(cluster.WorkloadID) string // URL of the status chart; nil: none
}

// Placer decides where jobs go.
type Placer struct {
	cfg   Config
	queue queue
}

// New returns a placer for which nobody waits.
func New(cfg Config) *Placer { return &Placer{cfg: cfg, queue: newQueue()} }

// Enter waits until the job of the caller may be decided on and written; leave makes
// room for the next.
func (pl *Placer) Enter(ctx context.Context) (leave func(), _ error) {
	select {
	case pl.queue.slots <- struct{}{}:
		return func() { <-pl.queue.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// PlanOf is how a job is written by decisions.
func (pl *Placer) PlanOf(job cluster.Job, decisions []cluster.Decision) cluster.Plan {
	return cluster.Plan{
		Job: job, Decisions: decisions, Page: journal.Page(decisions, urlOf(pl.cfg.Chart, decisions)),
		Link: pl.LinkOf(decisions), Message: journal.Sentence(decisions),
	}
}

// LinkOf is the URL of the first decision's record; empty where there is none.
func (pl *Placer) LinkOf(decisions []cluster.Decision) string { return urlOf(pl.cfg.Link, decisions) }

func urlOf(of func(cluster.WorkloadID) string, decisions []cluster.Decision) string {
	if of == nil || len(decisions) == 0 {
		return ""
	}
	return of(decisions[0].Workload)
}

func newQueue() queue { return queue{slots: make(chan struct{}, placedAtOnce)} }

// placement is a job that waits, and then its decisions.
type placement struct {
	ctx       context.Context
	job       cluster.Job
	outcome   uint64 // the version that the decisions lead to
	known     []profiling.Known
	decisions []cluster.Decision
	undo      func() // takes the decisions off the snapshot they were made on
	err       error
	done      bool // guarded by deciding
}

// promise is a decision whose write is under way.
type promise struct {
	outcome     uint64 // the version of the job that the write makes
	sensitivity interference.Sensitivity
	allocations []cluster.Allocation
}

// Choose decides for a job. Unless a group must wait, the decisions are promised
// until the returned function is called; outcome is the version of the job that they
// lead to.
func (pl *Placer) Choose(ctx context.Context, job cluster.Job, outcome uint64, known []profiling.Known) ([]cluster.Decision, func(), error) {
	p := &placement{ctx: ctx, job: job, outcome: outcome, known: known}
	pl.queue.mu.Lock()
	pl.queue.waiting = append(pl.queue.waiting, p)
	pl.queue.arrived++
	pl.queue.mu.Unlock()
	pl.gather(ctx)

	pl.queue.deciding.Lock()
	if !p.done {
		pl.decideWaiting(ctx)
	}
	pl.queue.deciding.Unlock()
	return p.decisions, func() { pl.queue.forget(p.decisions) }, p.err
}

// gather waits for company. Where as many as may are being placed, there is enough.
func (pl *Placer) gather(ctx context.Context) {
	count := func() int {
		pl.queue.mu.Lock()
		defer pl.queue.mu.Unlock()
		return pl.queue.arrived
	}
	for waited := time.Duration(0); waited < gatherAtMost; waited += gatherQuiet {
		before := count()
		if len(pl.queue.slots) == cap(pl.queue.slots) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-pl.cfg.Clock.After(gatherQuiet):
		}
		if count() == before {
			return
		}
	}
}

// decideWaiting decides for everybody who waits, the caller included.
func (pl *Placer) decideWaiting(ctx context.Context) {
	pl.queue.mu.Lock()
	batch := pl.queue.waiting
	pl.queue.waiting = nil
	pl.queue.mu.Unlock()

	promises := pl.queue.promised()
	// The promises were copied first: what is not among them any more is in the
	// snapshot.
	snapshot, err := pl.cfg.Decisions.Snapshot(context.WithoutCancel(ctx), pl.cfg.World) // others wait for it, too
	if err == nil {
		snapshot = withPromises(snapshot, promises)
		snapshot.Memo = &pl.queue.memo
		pl.queue.pace.note(pl.cfg.Clock.Now(), snapshot)
	}
	for _, p := range batch {
		p.done, p.err = true, err
	}
	if err != nil {
		return
	}
	for _, p := range pl.decideTogether(snapshot, batch) {
		pl.queue.promise(p.outcome, p.decisions)
	}
}

// decideTogether decides on jobs that were sent together and returns those that got a
// place. Best effort comes when those with a target have theirs for good: it takes what
// they leave, and would else stand in the way of those who change places.
func (pl *Placer) decideTogether(s *cluster.Snapshot, batch []*placement) []*placement {
	var withTarget, bestEffort []*placement
	for _, p := range pl.mostToLoseFirst(batch) {
		if p.hasTarget() {
			withTarget = append(withTarget, p)
		} else {
			bestEffort = append(bestEffort, p)
		}
	}
	decided := pl.decideEach(s, withTarget)
	pl.decideAgainOnAll(s, decided)
	pl.arrange(s, decided)
	return append(decided, pl.decideEach(s, bestEffort)...)
}

// decideEach decides on one job after the other and returns those that got a place.
func (pl *Placer) decideEach(s *cluster.Snapshot, batch []*placement) []*placement {
	var decided []*placement
	for _, p := range batch {
		if p.err = p.ctx.Err(); p.err != nil {
			continue
		}
		p.decisions, p.undo, p.err = pl.decideOn(s, p.job, p.known)
		if p.err != nil || FirstQueued(p.decisions) != nil {
			p.undo()
			continue
		}
		decided = append(decided, p)
	}
	return decided
}

// mostToLoseFirst orders jobs that are decided on together: a bound on a tail latency
// breaks first, so those have the choice of nodes, then who stands least pressure, and
// best effort takes what is left. Those alike keep the order in which they came.
func (pl *Placer) mostToLoseFirst(batch []*placement) []*placement {
	if len(batch) < 2 {
		return batch
	}
	keys := make(map[*placement][2]float64, len(batch))
	for _, p := range batch {
		key := [2]float64{math.Inf(1), math.Inf(1)}
		for i := range p.known {
			k := &p.known[i]
			one := [2]float64{slack(k.Workload.Spec.Target), pl.cfg.Estimator.MeanTolerance(k)}
			if slices.Compare(one[:], key[:]) < 0 {
				key = one
			}
		}
		keys[p] = key
	}
	return slices.SortedStableFunc(slices.Values(batch), func(a, b *placement) int {
		x, y := keys[a], keys[b]
		return slices.Compare(x[:], y[:])
	})
}

// slack ranks what targets leave a workload: a tail latency least, best effort all.
func slack(t performance.Target) float64 {
	switch {
	case t.Latency != nil:
		return 0
	case t.Kind == performance.BestEffort:
		return 2
	default:
		return 1
	}
}

// promise notes decisions that are about to be written, as a version of their job.
func (q *queue) promise(outcome uint64, decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.promises == nil {
		q.promises = map[cluster.WorkloadID]promise{}
	}
	for _, d := range decisions {
		q.promises[d.Workload] = promise{outcome: outcome, sensitivity: d.Bounds(), allocations: reservedFor(d)}
	}
}

// promised is what is being written now.
func (q *queue) promised() map[cluster.WorkloadID]promise {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.promises)
}

func (q *queue) forget(decisions []cluster.Decision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range decisions {
		delete(q.promises, d.Workload)
	}
}

// reservedFor are the allocations a decision will most likely become: its best
// nodes, as many as the group's count. Where they are more than its nodes, each gets
// another in turn.
func reservedFor(d cluster.Decision) []cluster.Allocation {
	if len(d.Candidates) == 0 {
		return nil
	}
	out := make([]cluster.Allocation, d.Count)
	for i := range out {
		node := d.Candidates[i%len(d.Candidates)].Node
		out[i] = cluster.Allocation{ID: "decided", Workload: d.Workload, Node: node, Resources: d.Resources}
	}
	return out
}

// withPromises returns a snapshot that may be written to, with what is promised
// and not visible in it yet. Its Known is the engine's own.
func withPromises(s *cluster.Snapshot, promises map[cluster.WorkloadID]promise) *cluster.Snapshot {
	next := *s
	next.Reserved = maps.Clone(s.Reserved)
	if next.Reserved == nil {
		next.Reserved = map[cluster.NodeID][]cluster.Allocation{}
	}
	if len(promises) == 0 {
		return &next
	}
	seen := visible(s, promises)
	for id, p := range promises {
		next.Known[id] = p.sensitivity
		addReserved(&next, p.allocations[min(seen[id], len(p.allocations)):])
	}
	return &next
}

// visible counts, per promised workload, the allocations and reservations that
// its write has brought about already.
func visible(s *cluster.Snapshot, promises map[cluster.WorkloadID]promise) map[cluster.WorkloadID]int {
	out := map[cluster.WorkloadID]int{}
	for _, lists := range [2]map[cluster.NodeID][]cluster.Allocation{s.Allocations, s.Reserved} {
		for _, list := range lists {
			for i := range list {
				if p, ok := promises[list[i].Workload]; ok && list[i].Version >= p.outcome {
					out[list[i].Workload]++
				}
			}
		}
	}
	return out
}

// addReserved adds reservations to a snapshot whose map of them is its own; the
// lists in it may be others'.
func addReserved(s *cluster.Snapshot, allocations []cluster.Allocation) {
	for _, a := range allocations {
		s.Reserved[a.Node] = append(slices.Clip(s.Reserved[a.Node]), a)
	}
}

// reserve adds the decision's best nodes to a snapshot, and returns how to take
// them away again.
func reserve(s *cluster.Snapshot, d cluster.Decision) (undo func()) {
	before, was := s.Known[d.Workload]
	s.Known[d.Workload] = d.Bounds()
	added := reservedFor(d)
	addReserved(s, added)
	return func() {
		if was {
			s.Known[d.Workload] = before
		} else {
			delete(s.Known, d.Workload)
		}
		for _, a := range added {
			list := s.Reserved[a.Node]
			at := slices.IndexFunc(list, func(b cluster.Allocation) bool { return b.ID == a.ID && b.Workload == a.Workload })
			s.Reserved[a.Node] = slices.Concat(list[:at], list[at+1:])
		}
	}
}
