package adaptation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// returnKind is the Kind of a record of best-effort work that may use a node again.
const returnKind = "return"

// evict sends a best-effort allocation away from the node of a workload with a target,
// until that workload is gone or turns out to be no better off.
func (c *Controller) evict(ctx context.Context, sc *scene, a adapt.Action) error {
	allocation := sc.allocation(a.Handle)
	s, ok := sc.running[allocation.Workload]
	helped := sc.byHandle[a.For]
	if !ok || s.workload.Spec.Target.Kind != performance.BestEffort {
		return nil
	}
	record := cluster.ActionRecord{
		Workload: allocation.Workload, Kind: string(adapt.Evict), Allocation: allocation.ID, From: nodeText(sc.snapshot, allocation.Node),
		Reason: fmt.Sprintf("best effort is pre-empted for %s/%s: %s", helped.Job, helped.Group, a.Reason),
	}
	doc, err := c.live.doc(ctx, allocation.Workload)
	if err != nil {
		return err
	}
	avoid := map[cluster.NodeID]bool{}
	avoidMachine(sc.snapshot, allocation.Node, avoid)
	for _, y := range doc.Evictions {
		avoidMachine(sc.snapshot, y.Node, avoid)
	}
	yield := journal.Eviction{Node: allocation.Node, For: helped, At: c.cfg.Clock.Now(), Share: sc.windows[helped]}
	err = c.live.do(ctx, s, record, c.live.writes, nil, func(ctx context.Context) error {
		// First the record: whoever leads next knows why it waits.
		if err := c.live.remember(ctx, allocation.Workload, func(d *journal.ActionLog) { d.Evictions = append(d.Evictions, yield) }); err != nil {
			return err
		}
		change := change(s, fmt.Sprintf("%s leaves %s: %s", s.workload.ID.Group, record.From, record.Reason))
		change.Anyway = true // also while it deploys: it may have come just now
		if err := c.live.rebound(ctx, sc, s, s.workload, change, true, avoid); err != nil {
			return errors.Join(err, c.live.remember(ctx, allocation.Workload, dropEviction(yield)))
		}
		// With nowhere to go Nomad would leave it where it is.
		return c.live.adjuster.StopAllocation(ctx, allocation.Workload, allocation.ID)
	})
	return tolerated(err)
}

// avoidMachine adds a node and the others of its machine.
func avoidMachine(s *cluster.Snapshot, id cluster.NodeID, avoid map[cluster.NodeID]bool) {
	avoid[id] = true // also where it is gone
	for _, n := range s.Nodes {
		if n.ID == id {
			for _, of := range s.Machine(n) {
				avoid[of.ID] = true
			}
		}
	}
}

func dropEviction(y journal.Eviction) func(*journal.ActionLog) {
	return func(d *journal.ActionLog) {
		d.Evictions = slices.DeleteFunc(d.Evictions, func(o journal.Eviction) bool { return o.Node == y.Node && o.For == y.For && o.At.Equal(y.At) })
	}
}

// reviewEvictions lets best-effort work go back to a node when the reason for which it left
// is gone: the workload that it left for has left or ended, or is no better off.
func (c *Controller) reviewEvictions(ctx context.Context, sc *scene) error {
	var errs []error
	for _, id := range sortedIDs(sc.running) {
		s := sc.running[id]
		if s.workload.Spec.Target.Kind != performance.BestEffort {
			continue
		}
		doc, err := c.live.doc(ctx, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, y := range slices.Clone(doc.Evictions) {
			if why := c.evictionOver(sc, y); why != "" {
				errs = append(errs, c.endEviction(ctx, sc, s, y, why))
			}
		}
	}
	return errors.Join(errs...)
}

// evictionOver says why a best-effort workload may return; empty: it may not.
func (c *Controller) evictionOver(sc *scene, y journal.Eviction) string {
	there, machine := false, map[cluster.NodeID]bool{}
	avoidMachine(sc.snapshot, y.Node, machine)
	for id := range machine {
		for _, a := range sc.snapshot.Allocations[id] {
			there = there || a.Workload == y.For
		}
	}
	if _, runs := sc.running[y.For]; !runs || !there {
		return fmt.Sprintf("%s/%s is not on the node any more", y.For.Job, y.For.Group)
	}
	share, known := sc.windows[y.For]
	age := c.cfg.Clock.Now().Sub(y.At)
	if known && age >= evictionTrial && age < 2*evictionTrial && share < adapt.Defaults().Below && share < y.Share+leastImprovement {
		return fmt.Sprintf("%s/%s "+noBetter, y.For.Job, y.For.Group)
	}
	return ""
}

// noBetter ends the reason of a return where the eviction did not help.
const noBetter = "is no better off without it"

// exemptUntil is how long a best-effort workload is left alone whose eviction helped no
// other: settleAfterGrowth, and twice as long each further time.
func exemptUntil(records []cluster.ActionRecord) time.Time {
	var until time.Time
	wait := settleAfterGrowth
	for _, r := range records {
		if r.Kind == returnKind && r.Result == actionDone && strings.HasSuffix(r.Reason, noBetter) {
			until = r.At.Add(wait)
			if wait < 64*settleAfterGrowth {
				wait *= 2
			}
		}
	}
	return until
}

// endEviction ends a yield. Its job is written only where it waits for a node: one
// that runs elsewhere stays there.
func (c *Controller) endEviction(ctx context.Context, sc *scene, s subject, y journal.Eviction, why string) error {
	id := s.workload.ID
	if strings.HasSuffix(why, noBetter) {
		c.live.exempt[id] = c.cfg.Clock.Now().Add(settleAfterGrowth)
	}
	if len(sc.handles[id]) >= s.workload.Count && s.job.Type != "system" {
		return c.live.remember(ctx, id, dropEviction(y))
	}
	record := cluster.ActionRecord{Workload: id, Kind: returnKind, To: nodeText(sc.snapshot, y.Node), Reason: why}
	doc, err := c.live.doc(ctx, id)
	if err != nil {
		return err
	}
	avoid := map[cluster.NodeID]bool{}
	for _, other := range doc.Evictions {
		if other != y {
			avoidMachine(sc.snapshot, other.Node, avoid)
		}
	}
	err = c.live.do(ctx, s, record, c.live.writes, nil, func(ctx context.Context) error {
		change := change(s, fmt.Sprintf("%s may use %s again: %s", id.Group, record.To, why))
		change.Anyway = true
		if err := c.live.rebound(ctx, sc, s, s.workload, change, true, avoid); err != nil {
			return err
		}
		return c.live.remember(ctx, id, dropEviction(y))
	})
	return tolerated(err)
}
