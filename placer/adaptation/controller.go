package adaptation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	if len(running) > 0 && ctx.Err() == nil {
		err = errors.Join(err, c.useWindows(ctx, running, readings))
	}
	return err
}

// useWindows lets this window teach, and corrects what falls short.
func (c *Controller) useWindows(ctx context.Context, running map[cluster.WorkloadID]subject, readings map[cluster.WorkloadID][]cluster.Observation) error {
	snapshot, err := c.cfg.Decisions.Snapshot(ctx, c.cfg.World)
	if err != nil {
		return err
	}
	sc := c.live.scene(snapshot, running)
	err = errors.Join(c.live.learn(ctx, sc, readings), c.writeLearnt(ctx, running))
	if c.live.adapter != nil && c.live.adjuster != nil && ctx.Err() == nil {
		err = errors.Join(err, c.adapt(ctx, sc, running, readings))
	}
	return err
}

// adapt asks the adapter about this window and carries out its answer.
func (c *Controller) adapt(ctx context.Context, sc *scene, running map[cluster.WorkloadID]subject, readings map[cluster.WorkloadID][]cluster.Observation) error {
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
	return errors.Join(append(errs, c.moveWhatPays(ctx, sc))...)
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
	out.Actions, out.Below, out.BelowTime, out.UsedMHz = maps.Clone(out.Actions), maps.Clone(out.Below), maps.Clone(out.BelowTime), maps.Clone(out.UsedMHz)
	return out
}
