package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// bound is one step of Paragon's filter: a source in a direction, and by how much it
// was relaxed.
type bound struct {
	column    int
	direction cluster.Direction
	relaxed   float64 // points ≥ 0: the filter keeps D ≥ −relaxed
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

// epsilonPoints is how exactly scores are compared: sums of scores are floats.
const epsilonPoints = 1e-9

// relaxStepPoints is the step of backtracking (paper: "relax the QoS", no
// value; chosen by us).
const relaxStepPoints = 5.0

// places are what the filter walks over: candidates, or nodes of a board.
type places interface {
	// pressure is what the residents of place i tolerate and what they exert on the
	// newcomer, and by how many points bounds may be exceeded there.
	pressure(i int) (tolerated, caused []float64, bonus float64)
	// residents of place i's machine.
	residents(i int) []board.Resident
	// newcomer is the workload as it would be at place i.
	newcomer(i int) board.Resident
	// exerted is the pressure that the residents of place i would experience from it.
	exerted(i int) []float64
}

// chainFilter is one run of the filter over places 0..n−1: a place survives if
// all its bounds hold. Where none survives, bounds are relaxed. For each place it
// keeps the first two bounds that break; relaxing only ever loosens, so both move
// forward only, and the whole run is O(places × bounds) however often it
// backtracks.
type chainFilter struct {
	chain         []bound
	columns       []interference.Source
	places        places
	options       Options
	first, second []int32 // broken bounds by place; len(chain): none; second −1: not looked for yet
	backtracks    int
}

// run filters n places and returns how many survive: none only if n is 0. tolerated and
// caused are scores of the newcomer that are not those of a place; they only decide in
// which order the bounds are tested.
func (f *chainFilter) run(n int, p places, tolerated, caused []float64) int {
	f.places = p
	f.chain = chainOf(tolerated, caused)
	f.backtracks = 0
	f.first, f.second = resized(f.first, n), resized(f.second, n)
	for i := range n {
		f.first[i], f.second[i] = f.broken(i, 0), -1
	}
	if n == 0 {
		return 0
	}
	if f.options.FewestViolations && f.survivors() == 0 {
		f.keepFewestViolations()
	}
	for {
		reached := slices.Max(f.first)
		if int(reached) == len(f.chain) {
			return f.survivors()
		}
		f.relax(reached)
	}
}

// out marks a place that is not considered, however far bounds are relaxed.
const droppedOut = -1

// keepFewestViolations leaves the places where the newcomer would add the fewest QoS
// violations.
func (f *chainFilter) keepFewestViolations() {
	count := make([]int, len(f.first))
	for i := range count {
		count[i] = f.options.newViolations(f.columns, f.places.residents(i), f.places.newcomer(i))
	}
	least := slices.Min(count)
	for i, h := range count {
		if h > least {
			f.first[i] = droppedOut
		}
	}
}

// newcomerExcess is by how many points, over all sources, the residents of place i exert
// more than the newcomer tolerates, where bounds had to be relaxed and violations are
// counted; else 0. The sum is not capped: of two places under full pressure the emptier
// one is better.
func (f *chainFilter) newcomerExcess(i int) float64 {
	if !f.options.FewestViolations || f.backtracks == 0 {
		return 0
	}
	_, caused, _ := f.places.pressure(i)
	tolerated := f.places.newcomer(i).Tolerated
	sum := 0.0
	for k, c := range caused {
		sum += max(0, c-tolerated[k])
	}
	return stepped(sum, relaxStepPoints)
}

func (f *chainFilter) survivors() int {
	n := 0
	for _, first := range f.first {
		if int(first) == len(f.chain) {
			n++
		}
	}
	return n
}

// alive reports whether place i survived.
func (f *chainFilter) alive(i int) bool { return int(f.first[i]) == len(f.chain) }

// broken is the first bound, from step on, that breaks at place i.
func (f *chainFilter) broken(i int, step int32) int32 {
	t, c, bonus := f.places.pressure(i)
	end, half := int32(len(f.chain)), int32(len(f.chain)/2)
	exerted := f.places.exerted(i)
	for ; step < half; step++ {
		b := &f.chain[step]
		if t[b.column]-exerted[b.column]+bonus+b.relaxed < -epsilonPoints {
			return step
		}
	}
	own := f.places.newcomer(i).Tolerated
	for ; step < end; step++ {
		b := &f.chain[step]
		if own[b.column]-f.options.experienced(c[b.column])+bonus+b.relaxed < -epsilonPoints {
			return step
		}
	}
	return end
}

// missing is by how many points a bound breaks at place i.
func (f *chainFilter) missing(i int, step int32) float64 {
	t, c, bonus := f.places.pressure(i)
	b := &f.chain[step]
	d := f.places.newcomer(i).Tolerated[b.column] - f.options.experienced(c[b.column])
	if b.direction == cluster.D1 {
		d = t[b.column] - f.places.exerted(i)[b.column]
	}
	return -(d + bonus + b.relaxed)
}

// relax gives way in one bound at or before step, by the fewest steps that
// leave a place: among equals the previous bound first, then earlier ones, the
// bound itself last. Every place alive before step breaks only that one, so
// there is always an answer.
func (f *chainFilter) relax(step int32) {
	f.backtracks++
	need := make([]float64, step+1)
	for j := range need {
		need[j] = math.Inf(1)
	}
	for i, first := range f.first {
		if first == droppedOut {
			continue
		}
		if f.second[i] < 0 {
			f.second[i] = f.broken(i, first+1)
		}
		if f.second[i] > step {
			need[first] = min(need[first], f.missing(i, first))
		}
	}
	best, steps := step, stepsOf(need[step])
	for j := range step { // later ones win ties: k−1 before k−2
		if n := stepsOf(need[j]); n <= steps {
			best, steps = j, n
		}
	}
	f.chain[best].relaxed += steps * relaxStepPoints
	f.reconsider(best)
}

// reconsider looks for the next broken bounds of places where a relaxed one broke.
func (f *chainFilter) reconsider(relaxed int32) {
	for i := range f.first {
		if f.second[i] == relaxed {
			f.second[i] = f.broken(i, relaxed)
		}
		if f.first[i] == relaxed && f.broken(i, relaxed) != relaxed {
			f.first[i], f.second[i] = f.second[i], -1
			if int(f.first[i]) == len(f.chain) {
				f.second[i] = f.first[i]
			}
		}
	}
}

func stepsOf(points float64) float64 { return math.Ceil((points - epsilonPoints) / relaxStepPoints) }

// relaxations lists the bounds that gave way.
func (f *chainFilter) relaxations(columns []interference.Source) []cluster.Relaxation {
	var out []cluster.Relaxation
	for _, b := range f.chain {
		if b.relaxed > 0 {
			out = append(out, cluster.Relaxation{Source: columns[b.column], Direction: b.direction, Points: b.relaxed})
		}
	}
	return out
}

// fitPoints is Σ|D1+D2|: 0 is the perfect match (Delimitrou 2015, §3.4.1).
func fitPoints(tolerated, caused, newTolerated, newCaused []float64) float64 {
	sum := 0.0
	for k := range caused {
		sum += math.Abs(tolerated[k] - newCaused[k] + newTolerated[k] - caused[k])
	}
	return sum
}

// stepped rounds to the nearest multiple of a step.
func stepped(v, step float64) float64 { return math.Round(v/step) * step }

// resized is s with n elements; their values are those of an earlier use.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
