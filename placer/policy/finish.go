package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// The spread of scores over the shortlist (chosen by us). Nomad sees them in nested
// buckets, so the nodes that allocations are meant for have the highest bucket to
// themselves.
const (
	scoreWanted   = 1.0
	scoreGoodHigh = 0.9
	scoreGoodLow  = 0.5
	scoreRestHigh = 0.4
	scoreRestLow  = 0.1
)

// finish assigns the allocations, cuts the shortlist and writes the decision (step 6). Where
// the policy says that the group waits, nothing is placed.
func (v *candidateSet) finish(d *cluster.Decision, r ranking) {
	if r.waits != "" {
		d.Outcome, d.Reason = cluster.Queued, r.waits
		for _, n := range r.nodes {
			n.tier = max(n.tier, slower) // none is good
			n.reject.Reason = cmp.Or(n.reject.Reason, cluster.RejectInterference)
		}
		v.reject(d, r)
		return
	}
	v.reject(d, r)
	d.Relaxed = r.relaxed
	replicas := v.assign(r)
	list := v.shortlist(r, replicas)
	if missing := v.stranded(r, list); missing > 0 {
		d.Outcome = cluster.Stock
		d.Reason = fmt.Sprintf("a shortlist of %d nodes has no room for %d of %d allocations, but the whole cluster has: the choice is left to stock Nomad",
			len(list), missing, v.Workload.Count)
		return
	}
	d.Outcome = cluster.Placed
	d.Predicted = v.group(r, replicas)
	v.recordTolerance(d, r, replicas)
	v.facts.violates = v.anyViolation(r, replicas)
	for _, c := range list {
		d.Candidates = append(d.Candidates, v.candidate(r, c, replicas[c.index]))
	}
	v.explainGroup(d, r, replicas)
}

// assign gives each allocation a node: those that the policy chose itself, then distinct
// good ones, then good ones again where the group may share a node, then slower ones
// likewise, then distinct ones with a violation, then wherever there is room. The result
// is the number of allocations for each node of the ranking.
func (v *candidateSet) assign(r ranking) []int {
	replicas := make([]int, len(r.nodes))
	left := v.Workload.Count
	for i, n := range r.preset {
		replicas[i] = min(n, r.nodes[i].candidate.room, left)
		left -= replicas[i]
	}
	// round gives each node of the tiers that wants one an allocation, and
	// reports whether any did.
	round := func(from, to tier, wants func(i int) bool) bool {
		before := left
		for i, n := range r.nodes {
			if left > 0 && n.tier >= from && n.tier <= to && replicas[i] < n.candidate.room && wants(i) {
				replicas[i]++
				left--
			}
		}
		return left < before
	}
	empty := func(i int) bool { return replicas[i] == 0 }
	fine := func(i int) bool {
		return empty(i) || r.together == nil || r.together(r.nodes[i].candidate, replicas[i])
	}
	for round(good, good, fine) {
		continue
	}
	for round(slower, slower, fine) {
		continue
	}
	round(violating, violating, empty)
	for round(good, violating, func(int) bool { return true }) {
		continue
	}
	v.facts.missing = left
	if left > 0 {
		v.warn("there is room for %d of %d allocations now; the others wait", v.Workload.Count-left, v.Workload.Count)
	}
	return replicas
}

// anyViolation reports whether a bound breaks on a node that got an allocation: of a
// resident or of the newcomer, whose own allocations count as co-runners.
func (v *candidateSet) anyViolation(r ranking, replicas []int) bool {
	for i, n := range replicas {
		if n == 0 {
			continue
		}
		o := r.nodes[i].candidate
		v.press(o)
		pressure := v.withReplicas(o, n-1)
		for k := range v.Columns {
			if o.tolerated[k]-float64(n)*o.exerted[k] < -epsilonPoints || o.tolerance.Tolerated[k]-Live().experienced(pressure[k]) < -epsilonPoints {
				return true
			}
		}
	}
	return false
}

// listed is a node of the shortlist.
type listed struct {
	index    int // in the ranking
	score    float64
	fallback bool
}

// shortlist is the nodes that the decision allows Nomad, best first: those that got an
// allocation, then other good ones, then the rest until there are enough
// (cluster.ShortlistLength).
func (v *candidateSet) shortlist(r ranking, replicas []int) []listed {
	var wanted, more, rest []int
	for i, n := range r.nodes {
		switch {
		case replicas[i] > 0:
			wanted = append(wanted, i)
		case n.tier == good:
			more = append(more, i)
		default:
			rest = append(rest, i)
		}
	}
	least, most := cluster.ShortlistLength(v.Workload.Count)
	wanted = wanted[:min(len(wanted), most)]
	more = more[:min(len(more), most-len(wanted))]
	rest = rest[:min(len(rest), max(0, least-len(wanted)-len(more)))]
	var out []listed
	add := func(indexes []int, high, low float64, fallback bool) {
		for k, i := range indexes {
			out = append(out, listed{i, high - (high-low)*float64(k)/float64(max(1, len(indexes)-1)), fallback})
		}
	}
	add(wanted, scoreWanted, scoreWanted, false)
	add(more, scoreGoodHigh, scoreGoodLow, false)
	add(rest, scoreRestHigh, scoreRestLow, true)
	return out
}

// stranded is how many allocations have room on other candidates, and none on the
// shortlist.
func (v *candidateSet) stranded(r ranking, list []listed) int {
	total, inside := 0, 0
	for _, n := range r.nodes {
		total += n.candidate.room
	}
	for _, c := range list {
		inside += r.nodes[c.index].candidate.room
	}
	return max(0, min(v.Workload.Count, total)-inside)
}

// group adds up the predictions of all allocations. Where one is unknown, the sum is.
func (v *candidateSet) group(r ranking, replicas []int) cluster.Prediction {
	sum := cluster.Prediction{Known: true, Unit: v.unit}
	for i, n := range replicas {
		if n == 0 {
			continue
		}
		p := v.predictShared(r.nodes[i].candidate, n)
		sum.Known = sum.Known && p.Known
		sum.RatePerSec += float64(n) * p.RatePerSec
		sum.Low += float64(n) * p.Low
		sum.High += float64(n) * p.High
	}
	if !sum.Known {
		return cluster.Prediction{Unit: v.unit}
	}
	return sum
}

// predictShared is the prediction of each of n allocations of the group on one
// node.
func (v *candidateSet) predictShared(o *candidate, n int) cluster.Prediction {
	if n <= 1 {
		v.press(o)
		return o.predicted
	}
	return v.predict(o, v.withReplicas(o, n-1))
}

// explainGroup writes the decision's reason and the warnings about its target.
func (v *candidateSet) explainGroup(d *cluster.Decision, r ranking, replicas []int) {
	qualify, mostOnOne := 0, 0
	for i, n := range replicas {
		if r.nodes[i].tier == good {
			qualify++
		}
		mostOnOne = max(mostOnOne, n)
	}
	d.Reason = fmt.Sprintf("%s; %d of %s with room qualified", r.reason, qualify, wording.Count(len(r.nodes), "node"))
	if mostOnOne > 1 {
		v.warn("up to %d allocations of the group share a node and interfere with each other", mostOnOne)
	}
	v.judgeTarget(d)
}

// judgeTarget says whether the group is expected to reach its target.
func (v *candidateSet) judgeTarget(d *cluster.Decision) {
	if v.need == 0 {
		return
	}
	target := v.need * float64(v.Workload.Count)
	switch p := d.Predicted; {
	case !p.Known:
		v.warn("it cannot be predicted whether the target of %s %s is reached", wording.Number(target), v.unit)
	case !v.Workload.Spec.Target.PredictedMet(p.RatePerSec, target):
		v.warn("the target of %s %s is not reached on any node: the best prediction is %s", wording.Number(target), v.unit, wording.Number(p.RatePerSec))
	case !v.Workload.Spec.Target.PredictedMet(p.Low, target):
		v.warn("the target of %s %s may be missed: the prediction is %s to %s", wording.Number(target), v.unit, wording.Number(p.Low), wording.Number(p.High))
	}
}

// reject writes the rejections: all are counted, and a sample with every reason in it is
// listed.
func (v *candidateSet) reject(d *cluster.Decision, r ranking) {
	maps.Copy(d.RejectedBy, v.counts)
	byReason := map[cluster.RejectReason][]cluster.Rejection{}
	for _, x := range v.rejected {
		byReason[x.Reason] = append(byReason[x.Reason], x)
	}
	for _, n := range r.nodes {
		if n.tier == good {
			continue
		}
		d.RejectedBy[n.reject.Reason]++
		if len(byReason[n.reject.Reason]) < cluster.MaxRejections {
			byReason[n.reject.Reason] = append(byReason[n.reject.Reason], r.rejection(n))
		}
	}
	d.Rejected = sample(byReason, cluster.MaxRejections)
}

// sample takes one of each reason in turn, at most limit.
func sample(byReason map[cluster.RejectReason][]cluster.Rejection, limit int) []cluster.Rejection {
	var out []cluster.Rejection
	reasons := slices.Sorted(maps.Keys(byReason))
	for i, more := 0, true; more; i++ {
		more = false
		for _, reason := range reasons {
			if i < len(byReason[reason]) && len(out) < limit {
				out = append(out, byReason[reason][i])
				more = true
			}
		}
	}
	return out
}
