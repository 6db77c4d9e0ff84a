package policy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var paragonDescriptor = Descriptor{
	Name:         "paragon",
	Summary:      "no workload exceeds its interference tolerance; then the speed the target needs; then the tightest fit",
	Paper:        "Delimitrou 2015, §3.4",
	NeedsProfile: true,
	New:          func() Policy { return paragon{} },
}

// Stickiness: a job that is submitted again keeps its nodes unless others are better by
// more than this (chosen by us: above the error of a predicted score, which is about 5
// points). A node on which the group runs already is its incumbent.
const (
	stickyHeadroomPoints = 5.0  // a bound may be exceeded by this on an incumbent
	stickySpeed          = 1.10 // another configuration must be faster by this factor
	stickyFitPoints      = 20.0 // and tighter by this much per source
)

// paragon is the live form of the policy; paragon_select.go has the one that the simulator
// asks.
type paragon struct{}

// Place takes the steps of the package comment: steps 3 to 5 here, the others as every
// policy does (place).
func (paragon) Place(r Request) (cluster.Decision, error) {
	return place(r, paragonDescriptor.Name, func(v *candidateSet) ranking { return newSelection(v).rank() })
}

// selection is one run of the greedy search over the candidates.
type selection struct {
	*candidateSet
	filter chainFilter
	margin [][]float64 // candidate × bound of the chain: D, in points, with the incumbents' bonus
	fit    []float64   // candidate: Σ|D1+D2|

	fastest map[string]bool // configurations preferred; empty where the target decides
}

// newSelection filters the candidates (step 3), and keeps how far each is from every
// bound.
func newSelection(v *candidateSet) *selection {
	for _, o := range v.candidates {
		v.press(o)
	}
	s := &selection{candidateSet: v, filter: chainFilter{options: Live(), columns: v.Columns}}
	s.filter.run(len(v.candidates), s, v.leastRequired().Tolerated, v.caused)
	steps := len(s.filter.chain)
	arena := v.work.take(steps * len(v.candidates))
	s.margin = make([][]float64, len(v.candidates))
	s.fit = make([]float64, len(v.candidates))
	for i, o := range v.candidates {
		s.margin[i], arena = arena[:steps:steps], arena[steps:]
		s.measure(o, s.margin[i])
		s.fit[i] = fitPoints(o.tolerated, o.summed, o.tolerance.Tolerated, s.caused)
	}
	return s
}

// rank prefers (step 4) and orders (step 5) what the filter has left.
func (s *selection) rank() ranking {
	prefer, reason := s.preference()
	r := ranking{
		nodes: make([]*ranked, len(s.candidates)), reason: reason, relaxed: s.filter.relaxations(s.Columns),
		parts: s.parts, why: s.headroom, detail: s.detail, together: s.together,
	}
	r.waits = s.bestEffortWaits()
	storage := s.work.takeRanked(len(s.candidates))
	for i, o := range s.candidates {
		n := &storage[i]
		n.candidate = o
		switch {
		case !s.filter.alive(i):
			n.tier, n.reject = violating, s.worstViolation(i)
		case !prefer(o):
			n.tier, n.reject = slower, cluster.Rejection{Reason: cluster.RejectSlower}
		}
		n.key = s.key(n, s.fit[i])
		r.nodes[i] = n
	}
	slices.SortFunc(r.nodes, inOrder)
	s.warnRelaxed(r.relaxed)
	return r
}

// preference says which of the candidates that passed the filter are fast enough.
func (s *selection) preference() (prefer func(*candidate) bool, reason string) {
	meets := func(o *candidate) bool { return o.predicted.Known && s.suffices(o.predicted.RatePerSec) }
	if s.need > 0 && s.anyAlive(meets) {
		return meets, "predicted to reach the target, " + s.violationText()
	}
	s.fastest = s.bestConfigurations()
	if len(s.fastest) == 0 {
		s.warn("the speed of this workload is unknown on every node with room: the decision rests on interference alone")
		return func(*candidate) bool { return true }, s.violationText()
	}
	prefer = func(o *candidate) bool { return s.fastest[o.node.Configuration] }
	return prefer, "fastest configuration left, " + s.violationText()
}

// anyAlive reports whether f holds for a candidate that passed the filter.
func (s *selection) anyAlive(f func(*candidate) bool) bool {
	for i, o := range s.candidates {
		if s.filter.alive(i) && f(o) {
			return true
		}
	}
	return false
}

// bestConfigurations are those with the highest speed in isolation among the candidates
// that passed the filter (Delimitrou 2015, §3.4.1: interference first, platform second),
// and those whose interval reaches that speed: a service under a given load is equally
// fast everywhere, but for noise. Of an incumbent the speed counts stickySpeed times.
// Empty where no speed is known.
func (s *selection) bestConfigurations() map[string]bool {
	effective := map[string]float64{} // the end of the interval, by configuration
	top := 0.0
	for i, o := range s.candidates {
		c := o.node.Configuration
		if !s.filter.alive(i) || !s.rates[c] {
			continue
		}
		v := s.Knowledge.Speed[c].Value
		atBest := max(v, s.Knowledge.Speed[c].High)
		if o.incumbent {
			v, atBest = v*stickySpeed, atBest*stickySpeed
		}
		effective[c] = max(effective[c], atBest)
		top = max(top, v)
	}
	maps.DeleteFunc(effective, func(_ string, v float64) bool { return v < top })
	best := map[string]bool{}
	for c := range effective {
		best[c] = true
	}
	return best
}

// key is what a node is ordered by within its tier, smaller first. Good nodes: by fit and,
// where bounds had to be relaxed, before that by what the residents exert beyond the
// newcomer's tolerance. Slower nodes, and good ones where the target is out of reach: by
// the predicted rate first (without a target, by the speed in isolation). Nodes with a
// violation: by its size. Incumbents get their bonus. The fit is rounded, so that sums of
// the same scores tie.
func (s *selection) key(n *ranked, fit float64) [3]float64 {
	rate := n.candidate.predicted.RatePerSec
	missesNeed := s.need > 0 && !s.suffices(rate)
	if s.need == 0 {
		rate = s.Knowledge.Speed[n.candidate.node.Configuration].Value
	}
	if n.candidate.incumbent {
		fit -= stickyFitPoints * float64(len(s.Columns))
		rate *= stickySpeed
	}
	fit = stepped(fit, fitStepPoints)
	excess := s.filter.newcomerExcess(n.candidate.index)
	switch {
	case n.tier == violating:
		return [3]float64{n.reject.ByPoints, excess, fit}
	case n.tier == slower || missesNeed:
		return [3]float64{-rate, excess, fit}
	default:
		return [3]float64{excess, fit}
	}
}

// fitStepPoints is how exactly fits are compared: far below what a score can
// mean, far above rounding.
const fitStepPoints = 1e-6

// inOrder sorts a ranking: tier, key, then fewer free MHz, then ID.
func inOrder(a, b *ranked) int {
	return cmp.Or(
		cmp.Compare(a.tier, b.tier),
		slices.Compare(a.key[:], b.key[:]),
		cmp.Compare(a.candidate.freeMHz, b.candidate.freeMHz),
		cmp.Compare(a.candidate.node.ID, b.candidate.node.ID),
	)
}

// together reports whether one more allocation of the group, next to n > 0 of its own,
// keeps every bound and the target.
func (s *selection) together(o *candidate, n int) bool {
	pressure, own := s.withReplicas(o, n), o.tolerance.Tolerated
	for k := range pressure {
		tolerated := min(o.tolerated[k], own[k])
		if tolerated-o.exerted[k] < -epsilonPoints || own[k]-s.filter.options.experienced(pressure[k]) < -epsilonPoints {
			return false
		}
	}
	if s.need == 0 {
		return true
	}
	p := s.predict(o, pressure)
	return p.Known && s.suffices(p.RatePerSec)
}

// measure writes D for each bound of the chain.
func (s *selection) measure(o *candidate, margin []float64) {
	bonus := s.bonus(o)
	for i, b := range s.filter.chain {
		margin[i] = s.distance(o, b) + bonus
	}
}

// distance is D1 or D2 of one source: how many points are left until the bound breaks.
func (s *selection) distance(o *candidate, b bound) float64 {
	if b.direction == cluster.D1 {
		return o.tolerated[b.column] - o.exerted[b.column]
	}
	return o.tolerance.Tolerated[b.column] - s.filter.options.experienced(o.caused[b.column])
}

// bonus is by how many points a bound may be exceeded on a node.
func (s *selection) bonus(o *candidate) float64 {
	if o.incumbent {
		return stickyHeadroomPoints
	}
	return 0
}

// pressure, newcomer, exerted and residents make the candidates places of the filter.
func (s *selection) pressure(i int) (tolerated, caused []float64, bonus float64) {
	o := s.candidates[i]
	return o.tolerated, o.caused, s.bonus(o)
}

func (s *selection) newcomer(i int) board.Resident { return s.newcomerOn(s.candidates[i]) }

func (s *selection) exerted(i int) []float64 { return s.candidates[i].exerted }
