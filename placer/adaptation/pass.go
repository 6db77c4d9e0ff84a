package adaptation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// The pace of adaptation, chosen by us. A load spike must be answered within 15 s:
// three windows of 2.5 s that follow one another, one begun before it, and the write.
const (
	DefaultAdapter      = "kflr"
	endingPolicy        = "pp-rtte"
	None                = "none"
	DefaultEvery        = 2500 * time.Millisecond
	DefaultWindow       = 2 * time.Second
	recordEvery         = 20 * time.Second // observations into the book: each is a write
	warmUp              = 10 * time.Second // of a new allocation, before it is judged
	restAfterAction     = 30 * time.Second // of a workload, whoever leads
	settleAfterGrowth   = 10 * time.Minute // before anything grown is given back
	evictionTrial       = 30 * time.Second // until it shows whether an eviction helped
	longestBackOff      = 2 * time.Minute
	mostAtOnce          = 64          // workloads measured in one pass: each is some requests to Nomad
	longestJudged       = time.Minute // that two windows may be apart to count as one time below the target
	leastImprovement    = 0.05        // of the target; less is noise
	adaptSeed           = 1
	firstWorkloadHandle = board.Handle(1) << 40 // beyond any allocation on a board
	refusalRepeatAfter  = time.Hour
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

// Config is what adaptation is made of; engine.Config says what the fields mean and
// has their defaults.
type Config struct {
	World       cluster.World
	Clock       cluster.Clock
	Log         *slog.Logger
	Book        journal.Book
	Decisions   *journal.Decisions
	Lab         *profiling.Lab
	Estimator   *profiling.Estimator
	Placer      *placement.Placer
	Evaluations *placement.Evaluations

	Policy        string // default policy
	Adapter       string
	EndsByPolicy  bool // only work of the policy endingPolicy is judged by its end
	ObserveEvery  time.Duration
	ObserveWindow time.Duration
}

// Controller adapts what runs, one term as leader after the other.
type Controller struct {
	cfg     Config
	resizes sync.WaitGroup // under way

	mu   sync.Mutex
	live *term // the present one; nil before the first
}

// New returns a controller that does nothing before Start.
func New(cfg Config) *Controller { return &Controller{cfg: cfg} }

// Wait returns when every resize that was begun has ended.
func (c *Controller) Wait() { c.resizes.Wait() }

// observeConcurrency bounds how many workloads are measured side by side: most of
// the time they wait for their window or for another node to answer.
const observeConcurrency = 64

// term is what a leader, or a Rebalancer, remembers of running workloads. Only the stats,
// the closed nodes and what has ended are shared; the rest belongs to one goroutine.
type term struct {
	cfg      *Config
	adapter  adapt.Adapter    // nil: nothing is adapted
	adjuster cluster.Adjuster // nil: the world cannot be adjusted
	follower cluster.Follower // nil: observations wait for their window
	random   *rand.Rand
	started  time.Time
	writes   *bucket
	moves    *bucket

	handles    map[cluster.WorkloadID]board.Handle
	lastHandle board.Handle // how many handles were given
	watched    map[cluster.WorkloadID]*watched
	since      map[string]time.Time // first sight of an allocation
	docs       map[cluster.WorkloadID]journal.ActionLog
	exempt     map[cluster.WorkloadID]time.Time // best-effort work that was pre-empted without effect: exempt until

	mu     sync.Mutex
	stats  cluster.AdaptationStats
	closed map[cluster.NodeID]bool
	ended  []reported // since the last pass
}

// watched is what is remembered of one workload's observations.
type watched struct {
	last       map[string]cluster.Observation // by allocation
	asked      time.Time                      // when it was measured last
	judged     time.Time                      // when its share was last known
	recorded   time.Time
	failures   int
	skip       time.Time // until when it is left alone after failures
	served     float64
	share      float64 // of its target in the last window; NaN unknown
	bounds     *cluster.Bounds
	noTransfer map[string]time.Time // allocations that could not be resized: until
	ending     ending
}

// startTerm begins a term that knows nothing of an earlier one.
func startTerm(cfg *Config) (*term, error) {
	now := cfg.Clock.Now()
	a := &term{
		cfg:     cfg,
		random:  rand.New(rand.NewPCG(adaptSeed, adaptSeed)),
		started: now, writes: newBucket(writeBurst, writeEvery, now), moves: newBucket(moveBurst, moveEvery, now),
		handles: map[cluster.WorkloadID]board.Handle{}, watched: map[cluster.WorkloadID]*watched{}, since: map[string]time.Time{},
		docs: map[cluster.WorkloadID]journal.ActionLog{}, exempt: map[cluster.WorkloadID]time.Time{},
		closed: map[cluster.NodeID]bool{},
		stats: cluster.AdaptationStats{
			Actions: map[cluster.ActionCount]int{}, Below: map[cluster.WorkloadID]bool{}, BelowTime: map[cluster.WorkloadID]time.Duration{},
		},
	}
	d, err := adapt.Lookup(cfg.Adapter)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if d.Name != None {
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

// Start begins a term as leader, knowing nothing of an earlier one.
func (c *Controller) Start() error {
	a, err := startTerm(&c.cfg)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = a
	return nil
}

// subject is a workload that runs, with its job.
type subject struct {
	job      cluster.Job
	workload cluster.Workload
}

// Pass measures every released workload once and adapts what falls short.
func (c *Controller) Pass(ctx context.Context) error {
	jobs, err := c.cfg.World.Jobs(ctx)
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
	heard := c.live.hear(ctx, jobs)
	c.live.forgetAllBut(running)
	readings, err := c.live.measureAll(ctx, running)
	err = errors.Join(heard, err)
	if c.live.adapter != nil && c.live.adjuster != nil && len(running) > 0 && ctx.Err() == nil {
		err = errors.Join(err, c.adapt(ctx, running, readings))
	}
	return err
}

func (a *term) forgetAllBut(running map[cluster.WorkloadID]subject) {
	for id, handle := range a.handles {
		if _, ok := running[id]; !ok {
			if a.adapter != nil {
				a.adapter.Forget(handle)
			}
			delete(a.handles, id)
		}
	}
	keepRunning(a.docs, running)
	keepRunning(a.watched, running)
	keepRunning(a.exempt, running)
	a.mu.Lock()
	defer a.mu.Unlock()
	keepRunning(a.stats.Below, running)
	keepRunning(a.stats.BelowTime, running)
}

func keepRunning[V any](m map[cluster.WorkloadID]V, running map[cluster.WorkloadID]subject) {
	maps.DeleteFunc(m, func(id cluster.WorkloadID, _ V) bool { _, ok := running[id]; return !ok })
}

// measured is one workload's window: what its allocations gave.
type measured struct {
	readings []cluster.Observation
	err      error
	took     time.Duration
}

// measureAll measures the workloads with a probe, side by side, and records them.
// One that fails is left alone for longer each time.
func (a *term) measureAll(ctx context.Context, running map[cluster.WorkloadID]subject) (map[cluster.WorkloadID][]cluster.Observation, error) {
	now := a.cfg.Clock.Now()
	results := map[cluster.WorkloadID]measured{}
	slots := make(chan struct{}, observeConcurrency)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, id := range a.due(running, now) {
		s := running[id]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			began := a.cfg.Clock.Now()
			readings, err := a.measure(ctx, s.workload)
			mu.Lock()
			defer mu.Unlock()
			results[id] = measured{readings, err, a.cfg.Clock.Now().Sub(began)}
		})
	}
	wg.Wait()
	out := map[cluster.WorkloadID][]cluster.Observation{}
	var errs []error
	for _, id := range sortedIDs(results) {
		r := results[id]
		a.count(r)
		if err := a.settle(ctx, id, &r); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		if len(r.readings) > 0 {
			out[id] = r.readings
		}
	}
	return out, errors.Join(errs...)
}

// due are the workloads to measure now, at most mostAtOnce: up to half are those that
// fell short last, the others those that were not measured for longest.
func (a *term) due(running map[cluster.WorkloadID]subject, now time.Time) []cluster.WorkloadID {
	var short, rest []cluster.WorkloadID
	for _, id := range sortedIDs(running) {
		w := a.watch(id)
		switch {
		case running[id].workload.Spec.Probe == nil || now.Before(w.skip):
		case w.share < adapt.Defaults().Below: // false for NaN
			short = append(short, id)
		default:
			rest = append(rest, id)
		}
	}
	longest := func(x, y cluster.WorkloadID) int { return a.watch(x).asked.Compare(a.watch(y).asked) }
	slices.SortStableFunc(short, longest)
	first := min(len(short), max(mostAtOnce/2, mostAtOnce-len(rest)))
	rest = append(rest, short[first:]...)
	slices.SortStableFunc(rest, longest)
	out := append(slices.Clone(short[:first]), rest...)
	out = out[:min(len(out), mostAtOnce)]
	for _, id := range out {
		a.watch(id).asked = now
	}
	return out
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

func (a *term) measure(ctx context.Context, w cluster.Workload) ([]cluster.Observation, error) {
	if a.follower != nil {
		return a.follower.Follow(ctx, w, a.cfg.ObserveWindow)
	}
	return a.cfg.World.Observe(ctx, w, a.cfg.ObserveWindow)
}

func (a *term) watch(id cluster.WorkloadID) *watched {
	w := a.watched[id]
	if w == nil {
		w = &watched{last: map[string]cluster.Observation{}, share: math.NaN(), noTransfer: map[string]time.Time{}}
		a.watched[id] = w
	}
	return w
}

func (a *term) count(r measured) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Observed++
	a.stats.ObserveTime += r.took
	if r.err != nil {
		a.stats.Failed++
	}
}

// settle keeps what can be believed of a window, and records it now and then.
func (a *term) settle(ctx context.Context, id cluster.WorkloadID, r *measured) error {
	w, now := a.watch(id), a.cfg.Clock.Now()
	if r.err != nil {
		w.failures++
		w.skip = now.Add(min(longestBackOff, a.cfg.ObserveEvery<<min(w.failures, 10)))
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
	a.mu.Lock()
	a.stats.Unavailable += unavailable
	a.mu.Unlock()
	if len(r.readings) == 0 || now.Sub(w.recorded) < a.recordPause() {
		return nil
	}
	w.recorded = now
	return a.cfg.Book.AddObservations(ctx, id, r.readings)
}

// recordPause is a little less than recordEvery, so that a pass that comes early
// does not double it.
func (a *term) recordPause() time.Duration { return recordEvery - a.cfg.ObserveEvery/2 }

// adapt asks the adapter about this window and carries out its answer.
func (c *Controller) adapt(ctx context.Context, running map[cluster.WorkloadID]subject, readings map[cluster.WorkloadID][]cluster.Observation) error {
	snapshot, err := c.cfg.Decisions.Snapshot(ctx, c.cfg.World)
	if err != nil {
		return err
	}
	sc := c.live.scene(snapshot, running)
	var errs []error
	var windows []adapt.Observation
	for _, id := range sortedIDs(readings) {
		o, err := c.window(ctx, sc, running[id], readings[id])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
		windows = append(windows, o)
	}
	errs = append(errs, c.reviewEvictions(ctx, sc), c.reviewCPU(ctx, sc), c.transferCPU(ctx, sc))
	for _, a := range c.live.adapter.Step(c.cfg.Clock.Now().Sub(c.live.started), sc.board, windows, c.live.random) {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, c.act(ctx, sc, a))
	}
	return errors.Join(errs...)
}

// Stats are the counts of this replica's present term as leader; all
// zero where it does not lead.
func (c *Controller) Stats() cluster.AdaptationStats {
	c.mu.Lock()
	a := c.live
	c.mu.Unlock()
	if a == nil {
		return cluster.AdaptationStats{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.stats
	out.Actions, out.Below, out.BelowTime = maps.Clone(out.Actions), maps.Clone(out.Below), maps.Clone(out.BelowTime)
	return out
}
