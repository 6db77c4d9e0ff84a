package adaptation

import (
	"fmt"
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
)

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
	seen       map[string]sighting // allocations
	passes     int                 // in which they were looked at
	docs       map[cluster.WorkloadID]journal.ActionLog
	lessons    map[string]*lesson               // by allocation
	waiting    []*lesson                        // experiments that have ended
	written    time.Time                        // when it was last looked what is to be written of them
	looked     time.Time                        // when it was last looked what would be moved
	lookedAt   int                              // and at how many of them, where there are too many for one look
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
		started: now, looked: now, writes: newBucket(writeBurst, writeEvery, now), moves: newBucket(moveBurst, moveEvery, now),
		handles: map[cluster.WorkloadID]board.Handle{}, watched: map[cluster.WorkloadID]*watched{}, seen: map[string]sighting{},
		docs: map[cluster.WorkloadID]journal.ActionLog{}, exempt: map[cluster.WorkloadID]time.Time{},
		closed: map[cluster.NodeID]bool{}, lessons: map[string]*lesson{},
		stats: cluster.AdaptationStats{
			Actions: map[cluster.ActionCount]int{}, Below: map[cluster.WorkloadID]bool{}, BelowTime: map[cluster.WorkloadID]time.Duration{},
			UsedMHz: map[cluster.WorkloadID]float64{},
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

func (a *term) watch(id cluster.WorkloadID) *watched {
	w := a.watched[id]
	if w == nil {
		w = &watched{last: map[string]cluster.Observation{}, share: math.NaN(), noTransfer: map[string]time.Time{}}
		a.watched[id] = w
	}
	return w
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
	keepRunning(a.stats.UsedMHz, running)
}

func keepRunning[V any](m map[cluster.WorkloadID]V, running map[cluster.WorkloadID]subject) {
	maps.DeleteFunc(m, func(id cluster.WorkloadID, _ V) bool { _, ok := running[id]; return !ok })
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
