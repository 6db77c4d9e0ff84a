package adaptation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// grow gives a workload more where it is, else the next count it allows. Where it
// may not have more allocations, a move is tried.
func (c *Controller) grow(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	if begun, err := c.tryResize(ctx, sc, s, a.Reason); begun || err != nil {
		return err
	}
	if a.Kind == adapt.Grow && len(s.workload.Spec.Scale.Count) == 0 {
		return nil // it was about its size; for the rest the adapter knows other ways
	}
	w := c.live.watch(s.workload.ID)
	b, err := c.live.bounds(ctx, s, w)
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
		c.live.refused(ctx, record, err)
		return c.moveInstead(ctx, sc, s, a)
	}
	record.To = countText(next)
	err = c.live.do(ctx, s, record, c.live.writes, nil, func(ctx context.Context) error {
		more := s.workload
		more.Count = next
		change := change(s, fmt.Sprintf("%s gets %d allocations instead of %d: %s", s.workload.ID.Group, next, b.Count, a.Reason))
		change.Count = next
		return c.live.rebound(ctx, sc, s, more, change, b.Bound, nil)
	})
	if errors.Is(err, errNoRoom) {
		return c.moveInstead(ctx, sc, s, a)
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

// shrink gives back what was transferred and is not needed, or else allocations that were
// grown, well after the growth, and later each time it had to be undone.
func (c *Controller) shrink(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	w := c.live.watch(s.workload.ID)
	for _, handle := range sc.handles[s.workload.ID] {
		if w.canDoWithout(sc, handle) {
			return c.returnTransfer(ctx, s, sc.allocation(handle), a.Reason)
		}
	}
	b, err := c.live.bounds(ctx, s, w)
	if err != nil {
		return err
	}
	next := previousCount(s.workload.Spec.Scale.Count, b.Count)
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(adapt.Shrink), From: countText(b.Count), To: countText(next), Reason: a.Reason,
	}
	doc, err := c.live.doc(ctx, s.workload.ID)
	if err != nil {
		return err
	}
	switch left := sc.windows[s.workload.ID] * float64(next) / float64(b.Count); {
	case b.Scaled:
		c.live.refused(ctx, record, refuse("%w", cluster.ErrYields))
		return nil
	case next < 1, left < shrinkReserve, c.cfg.Clock.Now().Before(maySettle(doc.Actions)):
		return nil
	}
	err = c.live.do(ctx, s, record, c.live.writes, nil, func(ctx context.Context) error {
		change := change(s, fmt.Sprintf("%s stops %d of %d allocations: %s", s.workload.ID.Group, b.Count-next, b.Count, a.Reason))
		change.Count = next
		less := s.workload
		less.Count = next
		return c.live.adjust(ctx, s, less, change, nil)
	})
	return tolerated(err)
}

// shrinkReserve is the share of its target that a workload must still reach with fewer
// allocations: 10 % in reserve (chosen by us).
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
