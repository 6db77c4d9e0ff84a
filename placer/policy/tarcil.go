package policy

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

var tarcilSelector = SelectorDescriptor{
	Name:         "tarcil",
	Summary:      "the best of a few random cores; how many are drawn follows from the quality wanted",
	Paper:        "Delimitrou 2015, §7.2–7.3",
	NeedsProfile: true,
	Parameters:   tarcilParameters(),
	New: func(b *board.Board, o Options) board.Selector {
		return &tarcil{
			table: newUnitTable(b), few: orDefault(o.Candidates, tarcilFew), many: orDefault(o.CandidatesMax, tarcilMany),
			failure: orDefault(o.FailureShare, tarcilFailure), locality: o.Locality, measured: o.MeasuredBound,
		}
	},
	reason: "the best of a few random nodes",
}

// The sample of an allocation (§7.3.3): few at low load, many at most (beyond,
// conflicts cost more), failure the accepted probability that none is good.
const (
	tarcilFew     = 8
	tarcilMany    = 32
	tarcilFailure = 1e-3
)

// tarcilKeptSpeed is the share of the best configuration's speed that a good
// unit must give (chosen by us: the bound of the qualities).
const tarcilKeptSpeed = 0.95

// tarcilBindings is at how many nodes a request waits (§7.3.5).
const tarcilBindings = 2

func tarcilParameters() []Parameter {
	return []Parameter{
		candidatesParameter(tarcilFew),
		{Name: "candidates_max", Default: strconv.Itoa(tarcilMany), Summary: "candidates drawn at most, under load",
			set: positiveInt(func(o *Options) *int { return &o.CandidatesMax })},
		{Name: "failure", Default: "0.001", Summary: "accepted probability that no candidate is good",
			set: func(o *Options, value string) error {
				p, err := strconv.ParseFloat(value, 64)
				if err != nil || !(p > 0 && p < 1) {
					return errors.New("a number between 0 and 1 is needed")
				}
				o.FailureShare = p
				return nil
			}},
		{Name: "locality", Default: "anywhere", Summary: "of a group's allocations: anywhere, near (same node, else same rack) or apart (distinct nodes)",
			set: oneOf(map[string]func(o *Options){
				"anywhere": func(o *Options) { o.Locality = Anywhere },
				"near":     func(o *Options) { o.Locality = Near },
				"apart":    func(o *Options) { o.Locality = Apart },
			})},
		{Name: "tolerated", Default: "derived", Summary: "the workload's tolerated scores: derived (99 minus the caused score, as in the paper) or measured",
			set: oneOf(map[string]func(o *Options){
				"derived":  func(o *Options) { o.MeasuredBound = false },
				"measured": func(o *Options) { o.MeasuredBound = true },
			})},
	}
}

// tarcil draws resource units uniformly over the cluster, busy ones included as
// in the paper's arithmetic, and takes the best of those that are free and good.
// An allocation of several cores takes them on the node of one unit. Where not
// enough are good it takes none, and admission decides; at the last chance it
// takes the best there are, or waits at two. Cost: O(candidates · (columns ·
// residents of a node)), flat in the number of nodes.
type tarcil struct {
	table     *unitTable
	few, many int
	failure   float64
	locality  Locality
	measured  bool

	tentative tentative
	drawn     lots
	demand    digits.Number   // what the workload needs
	free      []unitCandidate // of the drawn ones, best first
	busy      []unitCandidate // the others, where it matters which they are
	scratch   []float64
}

// unitCandidate is a drawn unit.
type unitCandidate struct {
	node    board.Index
	drawn   int     // how many were before it
	quality float64 // Q·g
	good    bool    // keeps its QoS and is fast enough
}

// byQuality is the order of candidates, best first. The order drawn breaks ties: it is the paper's fair
// coin.
func byQuality(x, y unitCandidate) int {
	if c := cmp.Compare(y.quality, x.quality); c != 0 {
		return c
	}
	return x.drawn - y.drawn
}

// Select implements board.Selector.
func (s *tarcil) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	s.scratch = resized(s.scratch, len(b.Columns))
	s.demand = digits.Sorted(s.demand, a.Caused)
	top := fastest(a)
	s.draw(s.size(top)*a.Count, top, random)
	s.choose(func(c *unitCandidate) bool { return c.good })
	if len(f.replicas) < a.Count && (a.Forced || a.Late) {
		s.draw(s.many*a.Count, top, random)
		s.choose(func(*unitCandidate) bool { return a.Forced })
	}
	c := f.choice(a.Count)
	if len(c.Replicas) == 0 && a.Late {
		c.Bind = s.bind()
	}
	return c
}

// fastest is the best speed of any configuration; NaN where none is known.
func fastest(a *board.Request) float64 {
	top := math.NaN()
	for _, v := range a.Speed {
		if !math.IsNaN(v) && !(v <= top) {
			top = v
		}
	}
	return top
}

// platform is g: the speed on a node as a share of the best; 1 where nothing is
// known of any.
func platform(a *board.Request, configuration int, top float64) float64 {
	switch {
	case math.IsNaN(top) || top <= 0:
		return 1
	case configuration >= len(a.Speed) || math.IsNaN(a.Speed[configuration]):
		return 0
	default:
		return a.Speed[configuration] / top
	}
}

// size of the sample for one allocation: what the share of good units asks for.
func (s *tarcil) size(top float64) int {
	column := -1
	if len(s.demand.Order) > 0 {
		column = s.demand.Order[0]
	}
	a := s.tentative.request
	good := s.table.goodShare(column, s.demand.Value, func(c int) bool { return platform(a, c, top) >= tarcilKeptSpeed })
	return int(max(float64(s.few), min(float64(s.many), sampleSize(good, s.failure))))
}

// draw takes distinct units until n were drawn, and sorts those that are free. Of busy ones only a
// request that may wait at them has a use.
func (s *tarcil) draw(n int, top float64, random *rand.Rand) {
	f := &s.tentative
	s.drawn.begin(len(s.table.ofUnit))
	s.free, s.busy = s.free[:0], s.busy[:0]
	for i := range n {
		unit, ok := s.drawn.next(random)
		if !ok {
			break
		}
		f.examined++
		at := s.table.ofUnit[unit]
		if !f.board.Ready(at) || !f.allowed(at) {
			continue // the user or its state rules it out
		}
		if f.board.Fits(at, f.request.Size) {
			s.free = append(s.free, s.judge(at, i, top))
		} else if f.request.Late {
			s.busy = append(s.busy, s.judge(at, i, top))
		}
	}
	slices.SortFunc(s.free, byQuality)
}

// judge a unit of a node.
func (s *tarcil) judge(n board.Index, drawn int, top float64) unitCandidate {
	f := &s.tentative
	f.board.Contention(n, s.scratch)
	free := 1 - s.demand.Read(s.scratch)
	g := platform(f.request, f.board.Node(n).Configuration, top)
	c := unitCandidate{node: n, drawn: drawn, quality: targetQuality(free, s.demand.Value) * g}
	c.good = g >= tarcilKeptSpeed && free >= s.demand.Value
	if s.measured {
		c.good = g >= tarcilKeptSpeed && s.within(s.scratch)
	}
	return c
}

// within: the contention is no more than what the workload was measured to tolerate.
func (s *tarcil) within(contention []float64) bool {
	for k, c := range contention {
		if c > s.tentative.request.Tolerated[k] {
			return false
		}
	}
	return true
}

// choose takes candidates that pass, best first, until the count is reached.
func (s *tarcil) choose(pass func(*unitCandidate) bool) {
	if s.locality == Near && s.tentative.request.Count > 1 {
		s.chooseNear(pass)
		return
	}
	for i := range s.free {
		s.takeUp(&s.free[i], pass, 1)
	}
}

// takeUp takes up to n allocations at a candidate.
func (s *tarcil) takeUp(c *unitCandidate, pass func(*unitCandidate) bool, n int) {
	f := &s.tentative
	for range n {
		if len(f.replicas) >= f.request.Count || !pass(c) || !f.open(c.node) || s.locality == Apart && f.taken[c.node] > 0 {
			return
		}
		f.take(board.Replica{Node: c.node, Size: f.request.Size, Predicted: predictedIsolated(f.request, f.board.Node(c.node))})
	}
}

// chooseNear takes the group together: the node, else the rack, whose candidates
// add up to the best quality over the group, the rest wherever it is good.
func (s *tarcil) chooseNear(pass func(*unitCandidate) bool) {
	f := &s.tentative
	racks := map[int]float64{} // quality of a rack's candidates, one allocation each
	for i := range s.free {
		if c := &s.free[i]; pass(c) {
			racks[f.board.Node(c.node).Rack] += c.quality
		}
	}
	best, rack, top := board.None, false, 0.0
	for i := range s.free {
		c := &s.free[i]
		if !pass(c) {
			continue
		}
		if here := float64(f.board.Room(c.node, f.request.Size, f.request.Count)) * c.quality; here > top {
			best, rack, top = c.node, false, here
		}
		if together := min(float64(f.request.Count), racks[f.board.Node(c.node).Rack]); together > top {
			best, rack, top = c.node, true, together
		}
	}
	if best == board.None {
		return
	}
	home := f.board.Node(best).Rack
	for i := range s.free {
		c := &s.free[i]
		if c.node == best || rack && f.board.Node(c.node).Rack == home {
			s.takeUp(c, pass, f.request.Count)
		}
	}
	for i := range s.free {
		s.takeUp(&s.free[i], pass, f.request.Count)
	}
}

// bind is the two best distinct nodes of the sample, busy as they are.
func (s *tarcil) bind() []board.Index {
	s.busy = append(s.busy, s.free...)
	slices.SortFunc(s.busy, byQuality)
	var out []board.Index
	for i := range s.busy {
		if n := s.busy[i].node; len(out) < tarcilBindings && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// DecisionTime implements board.DecisionTime: 5 ms, 0.5 ms for eight candidates,
// and one commit; a conflict costs another round, which the world counts.
func (*tarcil) DecisionTime(_ *board.Board, _ *board.Request, c board.Choice) time.Duration {
	return samplingFixed + time.Duration(c.Examined)*samplingPerUnit + samplingCommit
}
