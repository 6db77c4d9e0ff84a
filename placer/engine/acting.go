package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine/adapt"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Token buckets over all workloads, chosen by us: a fault of ours must not become
// a storm of job versions.
const (
	writeBurst = 4
	writeEvery = 15 * time.Second
	moveBurst  = 1
	moveEvery  = time.Minute
)

// actionDone is the Result of a record whose action was carried out; underWay, of
// one that was begun: the leader died in between.
const (
	actionDone     = "done"
	actionUnderWay = "under way"
)

// returnKind is the Kind of a record of best-effort work that may use a node again.
const returnKind = "return"

// errRefused wraps why an action was not tried: nothing was written.
var errRefused = errors.New("not done")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errRefused, fmt.Errorf(format, args...))
}

// act carries out one action of the adapter. What cannot be done is recorded with
// its reason, and the next kind in order is tried.
func (e *Engine) act(ctx context.Context, sc *scene, a adapt.Action) error {
	switch a.Kind {
	case adapt.Close, adapt.Open:
		e.closeNode(sc, a)
		return nil
	case adapt.Reclassify:
		return e.reclassify(ctx, sc.byRef[a.Ref])
	case adapt.Evict:
		return e.evict(ctx, sc, a)
	}
	id, ok := sc.byRef[a.Ref]
	if !ok {
		id = sc.units[a.Ref].Workload
	}
	s, ok := sc.running[id]
	if !ok {
		return nil
	}
	switch a.Kind {
	case adapt.Resize:
		return e.resize(ctx, sc, s, a)
	case adapt.Grow:
		return e.grow(ctx, sc, s, a)
	case adapt.Shrink:
		return e.shrink(ctx, sc, s, a)
	case adapt.Relaunch:
		return e.move(ctx, sc, s, a, sc.units[a.Ref])
	case adapt.Move:
		return e.move(ctx, sc, s, a, firstUnit(sc, id))
	default:
		return fmt.Errorf("the adapter wants %q, which is no action", a.Kind)
	}
}

// firstUnit is one allocation of a workload; without an ID where it has none.
func firstUnit(sc *scene, id cluster.WorkloadID) cluster.Allocation {
	if refs := sc.of[id]; len(refs) > 0 {
		return sc.units[refs[0]]
	}
	return cluster.Allocation{}
}

// closeNode: the placer puts nothing more on a node. Nomad's own placements go on.
func (e *Engine) closeNode(sc *scene, a adapt.Action) {
	id := sc.board.Node(a.Node).ID
	e.live.mu.Lock()
	if a.Kind == adapt.Close {
		e.live.closed[id] = true
	} else {
		delete(e.live.closed, id)
	}
	e.live.mu.Unlock()
	e.cfg.Log.Info("adaptation", "kind", string(a.Kind), "node", string(id), "reason", a.Reason)
	e.live.counted(string(a.Kind), nil)
}

// reclassify folds in what was learnt from others since the workload was placed;
// nothing is measured anew.
func (e *Engine) reclassify(ctx context.Context, id cluster.WorkloadID) error {
	e.mu.Lock()
	d, ok := e.decided[id]
	e.mu.Unlock()
	if !ok || d.ProfileKey == "" {
		return nil
	}
	p, err := e.storedProfile(ctx, d.ProfileKey)
	if err != nil || p == nil {
		return err
	}
	d.Sensitivity = e.classify(p).Sensitivity
	e.mu.Lock()
	e.decided[id] = d
	e.mu.Unlock()
	e.live.counted(string(adapt.Reclassify), nil)
	return e.book.PutDecision(ctx, d)
}

// resize tries a live resize, and where that is not possible goes on to the next
// in order.
func (e *Engine) resize(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	unit := sc.units[a.Ref]
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(adapt.Resize), Allocation: unit.ID,
		From: sizeText(unit.Resources), To: sizeText(a.Size), Reason: a.Reason,
	}
	err := e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
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

// tryResize says, once in a while, that a size the user allows cannot be given
// while the workload runs.
func (e *Engine) tryResize(ctx context.Context, sc *scene, s subject, reason string) {
	scale := s.workload.Spec.Scale
	if len(scale.Cores)+len(scale.MemoryMB) == 0 {
		return
	}
	unit := firstUnit(sc, s.workload.ID)
	want := unit.Resources
	for _, c := range scale.Cores {
		want.Cores = max(want.Cores, c)
	}
	for _, m := range scale.MemoryMB {
		want.MemoryMB = max(want.MemoryMB, m)
	}
	if want == unit.Resources {
		return
	}
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(adapt.Resize), Allocation: unit.ID,
		From: sizeText(unit.Resources), To: sizeText(want), Reason: reason,
	}
	if err := e.live.adjuster.Resize(ctx, s.workload.ID, unit.ID, want); err != nil {
		e.refused(ctx, record, err)
	}
}

// grow gives a workload the next count it allows. Where it may not have more
// allocations, a move is tried.
func (e *Engine) grow(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	e.tryResize(ctx, sc, s, a.Reason)
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

func (e *Engine) moveInstead(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
	if s.workload.Count != 1 {
		return nil
	}
	return e.move(ctx, sc, s, adapt.Action{Kind: adapt.Move, Ref: a.Ref, Reason: a.Reason}, firstUnit(sc, s.workload.ID))
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

// shrink gives back allocations that were grown, well after the growth, and later
// each time it had to be undone.
func (e *Engine) shrink(ctx context.Context, sc *scene, s subject, a adapt.Action) error {
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

// shrinkReserve is the share of its target a workload must still reach with fewer
// allocations: 10 % in reserve, twice what counts as short (chosen by us).
const shrinkReserve = 1.1

// maySettle is when allocations may be given back: settleAfterGrowth after the
// last growth, twice as long for each time that giving back was undone.
func maySettle(records []cluster.ActionRecord) time.Time {
	var grown time.Time
	wait, shrunk := settleAfterGrowth, false
	for _, r := range records {
		switch {
		case r.Result != actionDone:
		case r.Kind == string(adapt.Grow):
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

// move lets an allocation start on a better node, where the user allows that.
func (e *Engine) move(ctx context.Context, sc *scene, s subject, a adapt.Action, unit cluster.Allocation) error {
	record := cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(a.Kind), Allocation: unit.ID, From: nodeText(sc.snapshot, unit.Node), Reason: a.Reason,
	}
	if unit.ID == "" {
		return nil
	}
	if !s.workload.Spec.Move {
		e.refused(ctx, record, refuse("its performance block does not say move = true"))
		return nil
	}
	return tolerated(e.do(ctx, s, record, e.live.writes, e.live.moves, func(ctx context.Context) error {
		change := e.change(s, fmt.Sprintf("%s leaves %s: %s", s.workload.ID.Group, nodeText(sc.snapshot, unit.Node), a.Reason))
		return e.rebound(ctx, sc, s, s.workload, change, true, map[cluster.NodeID]bool{unit.Node: true})
	}))
}

func nodeText(s *cluster.Snapshot, id cluster.NodeID) string {
	for _, n := range s.Nodes {
		if n.ID == id {
			return "node " + n.Name
		}
	}
	return "node " + string(id)
}

// evict sends a best-effort allocation away from the node of a workload with a
// target, until that one is gone or it shows that it was not to blame.
func (e *Engine) evict(ctx context.Context, sc *scene, a adapt.Action) error {
	unit := sc.units[a.Ref]
	s, ok := sc.running[unit.Workload]
	helped := sc.byRef[a.For]
	if !ok || s.workload.Spec.Target.Kind != performance.BestEffort {
		return nil
	}
	record := cluster.ActionRecord{
		Workload: unit.Workload, Kind: string(adapt.Evict), Allocation: unit.ID, From: nodeText(sc.snapshot, unit.Node),
		Reason: fmt.Sprintf("best effort gives way to %s/%s: %s", helped.Job, helped.Group, a.Reason),
	}
	doc, err := e.doc(ctx, unit.Workload)
	if err != nil {
		return err
	}
	avoid := map[cluster.NodeID]bool{unit.Node: true}
	for _, y := range doc.Yields {
		avoid[y.Node] = true
	}
	yield := yielding{Node: unit.Node, For: helped, At: e.cfg.Clock.Now(), Share: sc.windows[helped]}
	err = e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
		// First the record: whoever leads next knows why it waits.
		if err := e.remember(ctx, unit.Workload, func(d *actions) { d.Yields = append(d.Yields, yield) }); err != nil {
			return err
		}
		change := e.change(s, fmt.Sprintf("%s leaves %s: %s", s.workload.ID.Group, record.From, record.Reason))
		change.Anyway = true // a neighbour that just came is deploying still
		if err := e.rebound(ctx, sc, s, s.workload, change, true, avoid); err != nil {
			return errors.Join(err, e.remember(ctx, unit.Workload, dropYield(yield)))
		}
		// With nowhere to go Nomad would leave it where it is.
		return e.live.adjuster.StopAllocation(ctx, unit.Workload, unit.ID)
	})
	return tolerated(err)
}

func dropYield(y yielding) func(*actions) {
	return func(d *actions) {
		d.Yields = slices.DeleteFunc(d.Yields, func(o yielding) bool { return o.Node == y.Node && o.For == y.For && o.At.Equal(y.At) })
	}
}

// reviewYields lets best-effort work go back to nodes whose reason is gone: the
// workload it gave way to left or ended, or is no better off without it.
func (e *Engine) reviewYields(ctx context.Context, sc *scene) error {
	var errs []error
	for _, id := range sortedIDs(sc.running) {
		s := sc.running[id]
		if s.workload.Spec.Target.Kind != performance.BestEffort {
			continue
		}
		doc, err := e.doc(ctx, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, y := range slices.Clone(doc.Yields) {
			if why := e.yieldOver(sc, y); why != "" {
				errs = append(errs, e.giveBack(ctx, sc, s, y, why))
			}
		}
	}
	return errors.Join(errs...)
}

// yieldOver says why a best-effort workload may return; empty: it may not.
func (e *Engine) yieldOver(sc *scene, y yielding) string {
	there := false
	for _, a := range sc.snapshot.Allocations[y.Node] {
		there = there || a.Workload == y.For
	}
	if _, runs := sc.running[y.For]; !runs || !there {
		return fmt.Sprintf("%s/%s is not on the node any more", y.For.Job, y.For.Group)
	}
	share, known := sc.windows[y.For]
	age := e.cfg.Clock.Now().Sub(y.At)
	if known && age >= yieldTrial && age < 2*yieldTrial && share < adapt.Defaults().Below && share < y.Share+leastImprovement {
		return fmt.Sprintf("%s/%s "+noBetter, y.For.Job, y.For.Group)
	}
	return ""
}

// noBetter ends the reason of a return of what was not to blame.
const noBetter = "is no better off without it"

// sparedUntil is how long a best-effort workload that left in vain is left alone:
// settleAfterGrowth, and twice as long each further time.
func sparedUntil(records []cluster.ActionRecord) time.Time {
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

// giveBack ends a yield. Its job is written only where it waits for a node: one
// that runs elsewhere stays there.
func (e *Engine) giveBack(ctx context.Context, sc *scene, s subject, y yielding, why string) error {
	id := s.workload.ID
	if strings.HasSuffix(why, noBetter) {
		e.live.harmless[id] = e.cfg.Clock.Now().Add(settleAfterGrowth)
	}
	if len(sc.of[id]) >= s.workload.Count && s.job.Type != "system" {
		return e.remember(ctx, id, dropYield(y))
	}
	record := cluster.ActionRecord{Workload: id, Kind: returnKind, To: nodeText(sc.snapshot, y.Node), Reason: why}
	doc, err := e.doc(ctx, id)
	if err != nil {
		return err
	}
	avoid := map[cluster.NodeID]bool{}
	for _, other := range doc.Yields {
		if other != y {
			avoid[other.Node] = true
		}
	}
	err = e.do(ctx, s, record, e.live.writes, nil, func(ctx context.Context) error {
		change := e.change(s, fmt.Sprintf("%s may use %s again: %s", id.Group, record.To, why))
		change.Anyway = true
		if err := e.rebound(ctx, sc, s, s.workload, change, true, avoid); err != nil {
			return err
		}
		return e.remember(ctx, id, dropYield(y))
	})
	return tolerated(err)
}

// tolerated drops what was refused or lost to a faster hand: it is on record, and
// the next window decides anew.
func tolerated(err error) error {
	for _, known := range []error{errRefused, errNoRoom, cluster.ErrStale, cluster.ErrGone, cluster.ErrBusy, cluster.ErrYields, cluster.ErrImpossible} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

func (e *Engine) change(s subject, message string) cluster.Change {
	return cluster.Change{Workload: s.workload.ID, ModifyIndex: s.job.ModifyIndex, Message: message}
}

// errNoRoom: the policy finds no node that has room and is harmed by nothing.
var errNoRoom = errors.New("no other node is good enough")

// rebound chooses a shortlist for a workload as it shall be, away from some nodes,
// and writes it with the change. Allocations elsewhere stay where they are.
// Best-effort work with nowhere to go waits; other work stays.
func (e *Engine) rebound(ctx context.Context, sc *scene, s subject, as cluster.Workload, change cluster.Change, bind bool, avoid map[cluster.NodeID]bool) error {
	d, written, err := e.chooseElsewhere(ctx, s, as, avoid)
	if err != nil {
		return err
	}
	defer written()
	bestEffort := as.Spec.Target.Kind == performance.BestEffort
	if d.Outcome == cluster.Queued && !bestEffort || d.Outcome == cluster.Placed && len(d.Relaxed) > 0 && !bestEffort {
		return fmt.Errorf("%w: %s", errNoRoom, d.Reason)
	}
	if !bind {
		return e.adjust(ctx, s, as, change, nil)
	}
	change.Rebind = true
	if d.Outcome == cluster.Placed {
		change.Nodes = slices.Clone(d.Candidates)
	}
	for _, c := range e.present(sc, s.workload.ID) {
		listed := slices.ContainsFunc(change.Nodes, func(o cluster.Candidate) bool { return o.Node == c.Node })
		if !listed && !avoid[c.Node] {
			change.Nodes = append(change.Nodes, c)
		}
	}
	if len(change.Nodes) == 0 && !bestEffort {
		return fmt.Errorf("%w: %s", errNoRoom, d.Reason)
	}
	return e.adjust(ctx, s, as, change, &d)
}

// chooseElsewhere asks where a running workload would go now, away from some nodes,
// and promises that until the returned function is called: see placing.
func (e *Engine) chooseElsewhere(ctx context.Context, s subject, as cluster.Workload, avoid map[cluster.NodeID]bool) (cluster.Decision, func(), error) {
	e.placing.deciding.Lock()
	defer e.placing.deciding.Unlock()
	promises := e.placing.promised()
	snapshot, err := e.snapshot(ctx)
	if err != nil {
		return cluster.Decision{}, nil, err
	}
	d, err := e.reconsider(ctx, s.job, as, withoutNodes(withPromises(snapshot, promises), avoid))
	if err != nil {
		return d, nil, err
	}
	if d.Outcome != cluster.Placed {
		return d, func() {}, nil
	}
	e.placing.promise(s.job, []cluster.Decision{d})
	return d, func() { e.placing.forget([]cluster.Decision{d}) }, nil
}

// present are the nodes a workload is on, as the last of candidates.
func (e *Engine) present(sc *scene, id cluster.WorkloadID) []cluster.Candidate {
	var out []cluster.Candidate
	for _, n := range sc.snapshot.Nodes {
		for _, a := range sc.snapshot.Allocations[n.ID] {
			if a.Workload == id {
				out = append(out, cluster.Candidate{Node: n.ID, Name: n.Name, Configuration: n.Configuration, Why: "it runs there"})
				break
			}
		}
	}
	return out
}

// reconsider asks the workload's policy where it would go now. Its size is as it is:
// that is not what is decided here.
func (e *Engine) reconsider(ctx context.Context, job cluster.Job, w cluster.Workload, snapshot *cluster.Snapshot) (cluster.Decision, error) {
	p, err := e.storedProfile(ctx, w.ProfileKey)
	if err != nil {
		return cluster.Decision{}, err
	}
	w.Spec.Scale = performance.ScaleSpec{}
	k := knownWorkload{workload: w, knowledge: e.classify(p)}
	return e.ask(job, &k, snapshot)
}

// withoutNodes is the snapshot with some nodes not ready.
func withoutNodes(s *cluster.Snapshot, avoid map[cluster.NodeID]bool) *cluster.Snapshot {
	if len(avoid) == 0 {
		return s
	}
	next := *s
	next.Nodes = slices.Clone(s.Nodes)
	for i, n := range next.Nodes {
		if avoid[n.ID] {
			shut := *n
			shut.Ready = false
			next.Nodes[i] = &shut
		}
	}
	return &next
}

// adjust writes a change. Meanwhile the job counts as under evaluation, and its
// decisions are written first: the version that follows is ours, whoever leads.
func (e *Engine) adjust(ctx context.Context, s subject, as cluster.Workload, change cluster.Change, decision *cluster.Decision) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.mu.Lock()
	if e.flights[s.job.ID] != nil {
		e.mu.Unlock()
		return fmt.Errorf("%w: an evaluation of the job is under way", errRefused)
	}
	e.flights[s.job.ID] = &flight{modifyIndex: s.job.ModifyIndex, cancel: cancel}
	before := map[cluster.WorkloadID]cluster.Decision{}
	for _, w := range s.job.Workloads {
		if d, ok := e.decided[w.ID]; ok {
			before[w.ID] = d
		}
	}
	e.mu.Unlock()
	var index uint64
	defer func() {
		e.mu.Lock()
		delete(e.flights, s.job.ID)
		e.done[s.job.ID] = max(e.done[s.job.ID], index)
		e.mu.Unlock()
	}()
	after := maps.Clone(before)
	if decision != nil && decision.Outcome == cluster.Placed {
		after[as.ID] = *decision
	}
	e.record(ctx, ours(after, s.job.Version, as), nil)
	result, err := e.live.adjuster.Adjust(ctx, change)
	if err != nil {
		e.record(ctx, slices.Collect(maps.Values(before)), nil)
		return err
	}
	index = result.ModifyIndex
	return nil
}

// ours are the decisions as those of a version we write next.
func ours(decisions map[cluster.WorkloadID]cluster.Decision, version uint64, as cluster.Workload) []cluster.Decision {
	var out []cluster.Decision
	for _, id := range sortedIDs(decisions) {
		d := decisions[id]
		d.JobVersion = max(d.JobVersion, version)
		if id == as.ID {
			d.Count = as.Count
		}
		out = append(out, d)
	}
	return out
}

// do carries out one action: at rest times and without tokens it does nothing; what
// it begins is on record before it is begun, and as it ended after.
func (e *Engine) do(ctx context.Context, s subject, r cluster.ActionRecord, writes, moves *bucket, f func(context.Context) error) error {
	now := e.cfg.Clock.Now()
	r.At = now
	doc, err := e.doc(ctx, r.Workload)
	if err != nil {
		return err
	}
	if resting(doc.Actions, now) {
		return refuse("it rests after the last change")
	}
	if !takeBoth(writes, moves, now) {
		e.cfg.Log.Info("adaptation waits for a token", "workload", r.Workload.String(), "kind", r.Kind)
		return refuse("too many changes at a time")
	}
	r.Result = actionUnderWay
	if err := e.remember(ctx, r.Workload, func(d *actions) { d.Actions = append(d.Actions, r) }); err != nil {
		return err
	}
	err = f(ctx)
	r.Result = actionDone
	if err != nil {
		r.Result = err.Error()
	}
	e.live.counted(r.Kind, err)
	e.cfg.Log.Info("adaptation", "workload", r.Workload.String(), "kind", r.Kind, "from", r.From, "to", r.To, "reason", r.Reason, "result", r.Result)
	kept := e.remember(context.WithoutCancel(ctx), r.Workload, func(d *actions) {
		n := len(d.Actions)
		if n == 0 {
			return
		}
		d.Actions[n-1] = r
		if err != nil && said(d.Actions[:n-1], r) {
			d.Actions = d.Actions[:n-1]
		}
	})
	if errors.Is(err, cluster.ErrBusy) || errors.Is(err, cluster.ErrStale) {
		writes.give()
		if moves != nil {
			moves.give()
		}
		e.soon(s.workload.ID)
	}
	return errors.Join(err, kept)
}

// soon lets the adapter judge a workload anew: what it wanted was only put off.
func (e *Engine) soon(id cluster.WorkloadID) {
	if ref, ok := e.live.refs[id]; ok && e.live.adapter != nil {
		e.live.adapter.Forget(ref)
	}
}

// said reports that the same was recorded a while ago already.
func said(records []cluster.ActionRecord, r cluster.ActionRecord) bool {
	return slices.ContainsFunc(records, func(o cluster.ActionRecord) bool {
		return o.Kind == r.Kind && o.Result == r.Result && r.At.Sub(o.At) < refusalRepeatAfter
	})
}

// resting: something was done, or begun, a short while ago.
func resting(records []cluster.ActionRecord, now time.Time) bool {
	for _, r := range records {
		if (r.Result == actionDone || r.Result == actionUnderWay) && now.Sub(r.At) < restAfterAction {
			return true
		}
	}
	return false
}

// refused records why something was not done, once in a while.
func (e *Engine) refused(ctx context.Context, r cluster.ActionRecord, why error) {
	r.At, r.Result = e.cfg.Clock.Now(), why.Error()
	e.live.counted(r.Kind, why)
	doc, err := e.doc(ctx, r.Workload)
	if err != nil {
		e.cfg.Log.Warn("reading actions", "workload", r.Workload.String(), "error", err)
		return
	}
	if said(doc.Actions, r) {
		return
	}
	e.cfg.Log.Info("adaptation", "workload", r.Workload.String(), "kind", r.Kind, "reason", r.Reason, "result", r.Result)
	if err := e.remember(ctx, r.Workload, func(d *actions) { d.Actions = append(d.Actions, r) }); err != nil {
		e.cfg.Log.Warn("recording an action", "workload", r.Workload.String(), "error", err)
	}
}

// doc is what was done to a workload, read from the book once a term.
func (e *Engine) doc(ctx context.Context, id cluster.WorkloadID) (actions, error) {
	if doc, ok := e.live.docs[id]; ok {
		return doc, nil
	}
	doc, err := e.book.actions(ctx, id)
	if err != nil {
		return doc, fmt.Errorf("reading what was done to %s: %w", id, err)
	}
	e.live.docs[id] = doc
	return doc, nil
}

// remember changes what is on record of a workload.
func (e *Engine) remember(ctx context.Context, id cluster.WorkloadID, change func(*actions)) error {
	doc, err := e.book.changeActions(ctx, id, change)
	if err != nil {
		return fmt.Errorf("recording what was done to %s: %w", id, err)
	}
	e.live.docs[id] = doc
	return nil
}

// counted adds an action to the counts.
func (a *adapting) counted(kind string, err error) {
	result := cluster.ActionDone
	switch {
	case err == nil:
	case tolerated(err) == nil:
		result = cluster.ActionRefused
	default:
		result = cluster.ActionFailed
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Actions[cluster.ActionCount{Kind: kind, Result: result}]++
}
