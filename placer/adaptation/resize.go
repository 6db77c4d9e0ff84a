package adaptation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// memoryTight is the share of its memory from which on an allocation may want more
// (chosen by us).
const memoryTight = 0.8

// tight reports whether an allocation's use of memory is near a size, as last seen;
// known is false where it was not.
func (w *watched) tight(allocation string, memoryMB int) (tight, known bool) {
	use := w.last[allocation].Use
	if use == nil {
		return false, false
	}
	return use.MemoryBytes >= memoryTight*float64(memoryMB)*(1<<20), true
}

// leastTransferMHz is the least CPU that is transferred (chosen by us). The first transfer
// may be small: with it come short turns on the CPU, which help by themselves.
const leastTransferMHz = 5

// isTransferredCPU tells a transfer of CPU from one of memory, which comes with as little
// CPU as Nomad allows.
func isTransferredCPU(allocation cluster.Allocation) bool {
	return allocation.Transferred.CPUMHz >= leastTransferMHz
}

// worth reports whether so much more is worth a transfer. One replaces another only where
// it doubles that: the tasks of a transfer start on the node on which a tail latency is too
// long already, and take some tenths of a second of its CPU.
func worth(allocation cluster.Allocation, mhz int) bool {
	return mhz >= leastTransferMHz && (!isTransferredCPU(allocation) || mhz >= allocation.Transferred.CPUMHz)
}

// canDoWithout reports whether an allocation may do without what is transferred to it: memory
// that it does not use, and CPU once it has no co-runner. That it reaches its target now is
// no reason, since it may do so because of the transfer.
func (w *watched) canDoWithout(sc *scene, handle board.Handle) bool {
	allocation := sc.allocation(handle)
	tight, _ := w.tight(allocation.ID, allocation.Given().MemoryMB)
	return allocation.Transferred != (cluster.Resources{}) && !tight && !(isTransferredCPU(allocation) && sc.hasCoRunner(handle))
}

// hasCoRunner reports whether an allocation has a co-runner on its node that is no system job.
// Those on other nodes of the machine do not count: a transfer changes how the node divides its
// own CPU time, not how much of it the machine gives to the node.
func (sc *scene) hasCoRunner(handle board.Handle) bool {
	return slices.ContainsFunc(sc.board.Residents(sc.node(handle)), func(r board.Resident) bool {
		return r.Handle != handle && !sc.allocation(r.Handle).System
	})
}

// resize changes the size of a running allocation, as the adapter wants it.
func (c *Controller) resize(ctx context.Context, s subject, allocation cluster.Allocation, a adapt.Action) error {
	return tolerated(c.transfer(ctx, s, allocation, a.Size, adapt.Resize, a.Reason))
}

// tryResize begins to give a running allocation the next memory that its user allows,
// where it may need some, or else unreserved CPU. Where only cores could be more it says,
// once in a while, that they cannot be given while it runs.
func (c *Controller) tryResize(ctx context.Context, sc *scene, s subject, reason string) (begun bool, err error) {
	allocation, want, ok := c.moreMemory(sc, s)
	if !ok {
		allocation, want, ok = c.moreCPU(sc, s)
		ok = ok && sc.suffices(s, allocation, want)
	}
	if ok {
		err := c.transfer(ctx, s, allocation, want, adapt.Resize, reason)
		return err == nil, tolerated(err)
	}
	allocation = firstAllocation(sc, s.workload.ID)
	want = allocation.Resources
	for _, c := range s.workload.Spec.Scale.Cores {
		want.Cores = max(want.Cores, c)
	}
	if allocation.ID == "" || want == allocation.Resources {
		return false, nil
	}
	err = c.live.adjuster.Resize(ctx, s.workload.ID, allocation.ID, want)
	if err != nil {
		c.live.refused(ctx, resizing(s, allocation, want, adapt.Resize, reason), err)
	}
	return err == nil, nil
}

// moreMemory is an allocation that may have more memory than it has, and the least
// that is more. One that does not use what it has wants none, and one that could not
// be given any is left alone for a while.
func (c *Controller) moreMemory(sc *scene, s subject) (cluster.Allocation, cluster.Resources, bool) {
	w := c.live.watch(s.workload.ID)
	for _, handle := range sc.handles[s.workload.ID] {
		allocation := sc.allocation(handle)
		if c.cfg.Clock.Now().Before(w.noTransfer[allocation.ID]) {
			continue
		}
		if tight, known := w.tight(allocation.ID, allocation.Resources.MemoryMB); known && !tight {
			continue
		}
		own := allocation.Resources.MemoryMB - s.workload.Sizable.Others.MemoryMB
		if next := nextCount(s.workload.Spec.Scale.MemoryMB, own+1); next > own {
			want := allocation.Resources
			want.MemoryMB += next - own
			return allocation, want, true
		}
	}
	return cluster.Allocation{}, cluster.Resources{}, false
}

// moreCPU is an allocation with a target whose node has unreserved CPU, and the size that
// it should get: twice its CPU, but with no more than half of what is unreserved, since
// others may need some, too. A node divides its CPU time by what its allocations reserve:
// one that waits between requests or items needs little, but needs it at once, and queues
// behind those that never wait. The others keep what they reserved.
func (c *Controller) moreCPU(sc *scene, s subject) (cluster.Allocation, cluster.Resources, bool) {
	if s.workload.Spec.Target.Kind == performance.BestEffort {
		return cluster.Allocation{}, cluster.Resources{}, false
	}
	w := c.live.watch(s.workload.ID)
	for _, handle := range sc.handles[s.workload.ID] {
		allocation := sc.allocation(handle)
		if allocation.Resources.Cores > 0 || !sc.hasCoRunner(handle) || c.cfg.Clock.Now().Before(w.noTransfer[allocation.ID]) {
			continue
		}
		free := sc.board.FreeMHz(sc.node(handle))
		if more := max(min(allocation.Resources.CPUMHz, free/2), min(leastTransferMHz, free)); worth(allocation, more) {
			want := allocation.Resources
			want.CPUMHz += more
			return allocation, want, true
		}
	}
	return cluster.Allocation{}, cluster.Resources{}, false
}

// suffices reports whether a transfer can be enough for the target: a rate grows at most as
// the share of the CPU does. A tail may shrink by any factor.
func (sc *scene) suffices(s subject, allocation cluster.Allocation, want cluster.Resources) bool {
	if s.workload.Spec.Target.Latency != nil {
		return true
	}
	replicas := float64(max(1, len(sc.handles[s.workload.ID])))
	faster := (replicas - 1 + float64(want.CPUMHz)/float64(max(1, allocation.Resources.CPUMHz))) / replicas
	return sc.share(s.workload.ID)*faster >= 1 // not where its share is not known
}

// newcomerFor is for how long an allocation counts as one that has just come (chosen by us).
const newcomerFor = 2 * time.Minute

// transferCPU begins to give unreserved CPU to allocations with a target and co-runners,
// where one of them has just come. It costs no workload anything, so it waits neither for
// more windows nor for other actions. Later one slow window may pass by itself, and the
// adapter judges it.
func (c *Controller) transferCPU(ctx context.Context, sc *scene) error {
	var errs []error
	for _, id := range sortedIDs(sc.running) {
		s := sc.running[id]
		allocation, want, ok := c.moreCPU(sc, s)
		if !ok {
			continue
		}
		handle := sc.handleOf(allocation)
		if why := sc.needsCPU(handle); why != "" && c.hasNewcomer(sc, handle) {
			errs = append(errs, tolerated(c.transfer(ctx, s, allocation, want, adapt.Resize, why)))
		}
	}
	return errors.Join(errs...)
}

// handleOf finds an allocation of the scene.
func (sc *scene) handleOf(allocation cluster.Allocation) board.Handle {
	list := sc.handles[allocation.Workload]
	return list[slices.IndexFunc(list, func(handle board.Handle) bool { return sc.allocation(handle).ID == allocation.ID })]
}

// needsCPU is why an allocation should get CPU now: it missed its target in this window,
// or nothing is measured yet and its tail latency is predicted to be missed. Empty where
// it should not.
func (sc *scene) needsCPU(handle board.Handle) string {
	allocation := sc.allocation(handle)
	share, measured := sc.windows[allocation.Workload]
	switch {
	case measured && share < adapt.Defaults().Below:
		return fmt.Sprintf("at %.0f %% of its target", 100*share)
	case !measured && !isTransferredCPU(allocation) && sc.running[allocation.Workload].workload.Spec.Target.Latency != nil && sc.violated(handle):
		return "predicted to experience more pressure than its tolerance at target"
	}
	return ""
}

// violated is that prediction, where no score is assumed.
func (sc *scene) violated(handle board.Handle) bool {
	residents := sc.board.MachineResidents(sc.node(handle))
	i := slices.IndexFunc(residents, func(r board.Resident) bool { return r.Handle == handle })
	return i >= 0 && !residents[i].Assumed && policy.Violates(sc.board.Columns, residents, i)
}

// hasNewcomer reports whether an allocation on the machine has just come.
func (c *Controller) hasNewcomer(sc *scene, handle board.Handle) bool {
	now := c.cfg.Clock.Now()
	return slices.ContainsFunc(sc.board.MachineResidents(sc.node(handle)), func(r board.Resident) bool {
		return now.Sub(c.live.since(sc.allocation(r.Handle).ID)) < newcomerFor
	})
}

// reviewCPU takes back transferred CPU from allocations that have no co-runner any more.
// An adapter would not: a service with few requests does not look as if it had too much.
func (c *Controller) reviewCPU(ctx context.Context, sc *scene) error {
	var errs []error
	for _, id := range sortedIDs(sc.running) {
		s := sc.running[id]
		w := c.live.watch(id)
		for _, handle := range sc.handles[id] {
			if allocation := sc.allocation(handle); isTransferredCPU(allocation) && w.canDoWithout(sc, handle) {
				errs = append(errs, c.returnTransfer(ctx, s, allocation, "no other workload is on its machine"))
				break // one at a time: the job is under evaluation meanwhile
			}
		}
	}
	return errors.Join(errs...)
}

// returnTransfer ends what is transferred to an allocation, well after it was transferred.
func (c *Controller) returnTransfer(ctx context.Context, s subject, allocation cluster.Allocation, reason string) error {
	doc, err := c.live.doc(ctx, s.workload.ID)
	if err != nil || c.cfg.Clock.Now().Before(maySettle(doc.Actions)) {
		return err
	}
	return tolerated(c.transfer(ctx, s, allocation, allocation.Given(), adapt.Shrink, reason))
}

// transfer begins to resize an allocation. That takes a world seconds, for which no pass
// waits: the job counts as under evaluation meanwhile, and a later pass hears how it
// ended.
func (c *Controller) transfer(ctx context.Context, s subject, allocation cluster.Allocation, to cluster.Resources, kind adapt.Kind, reason string) error {
	ctx, land, begun := c.cfg.Evaluations.Begin(ctx, s.job)
	if !begun {
		return errUnderEvaluation
	}
	record := resizing(s, allocation, to, kind, reason)
	end, err := c.live.begin(ctx, s, record, c.live.writes, nil)
	if err != nil {
		land(0)
		return err
	}
	live := c.live
	c.resizes.Go(func() {
		err := live.adjuster.Resize(ctx, s.workload.ID, allocation.ID, to)
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("the job was changed or stopped meanwhile: %w", cluster.ErrStale)
		}
		if err == nil {
			c.noteResize(ctx, record)
		}
		live.reportLater(s.workload.ID, func(ctx context.Context) error {
			if errors.Is(err, cluster.ErrImpossible) {
				live.cannotTransfer(s.workload.ID, allocation.ID, c.cfg.Clock.Now())
				c.live.judgeAnew(s.workload.ID) // so that it asks for the next kind of action
			}
			return tolerated(end(ctx, err))
		})
		land(0)
	})
	return nil
}

// noteResize says at the job what nothing else shows there: a resize makes no version.
func (c *Controller) noteResize(ctx context.Context, r cluster.ActionRecord) {
	text := fmt.Sprintf("%s has %s instead of %s while it runs: %s", r.Workload.Group, r.To, r.From, r.Reason)
	if err := c.cfg.World.Note(ctx, r.Workload, text, false); err != nil && ctx.Err() == nil {
		c.cfg.Log.Warn("noting a resize", "workload", r.Workload.String(), "error", err)
	}
}

// reported is how something ended that was begun in an earlier pass.
type reported struct {
	workload cluster.WorkloadID
	end      func(context.Context) error
}

// reportLater keeps an end for the next pass, which owns what is remembered.
func (a *term) reportLater(id cluster.WorkloadID, end func(context.Context) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = append(a.ended, reported{id, end})
}

// hear takes in what has ended since the last pass. A job that is gone has no record
// any more, and gets none.
func (a *term) hear(ctx context.Context, jobs []cluster.Job) error {
	a.mu.Lock()
	ended := a.ended
	a.ended = nil
	a.mu.Unlock()
	var errs []error
	for _, t := range ended {
		if slices.ContainsFunc(jobs, func(j cluster.Job) bool { return j.ID == t.workload.JobID() }) {
			errs = append(errs, t.end(ctx))
		}
	}
	return errors.Join(errs...)
}

// cannotTransfer remembers for a while that an allocation cannot be given more.
func (a *term) cannotTransfer(id cluster.WorkloadID, allocation string, now time.Time) {
	refused := a.watch(id).noTransfer
	maps.DeleteFunc(refused, func(_ string, until time.Time) bool { return until.Before(now) })
	refused[allocation] = now.Add(refusalRepeatAfter)
}

func resizing(s subject, allocation cluster.Allocation, to cluster.Resources, kind adapt.Kind, reason string) cluster.ActionRecord {
	return cluster.ActionRecord{
		Workload: s.workload.ID, Kind: string(kind), Allocation: allocation.ID,
		From: sizeText(allocation.Resources), To: sizeText(to), Reason: reason,
	}
}

func sizeText(r cluster.Resources) string {
	if r.Cores > 0 {
		return fmt.Sprintf("%d cores, %d MB", r.Cores, r.MemoryMB)
	}
	return fmt.Sprintf("%d MHz, %d MB", r.CPUMHz, r.MemoryMB)
}
