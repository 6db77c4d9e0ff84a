package profiling

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Config is what a lab and an estimator are made of; engine.Config says what the
// fields mean and has their defaults.
type Config struct {
	World cluster.World
	Store store.Store
	Clock cluster.Clock
	Log   *slog.Logger // nil: nothing is logged

	Policy         string // default policy
	Columns        []interference.Source
	Training       []profile.Profile
	ProfileSeconds int
	ProfileSources []interference.Source
	PreferSources  []interference.Source
	SourceCount    int
	Concurrency    int // workloads profiled at a time
	SecondsMax     int // longest profile that a workload may ask for
	Adaptive       bool
	When           performance.When // of a profile whose workload does not say; empty: before
	Sharing        profile.Sharing
	KeepFor        time.Duration // an unused profile is kept so long
	KeepPerJob     int           // and so many of a group
	Poll           time.Duration
}

// Lab profiles workloads: copies run on nodes of the cluster, and what they give is
// stored.
type Lab struct {
	cfg       *Config
	estimator *Estimator
	cache     cache

	mu           sync.Mutex
	runs         map[string]*journal.Tracker // profiling runs under way, by request id
	busy         map[cluster.NodeID]bool
	underProfile int // workloads under profile
	turns        turns
	used         uses

	ending sync.WaitGroup // runs that are cleaned up behind
}

// New returns an estimator and a lab whose profiles it learns from.
func New(cfg Config) (*Lab, *Estimator) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	e := &Estimator{cfg: &cfg}
	return &Lab{cfg: &cfg, estimator: e, runs: map[string]*journal.Tracker{}, busy: map[cluster.NodeID]bool{}}, e
}

// Wait returns when every run that was begun is cleaned up, and no models are being fitted.
func (l *Lab) Wait() {
	l.ending.Wait()
	l.estimator.fits.ending.Wait()
}

// Progress notes how far a profiling run is; the world calls it with the request's id.
func (l *Lab) Progress(id string, p profiler.Progress) {
	l.mu.Lock()
	t := l.runs[id]
	l.mu.Unlock()
	if t != nil {
		t.Progress(id, p)
	}
}

// Unchanged reads the job again and insists that it is still the version under
// evaluation.
func Unchanged(ctx context.Context, world cluster.State, job cluster.Job) (cluster.Job, error) {
	now, err := world.Job(ctx, job.ID)
	if err != nil {
		return job, err
	}
	if now.Stopped {
		return job, cluster.ErrGone
	}
	if now.ModifyIndex != job.ModifyIndex {
		return job, cluster.ErrStale
	}
	return job, nil
}
