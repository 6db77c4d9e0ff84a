package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var paragonDescriptor = Descriptor{
	Name:         "paragon",
	Summary:      "nobody is pressed beyond what it stands; then the speed the target needs; then the tightest fit",
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
	return place(r, paragonDescriptor.Name, func(v *view) ranking { return newSelection(v).rank() })
}

// selection is one run of the greedy search.
type selection struct {
	*view
	chain  []bound
	margin [][]float64 // option × chain: D, in points; incumbents get their bonus
	l1     []float64   // option: Σ|D1+D2|

	fastest map[string]bool // configurations preferred; empty where the target decides
}

// bound is one step of the filter: a source in a direction, and how far it had
// to be relaxed.
type bound struct {
	column    int
	direction cluster.Direction
	relaxed   float64 // points ≥ 0: the filter keeps D ≥ −relaxed
}

func newSelection(v *view) *selection {
	s := &selection{view: v, chain: chainOf(v.tolerated, v.caused)}
	steps := len(s.chain)
	arena := make([]float64, steps*len(v.options))
	s.margin = make([][]float64, len(v.options))
	s.l1 = make([]float64, len(v.options))
	for i, o := range v.options {
		s.margin[i], arena = arena[:steps:steps], arena[steps:]
		s.l1[i] = s.measure(o, s.margin[i])
	}
	return s
}

// chainOf orders the filter: D1 by decreasing caused score, then D2 by
// increasing tolerated score, hardest first (Delimitrou 2015, §3.4.1). Ties keep
// the order of the columns.
func chainOf(tolerated, caused []float64) []bound {
	var d1, d2 []bound
	for k := range caused {
		d1 = append(d1, bound{column: k, direction: cluster.D1})
		d2 = append(d2, bound{column: k, direction: cluster.D2})
	}
	slices.SortStableFunc(d1, func(a, b bound) int { return cmp.Compare(caused[b.column], caused[a.column]) })
	slices.SortStableFunc(d2, func(a, b bound) int { return cmp.Compare(tolerated[a.column], tolerated[b.column]) })
	return append(d1, d2...)
}

// measure writes D per step of the chain and returns Σ|D1+D2|.
func (s *selection) measure(o *option, margin []float64) float64 {
	bonus := 0.0
	if o.incumbent {
		bonus = stickyHeadroomPoints
	}
	for i, b := range s.chain {
		margin[i] = s.distance(o, b) + bonus
	}
	sum := 0.0
	for k := range o.caused {
		sum += math.Abs(o.tolerated[k] - s.caused[k] + s.tolerated[k] - o.caused[k])
	}
	return sum
}

// distance is D1 or D2 of one source.
func (s *selection) distance(o *option, b bound) float64 {
	if b.direction == cluster.D1 {
		return o.tolerated[b.column] - s.caused[b.column]
	}
	return s.tolerated[b.column] - o.caused[b.column]
}

// tolerance on comparisons of scores, in points: sums of scores are floats.
const epsilonPoints = 1e-9

// relaxStepPoints is the step of backtracking (paper: "relax the QoS", no
// value; chosen by us).
const relaxStepPoints = 5.0

// filter walks the chain and returns which options survive it, relaxing a bound
// where none would.
func (s *selection) filter() []bool {
	alive := make([]bool, len(s.options))
	for i := range alive {
		alive[i] = true
	}
	for step := range s.chain {
		left := 0
		for i := range alive {
			alive[i] = alive[i] && s.holds(i, step)
			if alive[i] {
				left++
			}
		}
		if left == 0 {
			s.relax(step)
			for i := range alive {
				alive[i] = s.firstBroken(i, step) < 0
			}
		}
	}
	return alive
}

func (s *selection) holds(option, step int) bool {
	return s.margin[option][step]+s.chain[step].relaxed >= -epsilonPoints
}

// firstBroken is the first broken step up to and including last, or -1.
func (s *selection) firstBroken(option, last int) int {
	for step := 0; step <= last; step++ {
		if !s.holds(option, step) {
			return step
		}
	}
	return -1
}

// relax gives way in one bound at or before step, by the fewest steps that
// leave an option: among equals the previous bound first, then earlier ones, the
// bound itself last. Every option alive before step breaks only that one, so
// there is always an answer.
func (s *selection) relax(step int) {
	need := make([]float64, step+1)
	for j := range need {
		need[j] = math.Inf(1)
	}
	for i := range s.options {
		if j := s.onlyBroken(i, step); j >= 0 {
			need[j] = min(need[j], -(s.margin[i][j] + s.chain[j].relaxed))
		}
	}
	best, steps := step, stepsOf(need[step])
	for j := 0; j < step; j++ { // later ones win ties: k−1 before k−2
		if n := stepsOf(need[j]); n <= steps {
			best, steps = j, n
		}
	}
	s.chain[best].relaxed += steps * relaxStepPoints
}

func stepsOf(points float64) float64 { return math.Ceil((points - epsilonPoints) / relaxStepPoints) }

// onlyBroken is the one broken step up to last, or -1 where there is none or
// more than one.
func (s *selection) onlyBroken(option, last int) int {
	broken := -1
	for step := 0; step <= last; step++ {
		if s.holds(option, step) {
			continue
		}
		if broken >= 0 {
			return -1
		}
		broken = step
	}
	return broken
}

// rank filters, prefers and orders.
func (s *selection) rank() ranking {
	alive := s.filter()
	prefer, reason := s.preference(alive)
	r := ranking{
		nodes: make([]*ranked, len(s.options)), reason: reason, relaxed: s.relaxations(),
		parts: s.parts, why: s.headroom, detail: s.detail, together: s.together,
	}
	for i, o := range s.options {
		n := &ranked{option: o}
		switch {
		case !alive[i]:
			n.tier, n.reject = harmed, s.harm(i)
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

// relaxations lists the bounds that gave way.
func (s *selection) relaxations() []cluster.Relaxation {
	var out []cluster.Relaxation
	for _, b := range s.chain {
		if b.relaxed > 0 {
			out = append(out, cluster.Relaxation{Source: s.Columns[b.column], Direction: b.direction, Points: b.relaxed})
		}
	}
	return out
}

func (s *selection) warnRelaxed(relaxed []cluster.Relaxation) {
	for _, r := range relaxed {
		who := "the residents"
		if r.Direction == cluster.D2 {
			who = "this workload"
		}
		s.warn("every node that fits hurts somebody: %s may be pressed on %s by %s points beyond the bound", who, title(r.Source), amount(r.Points))
	}
}

// harm names the worst broken bound of a rejected option.
func (s *selection) harm(option int) cluster.Rejection {
	worst, points := -1, 0.0
	for step, b := range s.chain {
		if missing := -(s.margin[option][step] + b.relaxed); missing > points {
			worst, points = step, missing
		}
	}
	r := cluster.Rejection{Reason: cluster.RejectInterference}
	if worst >= 0 {
		r.Source, r.Direction = s.Columns[s.chain[worst].column], s.chain[worst].direction
		r.ByPoints = -s.margin[option][worst]
	}
	return r
}

// detail says in words why a node is not good.
func (s *selection) detail(n *ranked) string {
	if n.tier == slower {
		return s.slowness(n.option)
	}
	k := slices.Index(s.Columns, n.reject.Source)
	if k < 0 {
		return ""
	}
	source, o := title(n.reject.Source), n.option
	if n.reject.Direction == cluster.D1 {
		return fmt.Sprintf("%s: the residents stand %s %%, this workload makes %s %%", source, amount(o.tolerated[k]), amount(s.caused[k]))
	}
	return fmt.Sprintf("%s: this workload stands %s %%, the residents make %s %%", source, amount(s.tolerated[k]), amount(o.caused[k]))
}

// headroom says how close the tightest bound is.
func (s *selection) headroom(o *option) string {
	margin := s.margin[o.index]
	if len(margin) == 0 {
		return "no source of interference is watched"
	}
	b := s.chain[slices.Index(margin, slices.Min(margin))]
	d, source := s.distance(o, b), title(s.Columns[b.column])
	switch {
	case d < -epsilonPoints && o.incumbent:
		return fmt.Sprintf("%s points short on %s, inside what a running group is granted", amount(-d), source)
	case d < -epsilonPoints:
		return fmt.Sprintf("the least harm found: %s points short on %s", amount(-d), source)
	default:
		return fmt.Sprintf("nobody is pressed beyond what it stands; tightest is %s with %s points to spare", source, amount(d))
	}
}

// together: one more allocation of the group beside n > 0 of its own keeps every
// bound, and the target.
func (s *selection) together(o *option, n int) bool {
	pressure := s.withReplicas(o, n)
	for k := range pressure {
		tolerated := min(o.tolerated[k], s.tolerated[k])
		if tolerated-s.caused[k] < -epsilonPoints || s.tolerated[k]-pressure[k] < -epsilonPoints {
			return false
		}
	}
	if s.need == 0 {
		return true
	}
	p := s.predict(o, pressure)
	return p.Known && p.RatePerSec >= s.need
}

func (s *selection) parts(o *option) []cluster.ScorePart {
	return []cluster.ScorePart{{Name: "fit_points", Value: s.l1[o.index]}, {Name: "free_mhz", Value: float64(o.freeMHz)}}
}
