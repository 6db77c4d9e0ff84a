package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// A Nomad group has one resources block and one count, so all its allocations
// have one size, where Quasar gives each server its own (decision 0012). Hence
// the pairs of size and count are tried one by one, least resources first, each
// with the policy's own choice of nodes; the first that reaches the target is
// taken.

// pair is one size of an allocation with a number of them.
type pair struct {
	count int
	own   cluster.Resources // of the sized task
	speed cluster.ScaleSpeed
}

// placeSized chooses size, count and nodes together.
func (p selecting) placeSized(r Request) (cluster.Decision, error) {
	rank := func(v *candidateSet) ranking { return v.askSelector(p.d) }
	if r.Knowledge == nil {
		r.Knowledge = &cluster.Knowledge{}
	}
	s := sizer{Request: r, name: p.d.Name, rank: rank}
	pairs, why := s.pairs()
	if why != "" {
		return s.asWritten(why)
	}
	s.MayWait = false // the sizes that are tried are compared by what they reach now
	if err := s.tryAll(pairs); err != nil {
		return cluster.Decision{}, err
	}
	return s.decision(), nil
}

// sizer tries the sizes of one request.
type sizer struct {
	Request
	name string
	rank func(v *candidateSet) ranking

	tried []cluster.Tried
	left  int // pairs not tried
	best  *trial
	notes []string

	noRoom bool // some pair had no room for all its allocations
}

// trial is a pair with the decision it leads to.
type trial struct {
	pair
	decision cluster.Decision
	facts    facts
	reaches  bool
}

// unsized reports that the user left nothing to choose.
func unsized(s performance.ScaleSpec) bool {
	return len(s.Count) == 0 && len(s.Cores) == 0 && len(s.MemoryMB) == 0
}

// pairs are those to try, in order, or why there is no choice.
func (s *sizer) pairs() ([]pair, string) {
	scale, target := s.Workload.Spec.Scale, s.Workload.Spec.Target
	if unsized(scale) {
		return nil, "the performance block has no scale block, so size and count stay as in the job"
	}
	sizes, why := s.sizes()
	if why != "" {
		return nil, why
	}
	counts := s.counts()
	if target.Kind == performance.BestEffort {
		sizes = sizes[:1] // the smallest useful
		slices.Reverse(counts)
	}
	var out []pair
	for _, size := range sizes {
		for _, n := range counts {
			size.count = n
			out = append(out, size)
		}
	}
	if target.Kind == performance.BestEffort {
		return out, ""
	}
	if _, numeric := s.Workload.Spec.Rate(); !numeric && len(out) > 1 {
		return nil, "sizes cannot be compared, since the target is not a rate (for a finish time, give work in the probe block)"
	}
	s.leastFirst(out)
	return out, ""
}

// leastFirst orders by CPU, then memory, of the whole group; of equals the fewest
// allocations come first: up before out.
func (s *sizer) leastFirst(pairs []pair) {
	mhz := s.coreMHz()
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(
			cmp.Compare(a.count*(a.own.CPUMHz+a.own.Cores*mhz), b.count*(b.own.CPUMHz+b.own.Cores*mhz)),
			cmp.Compare(a.count*a.own.MemoryMB, b.count*b.own.MemoryMB),
			cmp.Compare(a.count, b.count),
		)
	})
}

// counts are the numbers of allocations to choose from, ascending.
func (s *sizer) counts() []int {
	w := s.Workload
	if len(w.Spec.Scale.Count) == 0 {
		return []int{w.Count}
	}
	if w.Sizable.CountFixed != "" {
		s.note("the count stays %d: %s", w.Count, w.Sizable.CountFixed)
		return []int{w.Count}
	}
	var out []int
	for _, n := range w.Spec.Scale.Count {
		if n >= w.Sizable.CountMin && (w.Sizable.CountMax == 0 || n <= w.Sizable.CountMax) {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		s.note("the count stays %d: none of the scale block's is within the bounds of the group's scaling block, %d to %d", w.Count, w.Sizable.CountMin, w.Sizable.CountMax)
		return []int{w.Count}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sizes are what the sized task may get, ascending, without counts.
func (s *sizer) sizes() ([]pair, string) {
	w := s.Workload
	asWritten := pair{own: w.Sizable.Own, speed: cluster.ScaleSpeed{Relative: 1, Low: 1, High: 1, Origin: interference.Measured}}
	scale := w.Spec.Scale
	if len(scale.Cores) == 0 && len(scale.MemoryMB) == 0 {
		return []pair{asWritten}, ""
	}
	if w.Sizable.SizeFixed != "" {
		s.note("the size stays as written: %s", w.Sizable.SizeFixed)
		return []pair{asWritten}, ""
	}
	asWritten.own.MemoryMB = s.memory()
	if len(scale.Cores) == 0 {
		return []pair{asWritten}, ""
	}
	var out []pair
	for _, n := range slices.Compact(slices.Sorted(slices.Values(scale.Cores))) {
		speed, known := s.atCores(n)
		if !known {
			s.note("%s is not considered: the speed of the workload at that size is unknown", wording.Count(n, "core"))
			continue
		}
		out = append(out, pair{own: s.withCores(n, asWritten.own.MemoryMB), speed: speed})
	}
	if len(out) == 0 {
		return nil, "the speed of the workload is unknown at every size of the scale block"
	}
	return out, ""
}

// atCores is the speed of one allocation relative to the profiled one. Best-effort
// work has no number to compare: it gets the smallest.
func (s *sizer) atCores(n int) (cluster.ScaleSpeed, bool) {
	if s.Workload.Spec.Target.Kind == performance.BestEffort {
		return cluster.ScaleSpeed{Cores: n, Relative: 1, Low: 1, High: 1, Origin: interference.Assumed}, true
	}
	return s.Knowledge.AtCores(n)
}

// withCores is the size of so many cores in the unit that the user's task has: whole
// cores, or the MHz of as many of the fastest that it may run on.
func (s *sizer) withCores(n, memoryMB int) cluster.Resources {
	if s.Workload.Sizable.Own.Cores > 0 {
		return cluster.Resources{Cores: n, MemoryMB: memoryMB}
	}
	return cluster.Resources{CPUMHz: n * s.coreMHz(), MemoryMB: memoryMB}
}

// coreMHz is the clock of the fastest cores that the group may run on.
func (s *sizer) coreMHz() int {
	w := *s.Workload
	w.Ask = cluster.Resources{} // room is for the sizes to find
	fit, _, _ := cluster.Feasible(s.Snapshot, &w, s.RunPool)
	mhz := 1
	for _, n := range fit {
		mhz = max(mhz, n.CoreMHz)
	}
	return mhz
}

// memory is the least of the user's blocks that holds what the profile saw.
func (s *sizer) memory() int {
	w := s.Workload
	blocks := slices.Sorted(slices.Values(w.Spec.Scale.MemoryMB))
	own := w.Sizable.Own.MemoryMB
	if len(blocks) == 0 {
		return own
	}
	seen := s.Knowledge.MemoryPeakMB
	if seen <= 0 {
		s.note("the memory stays %d MB: no profiling run has measured how much is used", own)
		return own
	}
	mb, holds := cluster.MemoryBlock(blocks, seen)
	if !holds {
		mb = max(mb, own)
		s.note("a profiling run used %s MB of memory, more than the largest value of the scale block holds: it gets %d MB", wording.Number(seen), mb)
	}
	return mb
}

func (s *sizer) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// tryAll tries the pairs until one is good enough.
func (s *sizer) tryAll(pairs []pair) error {
	for i, p := range pairs {
		t, err := s.try(p)
		if err != nil {
			return err
		}
		if s.best == nil || s.better(t, *s.best) {
			s.best = &t
		}
		if t.good() {
			s.left = len(pairs) - 1 - i
			return nil
		}
	}
	return nil
}

// good: the target is reached, everything has room, and no QoS violation is predicted.
func (t trial) good() bool {
	return t.decision.Outcome == cluster.Placed && t.reaches && t.facts.missing == 0 && !t.facts.violates
}

// worthwhile is how much more performance is worth more resources where the target
// is out of reach (chosen by us: less than a profiling run can tell).
const worthwhile = 1 + noticeablePercent/100

// better orders trials of which none so far is good: one with room for all, then one
// that reaches the target, then one that violates no bound, then the faster. As in the
// ranking of nodes (Delimitrou 2015, §4.3.3) a bound that is predicted to break is
// avoided where another choice does as well, and is no reason to miss the target. The
// pairs come with the least resources first, which wins among equals.
func (s *sizer) better(t, than trial) bool {
	switch placed, before := t.decision.Outcome == cluster.Placed, than.decision.Outcome == cluster.Placed; {
	case placed != before || !placed:
		return placed && !before
	case (t.facts.missing == 0) != (than.facts.missing == 0):
		return t.facts.missing == 0
	case t.reaches != than.reaches:
		return t.reaches
	case t.facts.violates != than.facts.violates:
		return !t.facts.violates
	case t.reaches:
		return false
	}
	return t.decision.Predicted.RatePerSec > worthwhile*than.decision.Predicted.RatePerSec
}

// try places the group at a size.
func (s *sizer) try(p pair) (trial, error) {
	r, w := s.Request, *s.Workload
	w.Count, w.Ask = p.count, w.Sizable.Group(p.own)
	r.Workload, r.Knowledge = &w, s.Knowledge.AtSize(p.speed)
	if p.own.Cores != w.Sizable.Own.Cores {
		r.Snapshot = r.Snapshot.WithoutLastCore()
	}
	d, f, err := placed(r, s.name, s.rank)
	t := trial{pair: p, decision: d, facts: f}
	if err != nil {
		return t, err
	}
	rate, numeric := w.Spec.Rate()
	t.reaches = !numeric || d.Predicted.Known && w.Spec.Target.PredictedMet(d.Predicted.RatePerSec, rate)
	s.noRoom = s.noRoom || d.Outcome != cluster.Placed || f.missing > 0
	tried := cluster.Tried{Count: p.count, Own: p.own, Predicted: d.Predicted, Reaches: t.reaches, Note: t.against()}
	if len(s.tried) < cluster.MaxTried {
		s.tried = append(s.tried, tried)
	} else {
		s.left++
	}
	return t, nil
}

// against says why a trial was not taken; empty where nothing speaks against it.
func (t trial) against() string {
	switch {
	case t.decision.Outcome != cluster.Placed:
		return t.decision.Reason
	case t.facts.missing > 0:
		return fmt.Sprintf("room for %d of %d allocations", t.count-t.facts.missing, t.count)
	case t.facts.violates:
		return "a QoS violation is predicted"
	case !t.decision.Predicted.Known && !t.reaches:
		return "the performance cannot be predicted"
	default:
		return ""
	}
}

// decision is that of the best trial, with its reasons.
func (s *sizer) decision() cluster.Decision {
	d, w := s.best.decision, s.Workload
	d.Sizing = &cluster.Sizing{
		Chosen: d.Outcome == cluster.Placed, Task: w.Sizable.Task, Own: s.best.own, OwnWas: w.Sizable.Own, CountWas: w.Count,
		Speed: s.best.speed, Reaches: s.best.reaches, Why: s.why(d), Tried: s.tried, NotTried: s.left,
	}
	if s.best.count > 1 && len(w.Spec.Scale.Count) > 0 && w.Spec.Target.Kind != performance.BestEffort {
		s.note("the rates of %d allocations are assumed to add up: scale-out is not measured", s.best.count)
	}
	if s.best.reaches && s.best.facts.violates {
		s.note("every size that reaches the target is predicted to break some QoS bound")
	}
	d.Warnings = append(d.Warnings, s.notes...)
	if s.best.speed.Origin == interference.Assumed && w.Spec.Target.Kind != performance.BestEffort {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the speed on %s was not measured: it is interpolated from the nearest sizes", wording.Count(s.best.speed.Cores, "core")))
	}
	return d
}

// why this size is the one.
func (s *sizer) why(d cluster.Decision) string {
	given := fmt.Sprintf("%d × %s", s.best.count, SizeText(s.best.own))
	rate, numeric := s.Workload.Spec.Rate()
	switch {
	case d.Outcome != cluster.Placed:
		return "no size has room now"
	case s.Workload.Spec.Target.Kind == performance.BestEffort:
		return given + ": the smallest useful size, as many allocations as violate no bound"
	case s.best.reaches && numeric:
		why := fmt.Sprintf("%s is the smallest size that reaches %s %s", given, wording.Number(rate), d.Predicted.Unit)
		if n := len(s.tried) - 1; n > 0 {
			why += fmt.Sprintf("; %s with fewer resources did not", wording.Count(n, "choice"))
		}
		return why
	case !numeric:
		return given + ": the only size that may be chosen"
	case !d.Predicted.Known:
		return given + ": the performance cannot be predicted at any size"
	}
	sizes := "no size"
	if s.noRoom {
		sizes = "no size with room now"
	}
	best := "the best possible"
	if s.avoidsViolation() {
		best = "the best possible without a QoS violation"
	}
	return fmt.Sprintf("%s reaches %s %s; %s is %s, at %s", sizes, wording.Number(rate), d.Predicted.Unit, given, best, wording.Number(d.Predicted.RatePerSec))
}

// avoidsViolation reports that a faster choice was passed over for the violation it would cause.
func (s *sizer) avoidsViolation() bool {
	return slices.ContainsFunc(s.tried, func(t cluster.Tried) bool {
		return t.Predicted.Known && t.Predicted.RatePerSec > worthwhile*s.best.decision.Predicted.RatePerSec
	})
}

// asWritten places the group at the size the user wrote, and says why.
func (s *sizer) asWritten(why string) (cluster.Decision, error) {
	d, _, err := placed(s.Request, s.name, s.rank)
	if err != nil {
		return d, err
	}
	w := s.Workload
	d.Sizing = &cluster.Sizing{Task: w.Sizable.Task, Own: w.Sizable.Own, OwnWas: w.Sizable.Own, CountWas: w.Count, Why: why, Tried: s.tried}
	d.Warnings = append(d.Warnings, s.notes...)
	if !unsized(w.Spec.Scale) {
		d.Warnings = append(d.Warnings, "no size was chosen: "+why)
	}
	return d, nil
}

// SizeText is a size for people.
func SizeText(r cluster.Resources) string {
	cpu := fmt.Sprintf("%d MHz", r.CPUMHz)
	if r.Cores > 0 {
		cpu = wording.Count(r.Cores, "core")
	}
	return fmt.Sprintf("(%s, %d MB)", cpu, r.MemoryMB)
}
