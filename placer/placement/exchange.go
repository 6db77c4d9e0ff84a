package placement

import (
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Bounds of the search for a better arrangement (chosen by us): a larger cluster has
// quiet nodes for one job after the other, and every other job waits meanwhile.
const (
	arrangedJobs  = 16
	arrangedNodes = 16
	arrangedTries = 2000 // arrangements, of some 50 microseconds each
)

// asFast is the part of the highest predicted rate from which on a place counts as just
// as fast, where none reaches the target (chosen by us: less is noise). Whether a target
// is reached, performance.Target says.
const asFast = 0.95

// spot is a place that a job could have: nodes, and what its policy would decide if it
// had no others and none of the jobs submitted together were there.
type spot struct {
	nodes     []cluster.NodeID
	decisions []cluster.Decision
}

// arrangement looks for better places of jobs that were submitted together: one spot for
// each, which it tries by moving their reservations.
type arrangement struct {
	placer    *Placer
	objective policy.Objective
	snapshot  *cluster.Snapshot
	jobs      []*placement
	spots     [][]spot // by job; the first is the one it has
	at        []int    // by job, its spot
	all       []cluster.NodeID
	empty     *board.Board                    // without the jobs
	disks     map[cluster.NodeID]disk.Account // without the jobs, of nodes that say what their disk does
	tries     int
}

// arrange swaps the nodes of jobs that were decided on together, where a QoS violation is
// predicted and another arrangement has fewer. Decided on again one by one, each stays
// where it is as long as no other has moved: two jobs that each violate a bound on the
// other's node must be swapped in one step. Which places there are, and whether a job
// reaches its target there, its own policy says.
func (pl *Placer) arrange(s *cluster.Snapshot, decided []*placement) {
	if len(decided) < 2 || len(decided) > arrangedJobs || len(s.Nodes) > arrangedNodes {
		return
	}
	a := arrangement{placer: pl, objective: pl.objective(decided), snapshot: s, jobs: decided, at: make([]int, len(decided))}
	for _, n := range s.Nodes {
		a.all = append(a.all, n.ID)
	}
	before := a.violations()
	if before.Count == 0 {
		return
	}
	a.listSpots()
	if !a.search(before) || !a.settle(before) {
		a.move(make([]int, len(decided)))
	}
}

func (a *arrangement) violations() policy.Violations {
	return a.objective(a.snapshot, a.all, a.placer.cfg.Estimator.Columns())
}

// listSpots lists the spots of each job, and leaves all where they are.
func (a *arrangement) listSpots() {
	for _, p := range a.jobs {
		p.undo()
	}
	a.empty = board.FromSnapshot(a.snapshot, a.placer.cfg.Estimator.Columns(), cluster.WorkloadID{})
	a.disks = map[cluster.NodeID]disk.Account{}
	for _, n := range a.snapshot.Nodes {
		if account, err := a.snapshot.DiskAccount(n, cluster.WorkloadID{}); err == nil {
			a.disks[n.ID] = account
		}
	}
	for _, p := range a.jobs {
		a.spots = append(a.spots, a.spotsOf(p))
	}
	for _, p := range a.jobs {
		p.undo = reserveAll(a.snapshot, p.decisions)
	}
}

func (a *arrangement) spotsOf(p *placement) []spot {
	out := []spot{{nodes: distinct(nodesIn(p.decisions)), decisions: p.decisions}}
	var others []spot
	for _, nodes := range combinations(a.all, allocationsOf(p.decisions)) {
		if sameNodes(nodes, out[0].nodes) {
			continue
		}
		decisions, undo, err := a.placer.decideOn(onlyOn(a.snapshot, nodes), p.job, p.known)
		undo()
		if err == nil && FirstQueued(decisions) == nil && sameNodes(nodesIn(decisions), nodes) {
			others = append(others, spot{nodes, decisions})
		}
	}
	return append(out, fastSpots(p, others)...)
}

// combinations are each node, and for more allocations than one each two of them.
func combinations(nodes []cluster.NodeID, allocations int) [][]cluster.NodeID {
	var out [][]cluster.NodeID
	for i, n := range nodes {
		out = append(out, []cluster.NodeID{n})
		if allocations < 2 {
			continue
		}
		for _, m := range nodes[i+1:] {
			out = append(out, []cluster.NodeID{n, m})
		}
	}
	return out
}

func allocationsOf(decisions []cluster.Decision) int {
	n := 0
	for _, d := range decisions {
		n += d.Count
	}
	return n
}

func distinct(nodes []cluster.NodeID) []cluster.NodeID {
	return slices.Compact(slices.Sorted(slices.Values(nodes)))
}

// sameNodes compares the distinct nodes of both.
func sameNodes(a, b []cluster.NodeID) bool { return slices.Equal(distinct(a), distinct(b)) }

// fastSpots are the spots at which each group is fast enough.
func fastSpots(p *placement, spots []spot) []spot {
	best := make([]float64, len(p.decisions))
	for _, s := range spots {
		for i, d := range s.decisions {
			best[i] = max(best[i], predictedRate(d))
		}
	}
	return slices.DeleteFunc(spots, func(s spot) bool {
		for i, d := range s.decisions {
			if !fastEnough(p.known[i].Workload.Spec, predictedRate(d), best[i]) {
				return true
			}
		}
		return false
	})
}

// fastEnough reports whether a group is predicted to reach its target at a rate or, where
// it would not at the best of its spots either, to be about as fast as there.
func fastEnough(spec performance.Spec, rate, best float64) bool {
	if want, ok := spec.Rate(); ok && spec.Target.PredictedMet(best, want) {
		return spec.Target.PredictedMet(rate, want)
	}
	return rate >= asFast*best
}

// predictedRate is what a decision expects; 0 where it is unknown.
func predictedRate(d cluster.Decision) float64 {
	if !d.Predicted.Known {
		return 0
	}
	return d.Predicted.RatePerSec
}

// search looks for the best arrangement, among all of them where these are few, and reports
// whether it found a better one.
func (a *arrangement) search(least policy.Violations) (moved bool) {
	if a.possible() <= arrangedTries {
		return a.searchAll(least)
	}
	return a.searchNear(least)
}

// possible counts the arrangements, up to a number above the bound.
func (a *arrangement) possible() int {
	n := 1
	for _, spots := range a.spots {
		if n *= len(spots); n > arrangedTries {
			break
		}
	}
	return n
}

// searchAll tries every arrangement: where room is short, the best one may differ from the
// first in the places of three jobs or more.
func (a *arrangement) searchAll(least policy.Violations) bool {
	best, next := slices.Clone(a.at), make([]int, len(a.jobs))
	for a.following(next) {
		if !a.fits(next) {
			continue
		}
		a.move(slices.Clone(next))
		if violations := a.violations(); violations.Less(least) {
			best, least = slices.Clone(next), violations
		}
	}
	a.move(best)
	return slices.Max(best) > 0
}

// following goes on to the next arrangement, and reports whether there is one.
func (a *arrangement) following(at []int) bool {
	for i := range at {
		if at[i]++; at[i] < len(a.spots[i]) {
			return true
		}
		at[i] = 0
	}
	return false
}

// searchNear goes from one arrangement to a better one that differs in the place of one job or
// of two, as long as there is one. It reports whether it found any.
func (a *arrangement) searchNear(least policy.Violations) (moved bool) {
	for better := true; better; {
		better = false
		for i := range a.jobs {
			for j := i; j < len(a.jobs); j++ {
				if violations, ok := a.exchange(i, j, least); ok {
					least, better, moved = violations, true, true
				}
			}
		}
	}
	return moved
}

// exchange tries all places of two jobs, or of one with itself, and keeps the best.
func (a *arrangement) exchange(i, j int, least policy.Violations) (policy.Violations, bool) {
	best, found := slices.Clone(a.at), false
	for x := range a.spots[i] {
		for y := range a.spots[j] {
			next := slices.Clone(best)
			next[i], next[j] = x, y
			if i == j && x != y || slices.Equal(next, best) || a.tries >= arrangedTries || !a.fits(next) {
				continue
			}
			a.tries++
			a.move(next)
			if violations := a.violations(); violations.Less(least) {
				best, least, found = next, violations, true
			}
		}
	}
	a.move(best)
	return least, found
}

// move reserves the spots of an arrangement in place of those that are reserved.
func (a *arrangement) move(to []int) {
	for i, p := range a.jobs {
		if a.at[i] != to[i] {
			p.undo()
			p.undo = reserveAll(a.snapshot, a.spots[i][to[i]].decisions)
		}
	}
	a.at = to
}

// fits reports whether the nodes have room for an arrangement, and their disks the bandwidth.
func (a *arrangement) fits(at []int) bool {
	held, disks := map[cluster.NodeID]cluster.Resources{}, maps.Clone(a.disks)
	for i := range a.jobs {
		for _, d := range a.spots[i][at[i]].decisions {
			for _, allocation := range reservedFor(d) {
				held[allocation.Node] = held[allocation.Node].Add(allocation.Resources)
				account, counted := disks[allocation.Node]
				if d.Disk == nil || !counted {
					continue
				}
				if !account.Takes(d.Disk.Promise) {
					return false
				}
				account.Add(d.Disk.Promise)
				disks[allocation.Node] = account
			}
		}
	}
	for i, n := range a.all {
		if sum, ok := held[n]; ok && !a.empty.Fits(board.Index(i), sum) {
			return false
		}
	}
	return true
}

// settle has the policies decide on the jobs that moved, now that all are there, and
// reports whether that is still better. If not, the caller moves all back.
func (a *arrangement) settle(before policy.Violations) bool {
	next := make([][]cluster.Decision, len(a.jobs))
	ok := true
	for i, p := range a.jobs {
		next[i] = p.decisions
		if a.at[i] == 0 || !ok {
			continue
		}
		nodes := a.spots[i][a.at[i]].nodes
		p.undo()
		decisions, undo, err := a.placer.decideOn(onlyOn(a.snapshot, nodes), p.job, p.known)
		undo()
		p.undo = reserveAll(a.snapshot, a.spots[i][a.at[i]].decisions)
		if ok = err == nil && FirstQueued(decisions) == nil && sameNodes(nodesIn(decisions), nodes); ok {
			next[i] = a.explained(decisions, p.decisions, nodes)
		}
	}
	if !ok || !a.violations().Less(before) {
		return false
	}
	var stayed []*placement
	for i, p := range a.jobs {
		p.undo()
		p.decisions, p.undo = next[i], reserveAll(a.snapshot, next[i])
		if a.at[i] == 0 {
			stayed = append(stayed, p)
		}
	}
	a.placer.describeAgain(a.snapshot, stayed)
	return true
}

// explained says of the nodes that a job was not offered why. Where it would have gone
// by itself stays as a last resort, should its own node go down before it starts.
func (a *arrangement) explained(decisions, before []cluster.Decision, offered []cluster.NodeID) []cluster.Decision {
	for i := range decisions {
		d := &decisions[i]
		d.Reason += "; the jobs submitted together were arranged so that the fewest are expected to miss their target"
		inReserve := map[cluster.NodeID]bool{}
		for _, c := range before[i].Candidates {
			// With more allocations than nodes, some would start on a node in reserve.
			if !slices.Contains(offered, c.Node) && d.Count <= len(offered) {
				c.Score, c.Why = 0, "in reserve: without the jobs submitted together, "+c.Why
				d.Candidates = append(d.Candidates, c)
				inReserve[c.Node] = true
			}
		}
		for _, n := range a.snapshot.Nodes {
			if slices.Contains(offered, n.ID) || !a.ready(n.ID) {
				continue
			}
			d.RejectedBy[cluster.RejectNotReady]--
			if !inReserve[n.ID] {
				d.RejectedBy[cluster.RejectTogether]++
			}
		}
		maps.DeleteFunc(d.RejectedBy, func(_ cluster.RejectReason, n int) bool { return n == 0 })
		d.Rejected = slices.DeleteFunc(d.Rejected, func(r cluster.Rejection) bool { return inReserve[r.Node] })
		for k := range d.Rejected {
			if r := &d.Rejected[k]; r.Reason == cluster.RejectNotReady && a.ready(r.Node) {
				r.Reason = cluster.RejectTogether
			}
		}
	}
	return decisions
}

func (a *arrangement) ready(node cluster.NodeID) bool {
	return a.empty.Ready(board.Index(slices.Index(a.all, node)))
}

// onlyOn is the snapshot with no other nodes ready.
func onlyOn(s *cluster.Snapshot, nodes []cluster.NodeID) *cluster.Snapshot {
	avoid := map[cluster.NodeID]bool{}
	for _, n := range s.Nodes {
		avoid[n.ID] = !slices.Contains(nodes, n.ID)
	}
	return WithoutNodes(s, avoid)
}
