package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/adaptation"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Config is what an engine is made of.
type Config struct {
	World cluster.World
	Store store.Store
	Clock cluster.Clock
	Log   *slog.Logger

	Policy string // default policy; "" means policy.Default
	// Adapter corrects what runs; "none" leaves it alone. "" means quasar, and kflr for
	// work whose policy is pp-rtte: it is judged by when it will end.
	Adapter string

	Columns        []interference.Source           // sources that count; empty: those that can be known, see columns.go
	Training       []profile.Profile               // shipped training rows; stored profiles are added
	Hold           time.Duration                   // default hold deadline
	ProfileSeconds int                             // default length of a profile
	ProfileSources []interference.Source           // default sources; empty: chosen per workload
	PreferSources  []interference.Source           // chosen first where they are chosen per workload; empty: those that tell most
	SourceCount    int                             // how many to choose; Paragon and Quasar use 2
	Concurrency    int                             // workloads profiled at a time; default 1
	SecondsMax     int                             // longest profile that a job may ask for; 0: as long as it likes
	Adaptive       bool                            // runs are told what to measure next, and may end early
	When           performance.When                // a job is profiled that does not say when; default before it is placed
	KeepFor        time.Duration                   // an unused profile is kept so long; default 30 days
	KeepPerJob     int                             // and so many of a group; default 5
	Sharing        profile.Sharing                 // whose profiles count for whom; zero: those of a namespace for itself
	Link           func(cluster.WorkloadID) string // URL of the record; nil: none
	Chart          func(cluster.WorkloadID) string // URL of the status chart; nil: none

	RackMeta string                                  // key of a node's meta that names its rack; "": cluster.DefaultRackMeta
	Peers    func(cluster.WorkloadID) []cluster.Peer // of captured traffic, for who names none; nil: none
	// NextUplink is what a rack's uplink is expected to carry in the next hour; nil: nothing
	// is known of any.
	NextUplink func(rack string) (bytesPerSec float64, known bool)
	// NextDisk is what an allocation of each workload is expected to move to and from its disk
	// in the next interval, in MB/s; nil: nobody records it.
	NextDisk func() map[cluster.WorkloadID]float64
	// Twin is what a storage model of a workload says of it; nil, or nil of a workload: there
	// is none.
	Twin func(cluster.WorkloadID) (*cluster.Twin, error)
	// Exchanged is what a workload is expected to exchange in the next hour; nil: nothing is known
	// of any, or of the links of nodes.
	Exchanged func(cluster.WorkloadID) (e cluster.Exchanged, known bool)

	Provision *provisioning.Options // nil: no nodes are rented

	Poll          time.Duration // list jobs at least this often
	ObserveEvery  time.Duration
	ObserveWindow time.Duration
	PublishEvery  time.Duration
	SweepEvery    time.Duration

	endsByPolicy bool // only work of one policy is judged by its end
}

// The defaults, chosen by us: fast enough that a person waiting does not
// notice, slow enough that an idle agent costs nothing measurable.
const (
	defaultPoll          = 2 * time.Second
	defaultObserveEvery  = 20 * time.Second
	defaultObserveWindow = 5 * time.Second
	defaultPublishEvery  = 10 * time.Second
	defaultSweepEvery    = time.Minute
	defaultSourceCount   = 2
	defaultKeepFor       = 30 * 24 * time.Hour
	defaultKeepPerJob    = 5
	// Stored profiles are looked through this long after an agent became leader, and then
	// at this interval.
	expireAfter = 10 * time.Minute
	expireEvery = time.Hour
	// releaseMargin is kept of a hold deadline for the release itself.
	releaseMargin = 5 * time.Second
	// replicaGrace is how long after the deadline a replica waits for the leader's own
	// release, which had releaseMargin before it: the rest of the five seconds that are
	// promised is for some seven requests to a Nomad that may be slow.
	replicaGrace = time.Second
)

func (c *Config) applyDefaults() error {
	if c.World == nil || c.Store == nil || c.Clock == nil {
		return errors.New("engine: World, Store and Clock are required")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Policy == "" {
		c.Policy = policy.Default
	}
	if _, err := policy.Lookup(c.Policy); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if c.Adapter == "" {
		c.Adapter, c.endsByPolicy = adaptation.DefaultAdapter, true
	}
	if _, err := adapt.Lookup(c.Adapter); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	setDuration(&c.Hold, performance.DefaultHold)
	setDuration(&c.Poll, defaultPoll)
	if c.Adapter == adaptation.None {
		setDuration(&c.ObserveEvery, defaultObserveEvery)
		setDuration(&c.ObserveWindow, defaultObserveWindow)
	}
	setDuration(&c.ObserveEvery, adaptation.DefaultEvery)
	setDuration(&c.ObserveWindow, adaptation.DefaultWindow)
	setDuration(&c.PublishEvery, defaultPublishEvery)
	setDuration(&c.SweepEvery, defaultSweepEvery)
	if c.ProfileSeconds <= 0 {
		c.ProfileSeconds = performance.DefaultProfileSeconds
	}
	if c.Concurrency <= 0 {
		c.Concurrency = 1
	}
	setDuration(&c.KeepFor, defaultKeepFor)
	if c.KeepPerJob <= 0 {
		c.KeepPerJob = defaultKeepPerJob
	}
	if c.SourceCount <= 0 {
		c.SourceCount = defaultSourceCount
	}
	return nil
}

func setDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}
