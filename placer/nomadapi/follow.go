package nomadapi

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

var _ cluster.Follower = (*World)(nil)

// Bounds of following, chosen by us.
const (
	// leastSteps is how many steps of its counter a window holds at least: one step
	// more or less is then 5 %, the bound a target is judged at.
	leastSteps = 20
	// stuckAfter is how long a counter may stay the same before it counts as stuck.
	stuckAfter = 30 * time.Second
	// longestFollow is the longest window waited for; a coarser counter is reported as
	// it is.
	longestFollow = time.Minute
	// stepSlack is how far the workload's own clock may run from ours in one window.
	stepSlack = time.Second
	// forgetAfter is when a workload that was not asked about is forgotten.
	forgetAfter = 10 * time.Minute
)

// followBook keeps the last reading of each allocation, and its probe, which knows
// how far it read.
type followBook struct {
	mu        sync.Mutex
	workloads map[cluster.WorkloadID]*followedWorkload
	swept     time.Time
}

type followedWorkload struct {
	asked  time.Time
	allocs map[string]*followed
}

// followed is one allocation between two readings.
type followed struct {
	version uint64
	probe   probe.Probe
	begun   bool // a is a reading
	a       performance.Reading
	read    time.Time // when, by our clock
	newest  float64   // count of work last seen
	moved   time.Time // when it last moved
	use     *cluster.Use
	asked   time.Time // for its use
	asks    int       // for its use, so far
	step    float64   // greatest number that divides every move seen; 0 unknown
}

// Follow measures each allocation since its last reading. It waits for nothing: an
// allocation whose window is still too short to tell is left out.
func (w *World) Follow(ctx context.Context, wl cluster.Workload, window time.Duration) ([]cluster.Observation, error) {
	subjects, err := w.subjects(ctx, wl)
	if err != nil {
		return nil, fmt.Errorf("follow %s: %w", wl.ID, err)
	}
	before := w.followed.of(wl.ID, w.clock.Now())
	for _, o := range subjects {
		if k := before[o.stub.ID]; k != nil && k.version == o.stub.JobVersion && o.measurable() {
			o.probe = k.probe
		}
	}
	w.readAll(ctx, subjects, func(o *observed, ctx context.Context) {
		o.second(ctx)
		if k := before[o.stub.ID]; k != nil {
			w.askUse(ctx, k, o.stub)
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	now, after := w.clock.Now(), map[string]*followed{}
	var out []cluster.Observation
	for _, o := range subjects {
		if !o.measurable() {
			out = append(out, o.result(now))
			continue
		}
		k := before[o.stub.ID]
		if k == nil || k.version != o.stub.JobVersion {
			k = &followed{version: o.stub.JobVersion, probe: o.probe}
		}
		after[o.stub.ID] = k
		if observation, tells := k.next(o, now, window); tells {
			observation.Use = k.use
			out = append(out, observation)
		}
	}
	w.followed.keep(wl.ID, after, now)
	return out, nil
}

// next takes a reading in, and tells the window that it ends, if it ends one.
func (k *followed) next(o *observed, now time.Time, window time.Duration) (cluster.Observation, bool) {
	b := o.b
	if !k.begun {
		k.begin(b, now)
		return cluster.Observation{}, false
	}
	k.sense(b, now)
	elapsed := now.Sub(k.read)
	if b.Exact && k.a.Exact && (b.At.Sub(k.a.At)-elapsed).Abs() > stepSlack+elapsed/4 {
		k.begin(b, now)
		o.why = "the workload's clock jumped, or its count was taken at another time than it says"
		return o.result(now), true
	}
	if !math.IsNaN(b.Work) && b.Work >= k.a.Work {
		switch moved := b.Work - k.a.Work; {
		case now.Sub(k.moved) >= stuckAfter:
			k.begin(b, now) // moved stays: it is stuck until it moves
			o.why = fmt.Sprintf("its count of work has been %v for %s: the workload, or its probe, is stuck", b.Work, now.Sub(k.moved).Round(time.Second))
			return o.result(now), true
		case elapsed < window*4/5, elapsed < longestFollow && (moved == 0 || moved < leastSteps*k.step):
			return cluster.Observation{}, false
		}
	} else if elapsed < window*4/5 {
		return cluster.Observation{}, false
	}
	o.a = k.a
	observation := o.result(now)
	moved := k.moved
	k.begin(b, now)
	k.moved = moved
	return observation, true
}

// begin starts a window at a reading.
func (k *followed) begin(b performance.Reading, now time.Time) {
	if !k.begun {
		k.newest, k.moved = b.Work, now
	}
	k.begun, k.a, k.read = true, b, now
}

// sense notes when the count moved, and by what steps it does.
func (k *followed) sense(b performance.Reading, now time.Time) {
	if math.IsNaN(b.Work) || b.Work == k.newest {
		return
	}
	if by := b.Work - k.newest; by > 0 {
		k.step = commonStep(k.step, by)
	}
	k.newest, k.moved = b.Work, now
}

// commonStep is the greatest number that divides both, where they are whole; 0 where
// nothing is known, or a count is not whole and so may take any step.
func commonStep(a, b float64) float64 {
	if b != math.Trunc(b) || b > 1<<50 {
		return 0
	}
	for b >= 1 {
		a, b = b, math.Mod(a, b)
	}
	return a
}

func (f *followBook) of(id cluster.WorkloadID, now time.Time) map[string]*followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.swept) > forgetAfter {
		f.swept = now
		for other, w := range f.workloads {
			if now.Sub(w.asked) > forgetAfter {
				delete(f.workloads, other)
			}
		}
	}
	if w := f.workloads[id]; w != nil {
		return w.allocs
	}
	return nil
}

func (f *followBook) keep(id cluster.WorkloadID, allocs map[string]*followed, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.workloads == nil {
		f.workloads = map[cluster.WorkloadID]*followedWorkload{}
	}
	f.workloads[id] = &followedWorkload{asked: now, allocs: allocs}
}
