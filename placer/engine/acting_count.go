package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine/adapt"
)

// resize tries a live resize, and where that is not possible goes on to the next
// in order.
func (e *Engine) resize(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	unit := sc.units[a.Ref]
	err := e.do(ctx, s, resizing(s, unit, a.Size, a.Reason), e.live.writes, nil, func(ctx context.Context) error {
		return e.live.adjuster.Resize(ctx, s.workload.ID, unit.ID, a.Size)
	})
	if errors.Is(err, cluster.ErrImpossible) {
		return e.grow(ctx, sc, s, a)
	}
	return tolerated(err)
}

func sizeText(r cluster.Resources) string {
	if r.Cores > 0 {
		return fmt.Sprintf("%d cores, %d MB", r.Cores, r.MemoryMB)
	}
	return fmt.Sprintf("%d MHz, %d MB", r.CPUMHz, r.MemoryMB)
}

// tryResize gives a running allocation the next memory that its user allows, where
// it may want some. Where only cores could be more it says, once in a while, that
// they cannot be given while it runs.
func (e *Engine) tryResize(ctx context.Context, sc *scene, s subject, reason string) (bool, error) {
	if unit, want, ok := e.moreMemory(sc, s); ok {
		record := resizing(s, unit, want, reason)
		err := e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
			return e.live.adjuster.Resize(ctx, s.workload.ID, unit.ID, want)
		})
		if errors.Is(err, cluster.ErrImpossible) {
			e.live.watch(s.workload.ID).noLoan[unit.ID] = e.cfg.Clock.Now().Add(refusalRepeatAfter)
		}
		return err == nil, tolerated(err)
	}
	unit := firstUnit(sc, s.workload.ID)
	want := unit.Resources
	for _, c := range s.workload.Spec.Scale.Cores {
		want.Cores = max(want.Cores, c)
	}
	if unit.ID == "" || want == unit.Resources {
		return false, nil
	}
	err := e.live.adjuster.Resize(ctx, s.workload.ID, unit.ID, want)
	if err != nil {
		e.refused(ctx, resizing(s, unit, want, reason), err)
	}
	return err == nil, nil
}

func resizing(s subject, unit cluster.Allocation, to cluster.Resources, reason string) cluster.ActionRecord {
	return cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(adapt.Resize), Allocation: unit.ID,
		From: sizeText(unit.Resources), To: sizeText(to), Reason: reason,
	}
}

// memoryTight is the share of its memory from which on an allocation may want more
// (chosen by us).
const memoryTight = 0.8

// moreMemory is an allocation that may have more memory than it has, and the least
// that is more. One that does not use what it has wants none, and one that could not
// be given any is left alone for a while.
func (e *Engine) moreMemory(sc *scene, s subject) (cluster.Allocation, cluster.Resources, bool) {
	w := e.live.watch(s.workload.ID)
	for _, ref := range sc.of[s.workload.ID] {
		unit := sc.units[ref]
		if e.cfg.Clock.Now().Before(w.noLoan[unit.ID]) {
			continue
		}
		if use := w.last[unit.ID].Use; use != nil && use.MemoryBytes < memoryTight*float64(unit.Resources.MemoryMB)*(1<<20) {
			continue
		}
		own := unit.Resources.MemoryMB - s.workload.Sizable.Beside.MemoryMB
		if next := nextCount(s.workload.Spec.Scale.MemoryMB, own+1); next > own {
			want := unit.Resources
			want.MemoryMB += next - own
			return unit, want, true
		}
	}
	return cluster.Allocation{}, cluster.Resources{}, false
}

// grow gives a workload more where it is, else the next count it allows. Where it
// may not have more allocations, a move is tried.
func (e *Engine) grow(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	if done, err := e.tryResize(ctx, sc, s, a.Reason); done || err != nil {
		return err
	}
	if a.Kind == adapt.Grow && len(s.workload.Spec.Scale.Count) == 0 {
		return nil // it was about memory; for the rest the adapter knows other ways
	}
	w := e.live.watch(s.workload.ID)
	b, err := e.bounds(ctx, s, w)
	if err != nil {
		return err
	}
	record := cluster.ActionRecord{Workload: s.workload.ID, Kind: string(adapt.Grow), From: countText(b.Count), Reason: a.Reason}
	next := nextCount(s.workload.Spec.Scale.Count, b.Count+max(1, a.Count))
	switch {
	case b.Scaled:
		err = refuse("%w", cluster.ErrYields)
	case next <= b.Count:
		err = refuse("its performance block allows no more than %d", b.Count)
	}
	if err != nil {
		e.refused(ctx, record, err)
		return e.moveInstead(ctx, sc, s, a)
	}
	record.To = countText(next)
	err = e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
		more := s.workload
		more.Count = next
		change := e.change(s, fmt.Sprintf("%s gets %d allocations instead of %d: %s", s.workload.ID.Group, next, b.Count, a.Reason))
		change.Count = next
		return e.rebound(ctx, sc, s, more, change, b.Bound, nil)
	})
	if errors.Is(err, errNoRoom) {
		return e.moveInstead(ctx, sc, s, a)
	}
	return tolerated(err)
}

func countText(n int) string { return fmt.Sprintf("count %d", n) }

// nextCount is the least allowed count that is at least n, or the greatest; 0
// without any.
func nextCount(allowed []int, n int) int {
	best := 0
	for _, c := range allowed {
		if c >= n && (best < n || c < best) || c < n && best < n && c > best {
			best = c
		}
	}
	return best
}

// previousCount is the greatest allowed count below n; 0 without any.
func previousCount(allowed []int, n int) int {
	best := 0
	for _, c := range allowed {
		if c < n {
			best = max(best, c)
		}
	}
	return best
}

// shrink gives back what was lent, or else allocations that were grown, well after
// the growth, and later each time it had to be undone.
func (e *Engine) shrink(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	for _, ref := range sc.of[s.workload.ID] {
		if unit := sc.units[ref]; unit.Lent != (cluster.Resources{}) {
			return e.returnLoan(ctx, s, unit, a.Reason)
		}
	}
	w := e.live.watch(s.workload.ID)
	b, err := e.bounds(ctx, s, w)
	if err != nil {
		return err
	}
	next := previousCount(s.workload.Spec.Scale.Count, b.Count)
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(adapt.Shrink), From: countText(b.Count), To: countText(next), Reason: a.Reason,
	}
	doc, err := e.doc(ctx, s.workload.ID)
	if err != nil {
		return err
	}
	switch left := sc.windows[s.workload.ID] * float64(next) / float64(b.Count); {
	case b.Scaled:
		e.refused(ctx, record, refuse("%w", cluster.ErrYields))
		return nil
	case next < 1, left < shrinkReserve, e.cfg.Clock.Now().Before(maySettle(doc.Actions)):
		return nil
	}
	err = e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
		change := e.change(s, fmt.Sprintf("%s gives back %d of %d allocations: %s", s.workload.ID.Group, b.Count-next, b.Count, a.Reason))
		change.Count = next
		less := s.workload
		less.Count = next
		return e.adjust(ctx, s, less, change, nil)
	})
	return tolerated(err)
}

// returnLoan ends what is lent to an allocation.
func (e *Engine) returnLoan(ctx context.Context, s subject, unit cluster.Allocation, reason string) error {
	doc, err := e.doc(ctx, s.workload.ID)
	if err != nil || e.cfg.Clock.Now().Before(maySettle(doc.Actions)) {
		return err
	}
	record := resizing(s, unit, unit.Given(), reason)
	record.Kind = string(adapt.Shrink)
	return tolerated(e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
		return e.live.adjuster.Resize(ctx, s.workload.ID, unit.ID, unit.Given())
	}))
}

// shrinkReserve is the share of its target a workload must still reach with fewer
// allocations: 10 % in reserve, twice what counts as short (chosen by us).
const shrinkReserve = 1.1

// maySettle is when something may be given back: settleAfterGrowth after the last
// growth, twice as long for each time that giving back was undone.
func maySettle(records []cluster.ActionRecord) time.Time {
	var grown time.Time
	wait, shrunk := settleAfterGrowth, false
	for _, r := range records {
		switch {
		case r.Result != actionDone:
		case r.Kind == string(adapt.Grow), r.Kind == string(adapt.Resize):
			grown = r.At
			if shrunk && wait < 64*settleAfterGrowth {
				wait *= 2
			}
			shrunk = false
		case r.Kind == string(adapt.Shrink):
			shrunk = true
		}
	}
	if grown.IsZero() {
		return time.Time{}
	}
	return grown.Add(wait)
}
