package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adaptation"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Engine drives one world. Run serves until its context ends.
type Engine struct {
	cfg        Config
	timekeeper cluster.Timekeeper // nil: the world's clock is ours
	book       journal.Book
	decisions  *journal.Decisions

	lab         *profiling.Lab
	estimator   *profiling.Estimator
	placer      *placement.Placer
	evaluations *placement.Evaluations
	admissions  *placement.Admissions
	adaptation  *adaptation.Controller
	rebalancer  *adaptation.Rebalancer
	renting     *provisioning.Room // nil: no nodes are rented

	retries  *retries
	stranded stranded             // of one goroutine
	profiled map[string]time.Time // when a profile of what runs was tried last, by key; of one goroutine
	wg       sync.WaitGroup
}

// New returns an engine; nothing happens before Run.
func New(cfg Config) (*Engine, error) {
	if err := cfg.applyDefaults(); err != nil {
		return nil, err
	}
	cfg.Store = journal.Fenced(cfg.Store)
	e := &Engine{
		cfg:     cfg,
		book:    journal.Book{Store: cfg.Store},
		retries: newRetries(), profiled: map[string]time.Time{},
	}
	e.timekeeper, _ = cfg.World.(cluster.Timekeeper)
	waiter, _ := cfg.World.(cluster.Waiter)
	e.stranded = stranded{waiter, map[cluster.WorkloadID]time.Time{}}
	e.decisions = journal.NewDecisions(e.book, e.cfg.Log)
	if cfg.Adapter == "close" {
		e.cfg.World = adaptation.Gated(cfg.World, func() map[cluster.NodeID]bool { return e.adaptation.ClosedNodes() })
	}
	e.lab, e.estimator = profiling.New(profiling.Config{
		World: e.cfg.World, Store: cfg.Store, Clock: cfg.Clock, Log: cfg.Log, Sharing: cfg.Sharing,
		Policy: cfg.Policy, Columns: cfg.Columns, Training: cfg.Training,
		ProfileSeconds: cfg.ProfileSeconds, ProfileSources: cfg.ProfileSources, PreferSources: cfg.PreferSources,
		SourceCount: cfg.SourceCount, Concurrency: cfg.Concurrency, SecondsMax: cfg.SecondsMax, Adaptive: cfg.Adaptive, When: cfg.When, KeepFor: cfg.KeepFor, KeepPerJob: cfg.KeepPerJob, Poll: cfg.Poll,
	})
	router, err := e.newRenting()
	if err != nil {
		return nil, err
	}
	e.placer = placement.New(placement.Config{
		World: e.cfg.World, Clock: cfg.Clock, Log: cfg.Log,
		Book: e.book, Decisions: e.decisions, Lab: e.lab, Estimator: e.estimator,
		Policy: cfg.Policy, Deadline: e.deadline, Link: cfg.Link, Chart: cfg.Chart, Router: router,
		RackMeta: cfg.RackMeta, Peers: cfg.Peers, NextUplink: cfg.NextUplink, Exchanged: cfg.Exchanged, NextDisk: cfg.NextDisk, Twin: cfg.Twin,
	})
	e.evaluations = placement.NewEvaluations()
	e.admissions = placement.NewAdmissions(e.placer, e.evaluations)
	adapting := adaptation.Config{
		World: e.cfg.World, Clock: cfg.Clock, Log: cfg.Log,
		Book: e.book, Decisions: e.decisions, Lab: e.lab, Estimator: e.estimator, Placer: e.placer, Evaluations: e.evaluations,
		Policy: cfg.Policy, Adapter: cfg.Adapter, EndsByPolicy: cfg.endsByPolicy,
		ObserveEvery: cfg.ObserveEvery, ObserveWindow: cfg.ObserveWindow,
	}
	e.adaptation, e.rebalancer = adaptation.New(adapting), adaptation.NewRebalancer(adapting)
	return e, nil
}

// newRenting makes the room that rents nodes, where some are.
func (e *Engine) newRenting() (placement.Router, error) {
	if e.cfg.Provision == nil {
		return nil, nil
	}
	var err error
	e.renting, err = provisioning.New(provisioning.Config{
		Options: *e.cfg.Provision, World: e.cfg.World, Clock: e.cfg.Clock, Log: e.cfg.Log, Book: e.book, Columns: e.estimator.Columns,
		Below:   func() map[cluster.WorkloadID]bool { return e.adaptation.Stats().Below },
		UsedMHz: func() map[cluster.WorkloadID]float64 { return e.adaptation.Stats().UsedMHz },
		Decided: e.decisions.Of, Prober: proberOf(e.cfg.World),
	})
	return e.renting, err
}

// proberOf a world; nil: it has none.
func proberOf(w cluster.World) cluster.Prober {
	p, ok := w.(cluster.Prober)
	if !ok {
		return nil
	}
	return p
}

// Provision is what is known of rented nodes, also where this replica does not lead;
// cluster.ErrNoRecord where none are rented.
func (e *Engine) Provision(ctx context.Context) (provision.Report, error) {
	if e.renting == nil {
		return provision.Report{}, fmt.Errorf("the agent's configuration has no provision block: %w", cluster.ErrNoRecord)
	}
	return e.renting.Report(ctx)
}

// Capacity is what owned and rented nodes there were in the last hours; none where none are rented.
func (e *Engine) Capacity(ctx context.Context) (provision.Capacities, error) {
	if e.renting == nil {
		return nil, nil
	}
	return e.renting.Capacity(ctx)
}

// Prepare does beforehand what takes a new leader long and needs no Nomad.
func (e *Engine) Prepare() error { return e.estimator.Prepare() }

// restPerLook is how many times as long as a look at all jobs took the leader rests after it: in
// a burst something changes all the time, and a look at many jobs takes long (chosen by us: a
// tenth of the time is for looking). It rests no longer than restAtMost: a look is long, too, where
// Nomad answers late, and then jobs wait already.
const (
	restPerLook = 9
	restAtMost  = 500 * time.Millisecond
)

// Run is the leader's loop. It returns when ctx ends, after every evaluation
// it started has stopped.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.recall(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := e.adaptation.Start(); err != nil {
		return err
	}
	if e.renting != nil {
		if err := e.renting.Start(ctx); err != nil {
			return err
		}
		defer e.renting.Stop()
	}
	defer e.lab.Wait()
	defer e.adaptation.Wait()
	defer e.wg.Wait()
	e.admissions.Lead(true)
	defer e.admissions.Lead(false)
	e.every(ctx, e.cfg.ObserveEvery, "observe", e.adaptation.Pass)
	e.every(ctx, e.cfg.PublishEvery, "publish", e.publish)
	e.every(ctx, e.cfg.SweepEvery, "sweep", e.lab.Sweep)
	if e.renting != nil {
		e.every(ctx, provisioning.Every, "renting nodes", e.renting.Pass)
	}
	e.every(ctx, e.cfg.SweepEvery, "placing stranded jobs again", e.placeStranded)
	e.every(ctx, e.cfg.SweepEvery, "profiling what runs", e.profileRunning)
	e.wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-e.cfg.Clock.After(expireAfter): // a new leader has other things to read first
			e.every(ctx, expireEvery, "deleting unused profiles", e.lab.Expire)
		}
	})
	for {
		began := e.steady()
		if err := e.Reconcile(ctx); err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("listing jobs failed; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.cfg.Clock.After(min(restPerLook*e.steady().Sub(began), restAtMost)):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.cfg.World.Changed():
		case <-e.cfg.Clock.After(e.cfg.Poll):
		}
	}
}

// recall loads what earlier leaders decided, so that residents are known.
func (e *Engine) recall(ctx context.Context) error {
	began := e.steady()
	if err := e.decisions.Load(ctx); err != nil {
		return err
	}
	if err := e.estimator.Refit(ctx); err != nil {
		return err
	}
	e.cfg.Log.Info("the records of earlier leaders are read", "took", e.steady().Sub(began).Round(time.Millisecond))
	return nil
}

// every runs f in the background each interval until ctx ends.
func (e *Engine) every(ctx context.Context, interval time.Duration, name string, f func(context.Context) error) {
	e.wg.Go(func() {
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
	})
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
		e.decisions.Saw(job)
		e.consider(ctx, job)
	}
	e.evaluations.ForgetAllBut(seen)
	e.decisions.ForgetGone(ctx, e.cfg.World, e.cfg.Clock.Now(), seen) // a purged job leaves nothing of ours
	e.retries.forgetAllBut(seen)
	e.admissions.Expire()
	return nil
}

// consider starts an evaluation of the job's version unless one is under way
// or nothing is left to do for it.
func (e *Engine) consider(ctx context.Context, job cluster.Job) {
	if !e.retries.due(job, e.steady()) {
		return
	}
	if ctx, end, begun := e.evaluations.Consider(ctx, job); begun {
		e.wg.Go(func() { end(e.run(ctx, job)) })
	}
}

// run evaluates a job and returns the index after which nothing is left to do, 0 where
// something is.
func (e *Engine) run(ctx context.Context, job cluster.Job) uint64 {
	index, err := e.evaluate(ctx, job)
	switch {
	case err == nil:
		e.noteAttempt(job, nil)
		return index
	case overtaken(err), ctx.Err() != nil:
		e.cfg.Log.Info("evaluation dropped", "job", job.ID.String(), "version", job.Version, "why", err)
	default:
		e.failed(ctx, job, err)
	}
	return 0
}

// Progress notes how far a profiling run is; the world calls it with the request's id.
func (e *Engine) Progress(id string, p profiler.Progress) { e.lab.Progress(id, p) }

// Book returns the engine's records.
func (e *Engine) Book() journal.Book { return e.book }

// Admit decides on a job before it is registered; see placement.Admissions.
func (e *Engine) Admit(ctx context.Context, job cluster.Job) (cluster.Plan, error) {
	return e.admissions.Admit(ctx, job)
}

// RefusedReleases counts the held jobs that Nomad did not let this replica release when it
// tried last, whatever the user or the operator does not change.
func (e *Engine) RefusedReleases() int { return e.retries.refused() }

// AdaptationStats are the counts of this replica's present term as leader.
func (e *Engine) AdaptationStats() cluster.AdaptationStats { return e.adaptation.Stats() }

// RefusedProfiles is how many stored profiles were found not to be used, when all were
// read last.
func (e *Engine) RefusedProfiles() int { return e.estimator.Refused() }

// Rebalance lists what would reach its target better elsewhere, and moves what may;
// see adaptation.Rebalancer.
func (e *Engine) Rebalance(ctx context.Context, apply bool) ([]cluster.Relocation, error) {
	if err := e.recall(ctx); err != nil {
		return nil, err
	}
	return e.rebalancer.Rebalance(ctx, apply)
}
