package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// violationText says which bounds the filter could keep.
func (s *selection) violationText() string {
	if s.filter.backtracks > 0 {
		return "no node meets every QoS bound, smallest violation first"
	}
	return "no workload exceeds its interference tolerance, tightest fit first"
}

// warnRelaxed says by how much each bound was relaxed.
func (v *candidateSet) warnRelaxed(relaxed []cluster.Relaxation) {
	for _, r := range relaxed {
		who := "the residents"
		if r.Direction == cluster.D2 {
			who = "this workload"
		}
		v.warn("no feasible node meets every QoS bound: %s may experience up to %s points more pressure on %s than tolerated", who, wording.Number(r.Points), wording.Source(r.Source))
	}
}

// worstViolation names the bound that breaks by most at a candidate that was filtered out.
func (s *selection) worstViolation(candidate int) cluster.Rejection {
	worst, points := -1, 0.0
	for step, b := range s.filter.chain {
		missing := -s.margin[candidate][step]
		if s.filter.first[candidate] != droppedOut {
			missing -= b.relaxed
		}
		if missing > points {
			worst, points = step, missing
		}
	}
	r := cluster.Rejection{Reason: cluster.RejectInterference}
	if worst >= 0 {
		r.Source, r.Direction = s.Columns[s.filter.chain[worst].column], s.filter.chain[worst].direction
		r.ByPoints = -s.margin[candidate][worst]
	}
	return r
}

// detail says why a node is not good.
func (s *selection) detail(n *ranked) string {
	if n.tier == slower {
		return s.slowness(n.candidate)
	}
	k := slices.Index(s.Columns, n.reject.Source)
	if k < 0 {
		return ""
	}
	source, o := wording.Source(n.reject.Source), n.candidate
	if n.reject.Direction == cluster.D1 {
		return fmt.Sprintf("%s: the residents tolerate %s points, this workload exerts %s", source, wording.Number(o.tolerated[k]), wording.Number(o.exerted[k]))
	}
	return fmt.Sprintf("%s: this workload tolerates %s points, the residents exert %s", source, wording.Number(o.tolerance.Tolerated[k]), wording.Number(o.caused[k]))
}

// slowness says why a node that violates no bound is not good.
func (s *selection) slowness(o *candidate) string {
	c := o.node.Configuration
	switch {
	case !s.rates[c]:
		return fmt.Sprintf("speed on configuration %s is unknown", c)
	case len(s.fastest) == 0:
		return fmt.Sprintf("expected %s %s, each allocation needs %s", wording.Number(o.predicted.RatePerSec), s.unit, wording.Number(s.need))
	}
	fastest := slices.Sorted(maps.Keys(s.fastest))[0]
	return fmt.Sprintf("configuration %s does %s %s in isolation, %s does %s",
		c, wording.Number(s.Knowledge.Speed[c].Value), s.unit, fastest, wording.Number(s.Knowledge.Speed[fastest].Value))
}

// headroom says how close the tightest bound is.
func (s *selection) headroom(o *candidate) string {
	margin := s.margin[o.index]
	if len(margin) == 0 {
		return "no source of interference is considered"
	}
	b := s.filter.chain[slices.Index(margin, slices.Min(margin))]
	d, source := s.distance(o, b), wording.Source(s.Columns[b.column])
	switch {
	case d < -epsilonPoints && o.incumbent:
		return fmt.Sprintf("%s points beyond the tolerance on %s, within what is allowed where the group already runs", wording.Number(-d), source)
	case d < -epsilonPoints:
		return fmt.Sprintf("the smallest violation found: %s points beyond the tolerance on %s", wording.Number(-d), source)
	default:
		return fmt.Sprintf("no workload exceeds its interference tolerance; the tightest is %s with %s points of headroom", source, wording.Number(d))
	}
}

// parts are the numbers of a candidate that its decision lists.
func (s *selection) parts(o *candidate) []cluster.ScorePart {
	return []cluster.ScorePart{{Name: "fit_points", Value: s.fit[o.index]}, {Name: "free_mhz", Value: float64(o.freeMHz)}}
}
