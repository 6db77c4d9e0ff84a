package adaptation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// observeConcurrency bounds how many workloads are measured side by side: most of
// the time they wait for their window or for another node to answer.
const observeConcurrency = 64

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
			a.countUse(id, running[id].workload.Count, r.readings)
		}
	}
	return out, errors.Join(errs...)
}

// countUse notes what the allocations of a workload use together. Where one of them does not say it is not
// known: the others are no sum.
func (a *term) countUse(id cluster.WorkloadID, count int, readings []cluster.Observation) {
	sum, known := 0.0, 0
	for _, o := range readings {
		if o.Use != nil {
			sum, known = sum+o.Use.CPUMHz, known+1
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.stats.UsedMHz, id)
	if known >= max(1, count) {
		a.stats.UsedMHz[id] = sum
	}
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

func (a *term) measure(ctx context.Context, w cluster.Workload) ([]cluster.Observation, error) {
	if a.follower != nil {
		return a.follower.Follow(ctx, w, a.cfg.ObserveWindow)
	}
	return a.cfg.World.Observe(ctx, w, a.cfg.ObserveWindow)
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
	return a.cfg.Decisions.AddObservations(ctx, id, r.readings)
}

// recordPause is a little less than recordEvery, so that a pass that comes early
// does not double it.
func (a *term) recordPause() time.Duration { return recordEvery - a.cfg.ObserveEvery/2 }
