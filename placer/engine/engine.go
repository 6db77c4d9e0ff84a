package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Engine drives one world. Run serves until its context ends.
type Engine struct {
	cfg       Config
	book      journal.Book
	decisions *journal.Decisions

	lab       *profiling.Lab
	estimator *profiling.Estimator

	placing placing

	mu      sync.Mutex
	flights map[cluster.JobID]*flight
	done    map[cluster.JobID]uint64 // newest JobModifyIndex that needs no more work

	leads    bool // Run is at work
	admitted map[cluster.JobID]*admission

	live *adapting // of the present term as leader; nil before the first

	wg sync.WaitGroup
}

// flight is an evaluation under way.
type flight struct {
	modifyIndex uint64
	cancel      context.CancelFunc
}

// New returns an engine; nothing happens before Run.
func New(cfg Config) (*Engine, error) {
	if err := cfg.applyDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg:      cfg,
		book:     journal.Book{Store: cfg.Store},
		placing:  newPlacing(),
		flights:  map[cluster.JobID]*flight{},
		done:     map[cluster.JobID]uint64{},
		admitted: map[cluster.JobID]*admission{},
	}
	e.decisions = journal.NewDecisions(e.book, e.cfg.Log)
	if cfg.Adapter == "close" {
		e.cfg.World = gatedWorld{cfg.World, e.closedNodes}
	}
	e.lab, e.estimator = profiling.New(profiling.Config{
		World: e.cfg.World, Store: cfg.Store, Clock: cfg.Clock,
		Policy: cfg.Policy, Columns: cfg.Columns, Training: cfg.Training,
		ProfileSeconds: cfg.ProfileSeconds, ProfileSources: cfg.ProfileSources, PreferSources: cfg.PreferSources,
		SourceCount: cfg.SourceCount, Concurrency: cfg.Concurrency, Poll: cfg.Poll,
	})
	return e, nil
}

// Run is the leader's loop. It returns when ctx ends, after every evaluation
// it started has stopped.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.recall(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := e.startAdapting(); err != nil {
		return err
	}
	defer e.lab.Wait()
	defer e.wg.Wait()
	e.lead(true)
	defer e.lead(false)
	e.every(ctx, e.cfg.ObserveEvery, "observe", e.pass)
	e.every(ctx, e.cfg.PublishEvery, "publish", e.publish)
	e.every(ctx, e.cfg.SweepEvery, "sweep", e.lab.Sweep)
	for {
		if err := e.Reconcile(ctx); err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("listing jobs failed; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.cfg.World.Changed():
		case <-e.cfg.Clock.After(e.cfg.Poll):
		}
	}
}

func (e *Engine) lead(now bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leads = now
}

// recall loads what earlier leaders decided, so that residents are known.
func (e *Engine) recall(ctx context.Context) error {
	if err := e.decisions.Load(ctx); err != nil {
		return err
	}
	return e.estimator.Refit(ctx)
}

// every runs f in the background each interval until ctx ends.
func (e *Engine) every(ctx context.Context, interval time.Duration, name string, f func(context.Context) error) {
	e.wg.Add(1)
	go func() {
		defer e.wg.Done()
		for {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				e.cfg.Log.Warn(name+" failed; trying again", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-e.cfg.Clock.After(interval):
			}
		}
	}()
}

// Reconcile lists the jobs once and starts, replaces or drops evaluations.
func (e *Engine) Reconcile(ctx context.Context) error {
	jobs, err := e.cfg.World.Jobs(ctx)
	if err != nil {
		return err
	}
	seen := make(map[cluster.JobID]bool, len(jobs))
	for _, job := range jobs {
		seen[job.ID] = true
		e.consider(ctx, job)
	}
	e.dropVanished(ctx, seen)
	e.dropAdmissions()
	return nil
}

// consider starts an evaluation of the job's version unless one is under way
// or nothing is left to do for it.
func (e *Engine) consider(ctx context.Context, job cluster.Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.flights[job.ID]; f != nil {
		// A newer held version, or a stop, always wins; the next pass starts
		// afresh. A version that is not held is usually our own release, whose
		// evaluation has a few words left to write.
		if job.Stopped || job.Held && f.modifyIndex != job.ModifyIndex {
			f.cancel()
		}
		return
	}
	if job.Stopped || e.done[job.ID] >= job.ModifyIndex { // also a list from before our own write
		return
	}
	fctx, cancel := context.WithCancel(ctx)
	e.flights[job.ID] = &flight{modifyIndex: job.ModifyIndex, cancel: cancel}
	e.wg.Add(1)
	go e.fly(fctx, cancel, job)
}

func (e *Engine) fly(ctx context.Context, cancel context.CancelFunc, job cluster.Job) {
	defer e.wg.Done()
	defer cancel()
	index, err := e.evaluate(ctx, job)
	log := e.cfg.Log.With("job", job.ID.String(), "version", job.Version)
	switch {
	case err == nil:
	case errors.Is(err, cluster.ErrStale), errors.Is(err, cluster.ErrGone), ctx.Err() != nil:
		log.Info("evaluation dropped", "why", err)
	default:
		log.Error("evaluation failed; it will be tried again", "error", err)
	}
	e.mu.Lock()
	delete(e.flights, job.ID)
	if err == nil {
		e.done[job.ID] = max(e.done[job.ID], index)
	}
	e.mu.Unlock()
}

// dropVanished cancels evaluations of jobs that are gone and forgets their
// records, so that a purged job leaves nothing of ours.
func (e *Engine) dropVanished(ctx context.Context, seen map[cluster.JobID]bool) {
	e.mu.Lock()
	for id, f := range e.flights {
		if !seen[id] {
			f.cancel()
		}
	}
	for id := range e.done {
		if !seen[id] {
			delete(e.done, id)
		}
	}
	e.mu.Unlock()
	e.decisions.ForgetAllBut(ctx, seen)
}

// Progress is told how far a profiling run is; the world calls it with the
// request's id.
func (e *Engine) Progress(id string, p profiler.Progress) { e.lab.Progress(id, p) }

// Book returns the engine's records.
func (e *Engine) Book() journal.Book { return e.book }
