package placement

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// queue is where jobs wait for their decision. Jobs that wait at the same time are
// decided together on one look at the cluster, those with most to lose first; each sees
// what was decided for the others. Writing a decision takes several requests and is done
// side by side: the decision counts as an in-flight plan until its write has ended, by
// when the world knows of it or it is void.
type queue struct {
	slots    chan struct{} // of the jobs that are decided on and written
	deciding chan struct{} // holds a token from the snapshot until the plans are noted
	cache    cluster.Cache // guarded by deciding

	mu       sync.Mutex
	waiting  []*placement
	joining  *gathering // nil: who comes next gathers
	inFlight map[cluster.WorkloadID]plan

	pace pace
}

// AtOnce is how many jobs are decided on and written side by side: writing
// takes some requests one after the other, mostly waiting for Nomad.
const AtOnce = 16

// What is submitted together arrives one after the other: the first of several jobs waits
// until no other has come for as long as the first, but no longer than the second (chosen by
// us: jobs of one command line follow each other within some ten milliseconds). The others
// wait with it, and for nothing else, and as many as are decided on side by side wait for
// nobody: in a burst there is always another to come (decision 0071).
const (
	gatherQuiet  = 100 * time.Millisecond
	gatherAtMost = 500 * time.Millisecond
)

// gathering is jobs that come at the same time, and wait for each other.
type gathering struct {
	jobs  int           // guarded by the queue's mu
	ended chan struct{} // closed when they are decided on
}

func newQueue() queue {
	return queue{slots: make(chan struct{}, AtOnce), deciding: make(chan struct{}, 1)}
}

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

// Choose decides for a job. Unless a group must wait, the decisions are in flight until
// the returned function is called; outcome is the version of the job that they lead to.
func (pl *Placer) Choose(ctx context.Context, job cluster.Job, outcome uint64, known []profiling.Known) ([]cluster.Decision, func(), error) {
	p := &placement{ctx: ctx, job: job, outcome: outcome, known: known}
	pl.gather(ctx, p)

	pl.queue.deciding <- struct{}{}
	if !p.done {
		pl.decideWaiting(ctx)
	}
	<-pl.queue.deciding
	return p.decisions, func() { pl.queue.forget(p.decisions) }, p.err
}

// gather has a job wait, and returns when those that come at the same time do.
func (pl *Placer) gather(ctx context.Context, p *placement) {
	g, first := pl.queue.join(p)
	if first {
		pl.await(ctx, g)
		pl.queue.end(g)
		return
	}
	select {
	case <-ctx.Done():
	case <-g.ended:
	}
}

// join has a job wait with those that came just before, or as the first of others.
func (q *queue) join(p *placement) (g *gathering, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	if first = q.joining == nil; first {
		q.joining = &gathering{ended: make(chan struct{})}
	}
	g = q.joining
	if g.jobs++; g.jobs == AtOnce {
		q.endLocked(g)
	}
	return g, first
}

func (q *queue) end(g *gathering) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endLocked(g)
}

// endLocked has the jobs of a gathering decided on, once.
func (q *queue) endLocked(g *gathering) {
	if q.joining == g {
		q.joining = nil
		close(g.ended)
	}
}

// await waits until no more jobs come. It does not wait where as many as may are being
// decided on and written already.
func (pl *Placer) await(ctx context.Context, g *gathering) {
	count := func() int {
		pl.queue.mu.Lock()
		defer pl.queue.mu.Unlock()
		return g.jobs
	}
	for waited := time.Duration(0); waited < gatherAtMost; waited += gatherQuiet {
		before := count()
		if len(pl.queue.slots) == cap(pl.queue.slots) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-g.ended:
			return
		case <-pl.cfg.Clock.After(gatherQuiet):
		}
		if count() == before {
			return
		}
	}
}

// decideWaiting decides for all jobs that wait, the caller's included.
func (pl *Placer) decideWaiting(ctx context.Context) {
	pl.queue.mu.Lock()
	batch := pl.queue.waiting
	pl.queue.waiting = nil
	pl.queue.mu.Unlock()

	inFlight := pl.queue.plans()
	// The plans were copied first: what is not among them any more is in the
	// snapshot.
	snapshot, err := pl.cfg.Decisions.Snapshot(context.WithoutCancel(ctx), pl.cfg.World) // others wait for it, too
	if err == nil {
		snapshot = withPlans(snapshot, inFlight)
		snapshot.Cache = &pl.queue.cache
		pl.queue.pace.note(pl.cfg.Clock.Now(), snapshot)
	}
	for _, p := range batch {
		p.done, p.err = true, err
	}
	if err != nil {
		return
	}
	for _, p := range pl.decideTogether(snapshot, pl.route(snapshot, batch)) {
		pl.queue.plan(p.outcome, p.decisions)
	}
}

// route limits jobs to the nodes that they may use, and leaves out those that have to wait.
func (pl *Placer) route(s *cluster.Snapshot, batch []*placement) []*placement {
	if pl.cfg.Router == nil {
		return batch
	}
	slices.SortStableFunc(batch, func(a, b *placement) int { return a.job.SubmittedAt.Compare(b.job.SubmittedAt) })
	var routed []*placement
	for _, p := range batch {
		p.known = slices.Clone(p.known)
		for i, k := range p.known {
			limited, rental := pl.cfg.Router.Route(s, p.job, k)
			limited.Rental = &rental
			p.known[i] = limited
			if rental.Side == cluster.SideWaits {
				p.decisions = append(p.decisions, pl.waits(p.job, limited))
			}
		}
		if FirstQueued(p.decisions) == nil {
			routed = append(routed, p)
		}
	}
	return routed
}

// waits is the record of a workload that has no place on either side now.
func (pl *Placer) waits(job cluster.Job, k profiling.Known) cluster.Decision {
	d := cluster.Decision{
		Workload: k.Workload.ID, Policy: pl.policyOf(k.Workload), Seed: profiling.Seed(job, k.Workload), At: pl.cfg.Clock.Now(),
		Outcome: cluster.Queued, Count: k.Workload.Count, Resources: k.Workload.Ask,
	}
	describe(&d, job, k)
	return d
}

// decideTogether decides on jobs that were submitted together and returns those that got a
// place. Best effort comes last, when those with a target will not change places any
// more: it takes what they leave.
func (pl *Placer) decideTogether(s *cluster.Snapshot, batch []*placement) []*placement {
	var withTarget, bestEffort []*placement
	for _, p := range pl.mostToLoseFirst(batch) {
		if p.hasTarget() {
			withTarget = append(withTarget, p)
		} else {
			bestEffort = append(bestEffort, p)
		}
	}
	if len(withTarget) < 2 {
		return append(pl.decideEach(s, withTarget), pl.decideEach(s, bestEffort)...)
	}
	restore := withoutPatience(withTarget)
	decided := pl.decideEach(s, withTarget)
	pl.decideAgainOnAll(s, decided)
	pl.arrange(s, decided)
	restore()
	decided = pl.letWait(s, decided)
	return append(decided, pl.decideEach(s, bestEffort)...)
}

// withoutPatience has none of the jobs wait for a better node, until restore is called: how
// many of them there are good nodes for is only known when all are arranged.
func withoutPatience(batch []*placement) (restore func()) {
	patient := make([][]profiling.Known, len(batch))
	for i, p := range batch {
		patient[i], p.known = p.known, slices.Clone(p.known)
		for k := range p.known {
			p.known[k].WaitsUntil = time.Time{}
		}
	}
	return func() {
		for i, p := range batch {
			p.known = patient[i]
		}
	}
}

// letWait has those wait that their policy gives no node now, where the others are: who has
// least to lose first, since that leaves the others more, and nobody while one with less to
// lose has a place: that would only keep the place from it.
func (pl *Placer) letWait(s *cluster.Snapshot, decided []*placement) []*placement {
	for _, p := range slices.Backward(decided) {
		if !pl.mayWait(p) {
			break
		}
		p.undo()
		decisions, undo, err := pl.decideOn(s, p.job, p.known)
		undo()
		if err != nil || FirstQueued(decisions) == nil {
			p.undo = reserveAll(s, p.decisions)
			break
		}
		p.decisions, p.undo = decisions, func() {}
	}
	return slices.DeleteFunc(decided, func(p *placement) bool { return FirstQueued(p.decisions) != nil })
}

// mayWait reports whether the policy of some group may refuse nodes now.
func (pl *Placer) mayWait(p *placement) bool {
	return slices.ContainsFunc(p.known, func(k profiling.Known) bool {
		d, err := policy.Lookup(pl.policyOf(k.Workload))
		return err == nil && d.Waits && pl.cfg.Clock.Now().Before(k.WaitsUntil)
	})
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

// mostToLoseFirst orders jobs that are decided on together. A bound on a tail latency
// breaks first, so jobs with one have the choice of nodes; then those that tolerate the
// least pressure; best effort takes what is left. Equal ones keep the order in which they
// came.
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
