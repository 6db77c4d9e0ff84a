package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// Scoring says when one place is better than another for a workload (Chiang and
// Huang 2011, §3.2).
type Scoring struct {
	// IOPS: the sum of requests per second is to be large; else the sum of runtimes is
	// to be small.
	IOPS bool
	// Both counts what a newcomer does to the residents; the paper counts what it
	// gets itself.
	Both bool
	// Ratio measures each by what it does in isolation; the paper adds seconds, which favours
	// short work.
	Ratio bool
}

// Draft is an assignment in the making: what would be placed where, on a board that
// is not changed by it.
type Draft struct {
	board   *board.Board
	alike   *board.Alike
	scoring Scoring

	added   map[board.Index][]*board.Request
	order   []board.Index // of added, first use first: nothing depends on the order of a map
	scratch []float64
	none    []float64
}

// NewDraft begins with nothing assigned. The index is one of the board.
func NewDraft(b *board.Board, alike *board.Alike, s Scoring) *Draft {
	return &Draft{
		board: b, alike: alike, scoring: s, added: map[board.Index][]*board.Request{},
		scratch: make([]float64, len(b.Columns)), none: make([]float64, len(b.Columns)),
	}
}

// Clear takes everything back.
func (d *Draft) Clear() {
	clear(d.added)
	d.order = d.order[:0]
}

// Put assigns an allocation of an ask.
func (d *Draft) Put(a *board.Request, n board.Index) {
	if !d.touched(n) {
		d.order = append(d.order, n)
	}
	d.added[n] = append(d.added[n], a)
}

// Take takes the last allocation of an ask back from a node.
func (d *Draft) Take(a *board.Request, n board.Index) {
	added := d.added[n]
	for i := len(added) - 1; i >= 0; i-- {
		if added[i] == a {
			d.added[n] = slices.Delete(added, i, i+1)
			return
		}
	}
}

// touched reports whether a node is in the order of those that something was assigned to.
func (d *Draft) touched(n board.Index) bool {
	_, ok := d.added[n]
	return ok
}

// There counts what is assigned to a node.
func (d *Draft) There(n board.Index) int { return len(d.added[n]) }

// Open reports whether one more allocation of an ask may go to a node.
func (d *Draft) Open(a *board.Request, n board.Index) bool {
	if a.Allowed != nil && !a.Allowed(n) {
		return false
	}
	added := d.added[n]
	if len(added) == 0 {
		return d.board.Fits(n, a.Size)
	}
	size := a.Size
	for _, other := range added {
		size = size.Add(other.Size)
	}
	return d.board.Fits(n, size)
}

// Place is where an allocation could go.
type Place struct {
	Node  board.Index
	Score float64 // smaller is better
	There int     // allocations that are on the node or assigned to it
}

// better: the least score, then the emptiest node, then the first.
func (p Place) better(than Place) bool {
	return cmp.Or(cmp.Compare(p.Score, than.Score), cmp.Compare(p.There, than.There), cmp.Compare(p.Node, than.Node)) < 0
}

// Best is the best place for one allocation; ok is false where none is open. It is
// the paper's algorithm 1 (MIOS): minimum completion time. examined counts what
// was scored. O(groups + what was assigned), more where the user's constraints leave
// nodes out.
func (d *Draft) Best(a *board.Request) (best Place, examined int, ok bool) {
	try := func(n board.Index) {
		examined++
		p := Place{Node: n, Score: d.Score(a, n), There: len(d.board.Residents(n)) + len(d.added[n])}
		if !ok || p.better(best) {
			best, ok = p, true
		}
	}
	for nodes := range d.alike.Groups() {
		if !d.board.Fits(nodes[0], a.Size) {
			continue
		}
		for _, n := range nodes {
			if !d.touched(n) && (a.Allowed == nil || a.Allowed(n)) {
				try(n)
				break
			}
		}
	}
	for _, n := range d.order {
		if d.Open(a, n) {
			try(n)
		}
	}
	return best, examined, ok
}

// Anywhere reports whether one allocation has a place.
func (d *Draft) Anywhere(a *board.Request) bool {
	for nodes := range d.alike.Groups() {
		if d.board.Fits(nodes[0], a.Size) && slices.ContainsFunc(nodes, func(n board.Index) bool { return d.Open(a, n) }) {
			return true
		}
	}
	return false
}

// Empty is the first node on which nothing is and to which nothing is assigned; ok is false where
// there is none that an ask may go to.
func (d *Draft) Empty(a *board.Request) (n board.Index, ok bool) {
	for nodes := range d.alike.Groups() {
		for _, k := range nodes {
			if (ok && k >= n) || len(d.added[k]) > 0 || len(d.board.Residents(k)) > 0 || !d.Open(a, k) {
				continue
			}
			n, ok = k, true
		}
	}
	return n, ok
}

// Score of an allocation on a node, next to those that are there and assigned to it.
func (d *Draft) Score(a *board.Request, n board.Index) float64 {
	coRunners := d.coRunners(n)
	score := d.own(a, coRunners, d.board.Node(n).Configuration)
	if !d.scoring.Both {
		return score
	}
	for _, r := range d.board.Residents(n) {
		score += d.change(responseOf(r.Response, r.Tolerated), coRunners, r.Caused, a.Caused)
	}
	for _, other := range d.added[n] {
		score += d.change(responseOf(other.Response, other.Curve()), coRunners, other.Caused, a.Caused)
	}
	return score
}

// coRunners is what those on a node cause, with those assigned to it.
func (d *Draft) coRunners(n board.Index) []float64 {
	caused := d.board.Caused(n)
	if len(d.added[n]) == 0 {
		return caused
	}
	copy(d.scratch, caused)
	for _, other := range d.added[n] {
		for k, c := range other.Caused {
			d.scratch[k] += c
		}
	}
	return d.scratch
}

// Together scores a request next to one other, wherever that is.
func (d *Draft) Together(a, other *board.Request) float64 {
	score := d.own(a, other.Caused, -1)
	if d.scoring.Both {
		score += d.change(responseOf(other.Response, other.Curve()), other.Caused, other.Caused, a.Caused)
	}
	return score
}

// own is the score of a newcomer. A configuration below 0 is any.
func (d *Draft) own(a *board.Request, coRunners []float64, configuration int) float64 {
	r := responseOf(a.Response, a.Curve())
	score := d.of(r, coRunners)
	if a.Response != nil || configuration < 0 || configuration >= len(a.Speed) {
		return score
	}
	// Only scores are known: how much slower the configuration is counts as well.
	top := 0.0
	for _, v := range a.Speed {
		if v > top {
			top = v
		}
	}
	switch v := a.Speed[configuration]; {
	case top <= 0:
		return score
	case !(v > 0):
		return math.Inf(1) // unknown, or it cannot run
	case d.scoring.IOPS:
		return score * v / top
	default:
		return score * top / v
	}
}

// change is what a newcomer does to a resident.
func (d *Draft) change(r board.Response, all, own, newcomer []float64) float64 {
	before, after := make([]float64, len(all)), make([]float64, len(all))
	for k, v := range all {
		before[k] = max(0, v-own[k])
		after[k] = before[k] + newcomer[k]
	}
	return d.of(r, after) - d.of(r, before)
}

// of is the score of a response.
func (d *Draft) of(r board.Response, coRunners []float64) float64 {
	value, isolated := 0.0, 1.0
	if d.scoring.IOPS {
		value = -r.IOPS(coRunners)
		if d.scoring.Ratio {
			isolated = r.IOPS(d.none)
		}
	} else {
		value = r.Runtime(coRunners)
		if d.scoring.Ratio {
			isolated = r.Runtime(d.none)
		}
	}
	if !(isolated > 0) {
		return 0 // it makes no requests, or takes no time
	}
	return value / isolated
}

func responseOf(r board.Response, tolerated []float64) board.Response {
	if r != nil {
		return r
	}
	return scores(tolerated)
}

// scores is the response of a workload of which only tolerated scores are known:
// relative to what it does in isolation, by Kept.
type scores []float64

// assumedSlowdown is the QoS bound that scores were measured at.
const assumedSlowdown = 0.05

// Runtime implements board.Response.
func (s scores) Runtime(coRunners []float64) float64 {
	return 1 / max(fullPressureShareLow, Kept(s, coRunners, assumedSlowdown))
}

// IOPS implements board.Response.
func (s scores) IOPS(coRunners []float64) float64 { return Kept(s, coRunners, assumedSlowdown) }
