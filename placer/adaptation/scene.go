package adaptation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// scene is the cluster at one window, as the adapter sees it.
type scene struct {
	snapshot *cluster.Snapshot
	board    *board.Board
	running  map[cluster.WorkloadID]subject
	places   map[board.Handle]place
	handles  map[cluster.WorkloadID][]board.Handle // its allocations that run, ascending
	byHandle map[board.Handle]cluster.WorkloadID
	windows  map[cluster.WorkloadID]float64 // share of the target reached; absent: unknown
}

// place is an allocation on the board.
type place struct {
	allocation *cluster.Allocation // the snapshot's
	node       board.Index
}

// newScene builds the board of a snapshot and finds on it what runs.
func newScene(s *cluster.Snapshot, columns []interference.Source, running map[cluster.WorkloadID]subject) *scene {
	allocations := 0
	for _, on := range s.Allocations {
		allocations += len(on)
	}
	sc := &scene{
		snapshot: s, board: board.FromSnapshot(s, columns, cluster.WorkloadID{}), running: running,
		places: make(map[board.Handle]place, allocations), handles: make(map[cluster.WorkloadID][]board.Handle, len(running)),
		byHandle: map[board.Handle]cluster.WorkloadID{}, windows: map[cluster.WorkloadID]float64{},
	}
	for i := range s.Nodes {
		for handle, a := range sc.board.Allocations(s, board.Index(i), cluster.WorkloadID{}) {
			sc.places[handle] = place{a, board.Index(i)}
			if _, runs := running[a.Workload]; runs && !isReserved(s, *a) {
				sc.handles[a.Workload] = append(sc.handles[a.Workload], handle)
			}
		}
	}
	return sc
}

// allocation on the board; the zero value where there is none.
func (sc *scene) allocation(handle board.Handle) cluster.Allocation {
	if p, ok := sc.places[handle]; ok {
		return *p.allocation
	}
	return cluster.Allocation{}
}

// node that an allocation is on.
func (sc *scene) node(handle board.Handle) board.Index { return sc.places[handle].node }

// scene notes since when each allocation is there, and marks what may be evicted.
func (a *term) scene(s *cluster.Snapshot, running map[cluster.WorkloadID]subject) *scene {
	var sc *scene
	a.cfg.Placer.WithHosts(s, func(s *cluster.Snapshot) { sc = newScene(s, a.cfg.Estimator.Columns(), running) })
	sc.snapshot = s
	now := a.cfg.Clock.Now()
	a.see(sc, now)
	a.markBestEffort(sc, now)
	return sc
}

// sighting is since when an allocation is there, and in which pass it was last.
type sighting struct {
	first time.Time
	pass  int
}

// see notes which allocations are there, in place: a map of all those of a large cluster is much
// to make anew every few seconds.
func (a *term) see(sc *scene, now time.Time) {
	a.passes++
	for _, p := range sc.places {
		s, ok := a.seen[p.allocation.ID]
		if !ok {
			s.first = now
		}
		s.pass = a.passes
		a.seen[p.allocation.ID] = s
	}
	if len(a.seen) > len(sc.places) {
		maps.DeleteFunc(a.seen, func(_ string, s sighting) bool { return s.pass != a.passes })
	}
}

// there reports whether an allocation was there in the last pass.
func (a *term) there(allocation string) bool { return a.seen[allocation].pass == a.passes }

// since when an allocation is there; the zero time where it was never seen.
func (a *term) since(allocation string) time.Time { return a.seen[allocation].first }

// markBestEffort puts what may be evicted on the board as such, oldest first.
func (a *term) markBestEffort(sc *scene, now time.Time) {
	if !sc.hasTarget() {
		return // it is evicted for nobody
	}
	var evictable []board.Handle
	for id, s := range sc.running {
		if s.workload.Spec.Target.Kind != performance.BestEffort || now.Before(a.exempt[id]) || now.Before(exemptUntil(a.docs[id].Actions)) {
			continue
		}
		for _, handle := range sc.handles[id] {
			if allocation := sc.allocation(handle); !allocation.System && allocation.Version == s.job.Version {
				evictable = append(evictable, handle)
			}
		}
	}
	slices.SortFunc(evictable, func(x, y board.Handle) int {
		return cmp.Or(a.since(sc.allocation(x).ID).Compare(a.since(sc.allocation(y).ID)), cmp.Compare(x, y))
	})
	for _, handle := range evictable {
		n := sc.node(handle)
		residents := sc.board.Residents(n)
		i := slices.IndexFunc(residents, func(r board.Resident) bool { return r.Handle == handle })
		r := residents[i]
		r.BestEffort = true
		if err := sc.board.Remove(n, handle); err == nil {
			sc.board.Place(n, r)
		}
	}
}

// hasTarget reports whether any workload has more of a target than best effort.
func (sc *scene) hasTarget() bool {
	for _, s := range sc.running {
		if s.workload.Spec.Target.Kind != performance.BestEffort {
			return true
		}
	}
	return false
}

// isReserved: decided, and not seen yet.
func isReserved(s *cluster.Snapshot, a cluster.Allocation) bool {
	return slices.ContainsFunc(s.Reserved[a.Node], func(r cluster.Allocation) bool { return r.ID == a.ID })
}

// window is what the adapter learns of one workload. In any doubt the performance is
// unknown, and the adapter does nothing.
func (c *Controller) window(ctx context.Context, sc *scene, s subject, readings []cluster.Observation) (adapt.Observation, error) {
	id, spec := s.workload.ID, s.workload.Spec
	w := c.live.watch(id)
	handle := c.live.handleOf(id)
	sc.byHandle[handle] = id
	want, _ := spec.Rate()
	o := adapt.Observation{Handle: handle, Performance: math.NaN(), Target: want, BestEffort: spec.Target.Kind == performance.BestEffort}
	w.share = math.NaN()
	defer func() { c.live.reported(id, w, c.cfg.Clock.Now()) }()
	byAlloc := map[string]cluster.Observation{}
	for _, r := range readings {
		byAlloc[r.Allocation] = r
	}
	var judged []cluster.Observation
	now, steady := c.cfg.Clock.Now(), true
	for _, handle := range sc.handles[id] {
		a := sc.allocation(handle)
		r, ok := byAlloc[a.ID]
		if !ok || r.Unavailable != "" || now.Sub(c.live.since(a.ID)) < warmUp {
			steady = false
			continue
		}
		judged = append(judged, r)
		o.Transferred = o.Transferred || w.canDoWithout(sc, handle)
		o.Replicas = append(o.Replicas, adapt.Replica{Handle: handle, Node: sc.node(handle), Size: a.Resources, Performance: r.Measure.Goodput})
	}
	if c.cfg.Evaluations.UnderWay(s.job.ID) || !steady || len(judged) == 0 || s.job.Type != "system" && len(judged) != s.workload.Count {
		return o, nil
	}
	o.Performance = reached(spec, judged, w.served)
	w.served = bestServed(spec, judged, w.served)
	if o.Target > 0 && !math.IsNaN(o.Performance) {
		w.share = o.Performance / o.Target
		sc.windows[id] = w.share
	}
	o.Finish = c.finish(s, w, judged)
	var err error
	o.Scales, err = c.scales(ctx, sc, s, w)
	return o, err
}

// scales: more is allowed and helps, of memory, of CPU or of allocations.
func (c *Controller) scales(ctx context.Context, sc *scene, s subject, w *watched) (bool, error) {
	if s.job.Type == "system" || s.job.Type == "sysbatch" {
		return false, nil
	}
	_, _, memory := c.moreMemory(sc, s)
	allocation, want, cpu := c.moreCPU(sc, s)
	cpu = cpu && sc.suffices(s, allocation, want)
	if memory || cpu || len(s.workload.Spec.Scale.Count) == 0 {
		return memory || cpu, nil
	}
	b, err := c.live.bounds(ctx, s, w)
	if err != nil {
		return false, err
	}
	return !b.Scaled && (nextCount(s.workload.Spec.Scale.Count, b.Count+1) > 0 || previousCount(s.workload.Spec.Scale.Count, b.Count) > 0), nil
}

// bounds are read once per version of the job.
func (a *term) bounds(ctx context.Context, s subject, w *watched) (cluster.Bounds, error) {
	if w.bounds != nil && w.bounds.ModifyIndex == s.job.ModifyIndex {
		return *w.bounds, nil
	}
	b, err := a.adjuster.Bounds(ctx, s.workload.ID)
	if err != nil {
		return b, fmt.Errorf("reading its bounds: %w", err)
	}
	w.bounds = &b
	return b, nil
}

func (a *term) handleOf(id cluster.WorkloadID) board.Handle {
	handle, ok := a.handles[id]
	if !ok {
		a.lastHandle++
		handle = firstWorkloadHandle + a.lastHandle
		a.handles[id] = handle
	}
	return handle
}

// reported counts a window of a workload: below its target, at it, or unknown (NaN).
func (a *term) reported(id cluster.WorkloadID, w *watched, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if math.IsNaN(w.share) {
		delete(a.stats.Below, id)
		w.judged = time.Time{}
		return
	}
	below := w.share < adapt.Defaults().Below
	if below && !w.judged.IsZero() && a.stats.Below[id] {
		a.stats.BelowTime[id] += min(longestJudged, now.Sub(w.judged))
	}
	a.stats.Below[id], w.judged = below, now
}

// share of its target that a workload reached in the last window; NaN where unknown.
func (sc *scene) share(id cluster.WorkloadID) float64 {
	if v, ok := sc.windows[id]; ok {
		return v
	}
	return math.NaN()
}
