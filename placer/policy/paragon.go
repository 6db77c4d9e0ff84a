package policy

import (
	"fmt"
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

// Stickiness: a resubmitted job stays where it runs unless another node is
// better by more than this (chosen by us: above the error of a predicted score,
// which is about 5 points).
const (
	stickyHeadroomPoints = 5.0  // a bound of the incumbent node may be short by this
	stickySpeed          = 1.10 // another configuration must be faster by this factor
	stickyFitPoints      = 20.0 // and tighter by this much per source
)

type paragon struct{}

// Place runs the greedy selection of the package comment.
func (paragon) Place(r Request) (cluster.Decision, error) {
	return place(r, paragonDescriptor.Name, func(v *candidateSet) ranking { return newSelection(v).rank() })
}

// selection is one run of the greedy search over the view's options.
type selection struct {
	*candidateSet
	filter chainFilter
	margin [][]float64 // option × chain: D, in points; incumbents get their bonus
	l1     []float64   // option: Σ|D1+D2|

	fastest map[string]bool // configurations preferred; empty where the target decides
}

func newSelection(v *candidateSet) *selection {
	s := &selection{candidateSet: v, filter: chainFilter{options: Live(), columns: v.Columns}}
	s.filter.run(len(v.candidates), s, v.leastRequired().Tolerated, v.caused)
	steps := len(s.filter.chain)
	arena := v.work.take(steps * len(v.candidates))
	s.margin = make([][]float64, len(v.candidates))
	s.l1 = make([]float64, len(v.candidates))
	for i, o := range v.candidates {
		s.margin[i], arena = arena[:steps:steps], arena[steps:]
		s.measure(o, s.margin[i])
		s.l1[i] = fitPoints(o.tolerated, o.summed, o.tolerance.Tolerated, s.caused)
	}
	return s
}

// pressure of an option, for the filter.
func (s *selection) pressure(i int) (tolerated, caused []float64, bonus float64) {
	o := s.candidates[i]
	return o.tolerated, o.caused, s.bonus(o)
}

func (s *selection) newcomer(i int) board.Resident { return s.newcomerOn(s.candidates[i]) }

func (s *selection) exerted(i int) []float64 { return s.candidates[i].exerted }

func (s *selection) bonus(o *candidate) float64 {
	if o.incumbent {
		return stickyHeadroomPoints
	}
	return 0
}

// measure writes D per step of the chain.
func (s *selection) measure(o *candidate, margin []float64) {
	bonus := s.bonus(o)
	for i, b := range s.filter.chain {
		margin[i] = s.distance(o, b) + bonus
	}
}

// distance is D1 or D2 of one source.
func (s *selection) distance(o *candidate, b bound) float64 {
	if b.direction == cluster.D1 {
		return o.tolerated[b.column] - o.exerted[b.column]
	}
	return o.tolerance.Tolerated[b.column] - s.filter.options.experienced(o.caused[b.column])
}

// rank filters, prefers and orders.
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
		n.key = s.key(n, s.l1[i])
		r.nodes[i] = n
	}
	slices.SortFunc(r.nodes, inOrder)
	s.warnRelaxed(r.relaxed)
	return r
}

func (v *candidateSet) warnRelaxed(relaxed []cluster.Relaxation) {
	for _, r := range relaxed {
		who := "the residents"
		if r.Direction == cluster.D2 {
			who = "this workload"
		}
		v.warn("no feasible node meets every QoS bound: %s may experience up to %s points more pressure on %s than tolerated", who, amount(r.Points), title(r.Source))
	}
}

// worstViolation names the worst broken bound of a rejected option.
func (s *selection) worstViolation(candidate int) cluster.Rejection {
	worst, points := -1, 0.0
	for step, b := range s.filter.chain {
		missing := -s.margin[candidate][step]
		if s.filter.first[candidate] != out {
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

// detail says in words why a node is not good.
func (s *selection) detail(n *ranked) string {
	if n.tier == slower {
		return s.slowness(n.candidate)
	}
	k := slices.Index(s.Columns, n.reject.Source)
	if k < 0 {
		return ""
	}
	source, o := title(n.reject.Source), n.candidate
	if n.reject.Direction == cluster.D1 {
		return fmt.Sprintf("%s: the residents tolerate %s points, this workload exerts %s", source, amount(o.tolerated[k]), amount(o.exerted[k]))
	}
	return fmt.Sprintf("%s: this workload tolerates %s points, the residents exert %s", source, amount(o.tolerance.Tolerated[k]), amount(o.caused[k]))
}

// headroom says how close the tightest bound is.
func (s *selection) headroom(o *candidate) string {
	margin := s.margin[o.index]
	if len(margin) == 0 {
		return "no source of interference is considered"
	}
	b := s.filter.chain[slices.Index(margin, slices.Min(margin))]
	d, source := s.distance(o, b), title(s.Columns[b.column])
	switch {
	case d < -epsilonPoints && o.incumbent:
		return fmt.Sprintf("%s points beyond the tolerance on %s, within what is allowed where the group already runs", amount(-d), source)
	case d < -epsilonPoints:
		return fmt.Sprintf("the smallest violation found: %s points beyond the tolerance on %s", amount(-d), source)
	default:
		return fmt.Sprintf("no workload exceeds its interference tolerance; the tightest is %s with %s points of headroom", source, amount(d))
	}
}

// together: one more allocation of the group beside n > 0 of its own keeps every
// bound, and the target.
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

func (s *selection) parts(o *candidate) []cluster.ScorePart {
	return []cluster.ScorePart{{Name: "fit_points", Value: s.l1[o.index]}, {Name: "free_mhz", Value: float64(o.freeMHz)}}
}
