package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine/adapt"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The pace of adaptation, chosen by us. A load spike must be answered within 15 s:
// three windows of 2.5 s that follow one another, one begun before it, and the write.
const (
	defaultAdapter     = "quasar"
	noAdapter          = "none"
	adaptEvery         = 2500 * time.Millisecond
	adaptWindow        = 2 * time.Second
	recordEvery        = 20 * time.Second // observations into the book: each is a write
	warmUp             = 10 * time.Second // of a new allocation, before it is judged
	restAfterAction    = 30 * time.Second // of a workload, whoever leads
	settleAfterGrowth  = 10 * time.Minute // before anything grown is given back
	yieldTrial         = 30 * time.Second // until it shows whether a neighbour was to blame
	longestBackOff     = 2 * time.Minute
	leastImprovement   = 0.05 // of the target; less is noise
	adaptSeed          = 1
	firstWorkloadRef   = board.Ref(1) << 40 // beyond any allocation on a board
	refusalRepeatAfter = time.Hour
)

// safeOptions are the adapter's thresholds for a cluster that people use.
func safeOptions(every time.Duration) adapt.Options {
	o := adapt.Defaults()
	o.Window = every
	o.WastefulAfter = int(settleAfterGrowth / every)
	o.Quiet = 45 * time.Second
	o.Moves, o.YieldFirst = true, true
	return o
}

// adapting is what the leader remembers of running workloads. Only the stats and
// the closed nodes are shared; the rest belongs to the goroutine of the passes.
type adapting struct {
	adapter  adapt.Adapter    // nil: nothing is adapted
	adjuster cluster.Adjuster // nil: the world cannot be adjusted
	follower cluster.Follower // nil: observations wait for their window
	random   *rand.Rand
	started  time.Time
	writes   *bucket
	moves    *bucket

	refs     map[cluster.WorkloadID]board.Ref
	watched  map[cluster.WorkloadID]*watched
	since    map[string]time.Time // first sight of an allocation
	docs     map[cluster.WorkloadID]actions
	harmless map[cluster.WorkloadID]time.Time // best-effort work that went in vain: spared until

	mu     sync.Mutex
	stats  cluster.AdaptationStats
	closed map[cluster.NodeID]bool
}

// watched is what is remembered of one workload's observations.
type watched struct {
	last     map[string]cluster.Observation // by allocation
	recorded time.Time
	failures int
	skip     time.Time // until when it is left alone after failures
	served   float64
	share    float64 // of its target in the last window; NaN unknown
	bounds   *cluster.Bounds
}

func newAdapting(cfg *Config) (*adapting, error) {
	a := &adapting{
		random: rand.New(rand.NewPCG(adaptSeed, adaptSeed)),
		refs:   map[cluster.WorkloadID]board.Ref{}, watched: map[cluster.WorkloadID]*watched{}, since: map[string]time.Time{},
		docs: map[cluster.WorkloadID]actions{}, harmless: map[cluster.WorkloadID]time.Time{},
		closed: map[cluster.NodeID]bool{},
		stats: cluster.AdaptationStats{
			Actions: map[cluster.ActionCount]int{}, Below: map[cluster.WorkloadID]bool{}, BelowTime: map[cluster.WorkloadID]time.Duration{},
		},
	}
	d, err := adapt.Lookup(cfg.Adapter)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if d.Name != noAdapter {
		a.adapter = d.New(safeOptions(cfg.ObserveEvery))
	}
	world := cfg.World
	if gated, ok := world.(gatedWorld); ok {
		world = gated.World
	}
	a.adjuster, _ = world.(cluster.Adjuster)
	a.follower, _ = world.(cluster.Follower)
	return a, nil
}

// startAdapting begins a term as leader, knowing nothing of an earlier one.
func (e *Engine) startAdapting() error {
	a, err := newAdapting(&e.cfg)
	if err != nil {
		return err
	}
	a.started = e.cfg.Clock.Now()
	a.writes, a.moves = newBucket(writeBurst, writeEvery, a.started), newBucket(moveBurst, moveEvery, a.started)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live = a
	return nil
}

// subject is a workload that runs, with its job.
type subject struct {
	job      cluster.Job
	workload cluster.Workload
}

// pass measures every released workload once and adapts what falls short.
func (e *Engine) pass(ctx context.Context) error {
	jobs, err := e.cfg.World.Jobs(ctx)
	if err != nil {
		return err
	}
	running := map[cluster.WorkloadID]subject{}
	for _, job := range jobs {
		if job.Held || job.Stopped {
			continue
		}
		for _, w := range job.Workloads {
			running[w.ID] = subject{job, w}
		}
	}
	e.live.forgetAllBut(running)
	readings, err := e.measureAll(ctx, running)
	if e.live.adapter != nil && e.live.adjuster != nil && len(running) > 0 && ctx.Err() == nil {
		err = errors.Join(err, e.adapt(ctx, running, readings))
	}
	return err
}

func (a *adapting) forgetAllBut(running map[cluster.WorkloadID]subject) {
	for id, ref := range a.refs {
		if _, ok := running[id]; !ok {
			if a.adapter != nil {
				a.adapter.Forget(ref)
			}
			delete(a.refs, id)
			delete(a.docs, id)
		}
	}
	maps.DeleteFunc(a.watched, func(id cluster.WorkloadID, _ *watched) bool { _, ok := running[id]; return !ok })
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.stats.Below, func(id cluster.WorkloadID, _ bool) bool { _, ok := running[id]; return !ok })
	maps.DeleteFunc(a.stats.BelowTime, func(id cluster.WorkloadID, _ time.Duration) bool { _, ok := running[id]; return !ok })
}

// measured is one workload's window: what its allocations gave.
type measured struct {
	readings []cluster.Observation
	err      error
	took     time.Duration
}

// measureAll measures the workloads with a probe, side by side, and records them.
// One that fails is left alone for longer each time.
func (e *Engine) measureAll(ctx context.Context, running map[cluster.WorkloadID]subject) (map[cluster.WorkloadID][]cluster.Observation, error) {
	now := e.cfg.Clock.Now()
	results := map[cluster.WorkloadID]measured{}
	slots := make(chan struct{}, observeConcurrency)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for id, s := range running {
		if s.workload.Spec.Probe == nil || now.Before(e.live.watch(id).skip) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			began := e.cfg.Clock.Now()
			readings, err := e.measure(ctx, s.workload)
			mu.Lock()
			defer mu.Unlock()
			results[id] = measured{readings, err, e.cfg.Clock.Now().Sub(began)}
		})
	}
	wg.Wait()
	out := map[cluster.WorkloadID][]cluster.Observation{}
	var errs []error
	for _, id := range sortedIDs(results) {
		r := results[id]
		e.live.count(r)
		if err := e.settle(ctx, id, &r); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		if len(r.readings) > 0 {
			out[id] = r.readings
		}
	}
	return out, errors.Join(errs...)
}

func sortedIDs[V any](m map[cluster.WorkloadID]V) []cluster.WorkloadID {
	return slices.SortedFunc(maps.Keys(m), func(a, b cluster.WorkloadID) int {
		switch x, y := a.String(), b.String(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

func (e *Engine) measure(ctx context.Context, w cluster.Workload) ([]cluster.Observation, error) {
	if e.live.follower != nil {
		return e.live.follower.Follow(ctx, w, e.cfg.ObserveWindow)
	}
	return e.cfg.World.Observe(ctx, w, e.cfg.ObserveWindow)
}

func (a *adapting) watch(id cluster.WorkloadID) *watched {
	w := a.watched[id]
	if w == nil {
		w = &watched{last: map[string]cluster.Observation{}, share: math.NaN()}
		a.watched[id] = w
	}
	return w
}

func (a *adapting) count(r measured) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Observed++
	a.stats.ObserveTime += r.took
	if r.err != nil {
		a.stats.Failed++
	}
}

// settle keeps what can be believed of a window, and records it now and then.
func (e *Engine) settle(ctx context.Context, id cluster.WorkloadID, r *measured) error {
	w, now := e.live.watch(id), e.cfg.Clock.Now()
	if r.err != nil {
		w.failures++
		w.skip = now.Add(min(longestBackOff, e.cfg.ObserveEvery<<min(w.failures, 10)))
		return r.err
	}
	w.failures = 0
	unavailable, last := 0, map[string]cluster.Observation{}
	for i, o := range r.readings {
		r.readings[i] = trusted(o, w.last[o.Allocation], now)
		if r.readings[i].Unavailable != "" {
			unavailable++
		}
		last[o.Allocation] = r.readings[i]
	}
	if len(last) > 0 {
		w.last = last
	}
	e.live.mu.Lock()
	e.live.stats.Unavailable += unavailable
	e.live.mu.Unlock()
	if len(r.readings) == 0 || now.Sub(w.recorded) < e.recordPause() {
		return nil
	}
	w.recorded = now
	return e.book.AddObservations(ctx, id, r.readings)
}

// recordPause is a little less than recordEvery, so that a pass that comes early
// does not double it.
func (e *Engine) recordPause() time.Duration { return recordEvery - e.cfg.ObserveEvery/2 }

// adapt asks the adapter about this window and carries out its answer.
func (e *Engine) adapt(ctx context.Context, running map[cluster.WorkloadID]subject, readings map[cluster.WorkloadID][]cluster.Observation) error {
	snapshot, err := e.snapshot(ctx)
	if err != nil {
		return err
	}
	sc := e.newScene(snapshot, running)
	var errs []error
	var windows []adapt.Observation
	for _, id := range sortedIDs(readings) {
		o, err := e.window(ctx, sc, running[id], readings[id])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
		windows = append(windows, o)
	}
	e.live.countBelow(sc, e.cfg.ObserveEvery)
	errs = append(errs, e.reviewYields(ctx, sc))
	for _, a := range e.live.adapter.Step(e.cfg.Clock.Now().Sub(e.live.started), sc.board, windows, e.live.random) {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, e.act(ctx, sc, a))
	}
	return errors.Join(errs...)
}

// scene is the cluster at one window, as the adapter sees it.
type scene struct {
	snapshot *cluster.Snapshot
	board    *board.Board
	running  map[cluster.WorkloadID]subject
	units    map[board.Ref]cluster.Allocation // on the board
	node     map[board.Ref]board.Index
	refs     map[string]board.Ref // by allocation
	byRef    map[board.Ref]cluster.WorkloadID
	windows  map[cluster.WorkloadID]float64 // share of the target reached; absent: unknown
}

// newScene builds the board and marks on it what gives way.
func (e *Engine) newScene(s *cluster.Snapshot, running map[cluster.WorkloadID]subject) *scene {
	sc := &scene{
		snapshot: s, board: board.FromSnapshot(s, e.columns(), cluster.WorkloadID{}), running: running,
		units: map[board.Ref]cluster.Allocation{}, node: map[board.Ref]board.Index{}, refs: map[string]board.Ref{},
		byRef: map[board.Ref]cluster.WorkloadID{}, windows: map[cluster.WorkloadID]float64{},
	}
	now, alive := e.cfg.Clock.Now(), map[string]time.Time{}
	ref := board.Ref(0) // numbered as FromSnapshot does
	for i, n := range s.Nodes {
		for _, a := range s.Residents(n.ID, cluster.WorkloadID{}) {
			if a.Profiling {
				continue
			}
			ref++
			sc.units[ref], sc.node[ref], sc.refs[a.ID] = a, board.Index(i), ref
			first, ok := e.live.since[a.ID]
			if !ok {
				first = now
			}
			alive[a.ID] = first
		}
	}
	e.live.since = alive
	e.markBestEffort(sc, now)
	return sc
}

// markBestEffort puts what may be evicted on the board as such, oldest first.
func (e *Engine) markBestEffort(sc *scene, now time.Time) {
	var yielding []board.Ref
	for ref, a := range sc.units {
		s, ok := sc.running[a.Workload]
		if ok && s.workload.Spec.Target.Kind == performance.BestEffort && !a.System && a.Version == s.job.Version &&
			!isReserved(sc.snapshot, a) && !now.Before(e.live.harmless[a.Workload]) {
			yielding = append(yielding, ref)
		}
	}
	slices.SortFunc(yielding, func(x, y board.Ref) int {
		a, b := e.live.since[sc.units[x].ID], e.live.since[sc.units[y].ID]
		if c := a.Compare(b); c != 0 {
			return c
		}
		return int(x - y)
	})
	for _, ref := range yielding {
		n := sc.node[ref]
		residents := sc.board.Residents(n)
		i := slices.IndexFunc(residents, func(r board.Resident) bool { return r.Ref == ref })
		r := residents[i]
		r.BestEffort = true
		if err := sc.board.Remove(n, ref); err == nil {
			sc.board.Place(n, r)
		}
	}
}

// isReserved: decided, and not seen yet.
func isReserved(s *cluster.Snapshot, a cluster.Allocation) bool {
	return slices.ContainsFunc(s.Reserved[a.Node], func(r cluster.Allocation) bool { return r.ID == a.ID })
}

// window is what the adapter is told of one workload. In any doubt it is told
// that the performance is unknown, and does nothing.
func (e *Engine) window(ctx context.Context, sc *scene, s subject, readings []cluster.Observation) (adapt.Observation, error) {
	id, spec := s.workload.ID, s.workload.Spec
	w := e.live.watch(id)
	ref := e.live.refOf(id)
	sc.byRef[ref] = id
	o := adapt.Observation{Ref: ref, Performance: math.NaN(), Target: wanted(spec), BestEffort: spec.Target.Kind == performance.BestEffort}
	w.share = math.NaN()
	byAlloc := map[string]cluster.Observation{}
	for _, r := range readings {
		byAlloc[r.Allocation] = r
	}
	var judged []cluster.Observation
	now, steady := e.cfg.Clock.Now(), true
	for ref := board.Ref(1); int(ref) <= len(sc.units); ref++ {
		a := sc.units[ref]
		if a.Workload != id || isReserved(sc.snapshot, a) {
			continue
		}
		r, ok := byAlloc[a.ID]
		if !ok || r.Unavailable != "" || now.Sub(e.live.since[a.ID]) < warmUp {
			steady = false
			continue
		}
		judged = append(judged, r)
		o.Units = append(o.Units, adapt.Unit{Ref: ref, Node: sc.node[ref], Size: a.Resources, Performance: r.Measure.Goodput})
	}
	if e.underWay(s.job.ID) || !steady || len(judged) == 0 || s.job.Type != "system" && len(judged) != s.workload.Count {
		return o, nil
	}
	o.Performance = reached(spec, judged, w.served)
	w.served = bestServed(spec, judged, w.served)
	if o.Target > 0 && !math.IsNaN(o.Performance) {
		w.share = o.Performance / o.Target
		sc.windows[id] = w.share
	}
	var err error
	o.Scales, err = e.scales(ctx, s, w)
	return o, err
}

// scales: more allocations are allowed and help.
func (e *Engine) scales(ctx context.Context, s subject, w *watched) (bool, error) {
	if len(s.workload.Spec.Scale.Count) == 0 || s.job.Type == "system" || s.job.Type == "sysbatch" {
		return false, nil
	}
	b, err := e.bounds(ctx, s, w)
	if err != nil {
		return false, err
	}
	return !b.Scaled && (nextCount(s.workload.Spec.Scale.Count, b.Count+1) > 0 || previousCount(s.workload.Spec.Scale.Count, b.Count) > 0), nil
}

// bounds are read once per version of the job.
func (e *Engine) bounds(ctx context.Context, s subject, w *watched) (cluster.Bounds, error) {
	if w.bounds != nil && w.bounds.ModifyIndex == s.job.ModifyIndex {
		return *w.bounds, nil
	}
	b, err := e.live.adjuster.Bounds(ctx, s.workload.ID)
	if err != nil {
		return b, fmt.Errorf("reading its bounds: %w", err)
	}
	w.bounds = &b
	return b, nil
}

func (a *adapting) refOf(id cluster.WorkloadID) board.Ref {
	ref, ok := a.refs[id]
	if !ok {
		ref = firstWorkloadRef + board.Ref(len(a.refs)+1)
		for slices.Contains(slices.Collect(maps.Values(a.refs)), ref) {
			ref++
		}
		a.refs[id] = ref
	}
	return ref
}

// underWay reports that an evaluation of the job is at work.
func (e *Engine) underWay(id cluster.JobID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.flights[id] != nil
}

// countBelow adds the time of one pass to those below their target.
func (a *adapting) countBelow(sc *scene, d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range sc.running {
		share, known := sc.windows[id]
		if !known {
			delete(a.stats.Below, id)
			continue
		}
		below := share < adapt.Defaults().Below
		a.stats.Below[id] = below
		if below {
			a.stats.BelowTime[id] += d
		}
	}
}

// AdaptationStats are the counts of this replica's present term as leader; all
// zero where it does not lead.
func (e *Engine) AdaptationStats() cluster.AdaptationStats {
	e.mu.Lock()
	a := e.live
	e.mu.Unlock()
	if a == nil {
		return cluster.AdaptationStats{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.stats
	out.Actions, out.Below, out.BelowTime = maps.Clone(out.Actions), maps.Clone(out.Below), maps.Clone(out.BelowTime)
	return out
}
