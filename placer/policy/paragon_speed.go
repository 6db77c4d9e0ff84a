package policy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// preference is the second half of the selection, on the options that harm
// nobody: which of them are fast enough.
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

// violationText says what the filter could keep.
func (s *selection) violationText() string {
	if s.filter.backtracks > 0 {
		return "no node meets every QoS bound, smallest violation first"
	}
	return "no workload exceeds its interference tolerance, tightest fit first"
}

func (s *selection) anyAlive(f func(*candidate) bool) bool {
	for i, o := range s.candidates {
		if s.filter.alive(i) && f(o) {
			return true
		}
	}
	return false
}

// bestConfigurations are those with the highest speed in isolation among the options
// alive (Delimitrou 2015, §3.4.1: interference first, platform second), with those
// whose speed cannot be told from it: services under a given load are as fast
// everywhere, but for noise. One the group already runs on counts stickySpeed times its
// speed. Empty where no speed is known.
func (s *selection) bestConfigurations() map[string]bool {
	effective := map[string]float64{} // at best
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

// slowness says why an option that violates no bound is not good.
func (s *selection) slowness(o *candidate) string {
	c := o.node.Configuration
	switch {
	case !s.rates[c]:
		return fmt.Sprintf("speed on configuration %s is unknown", c)
	case len(s.fastest) == 0:
		return fmt.Sprintf("expected %s %s, each allocation needs %s", amount(o.predicted.RatePerSec), s.unit, amount(s.need))
	}
	fastest := slices.Sorted(maps.Keys(s.fastest))[0]
	return fmt.Sprintf("configuration %s does %s %s in isolation, %s does %s",
		c, amount(s.Knowledge.Speed[c].Value), s.unit, fastest, amount(s.Knowledge.Speed[fastest].Value))
}

// key is what a node is ordered by within its tier, smaller first: good nodes
// by fit, after crowding where bounds had to be relaxed; where the target is out of
// reach, and among slower nodes, by predicted rate first, without a target by the rate
// alone; harmful ones by harm. Incumbents get their bonus. Rounded, so that sums of the
// same scores tie.
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
	fit = math.Round(fit/fitStepPoints) * fitStepPoints
	residentsMost := s.filter.residentsMost(n.candidate.index)
	switch {
	case n.tier == violating:
		return [3]float64{n.reject.ByPoints, residentsMost, fit}
	case n.tier == slower || missesNeed:
		return [3]float64{-rate, residentsMost, fit}
	default:
		return [3]float64{residentsMost, fit}
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
