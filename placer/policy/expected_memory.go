package policy

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// judgement is what `expected` found out of one kind of newcomer on a node: all that predictions
// say depends on who is there, which the node's memo stands for, and on the kind.
type judgement struct {
	reached, kept float64
	net           float64 // worth with what the residents lose; NaN: not looked at yet
}

// remembered are the judgements on one node, of the kinds of newcomers that were judged last. Jobs
// come by the dozen, and are of few kinds.
type remembered struct {
	kinds      []uint64
	judgements []judgement // by kind
	next       int         // which is forgotten for another
}

// mostKinds bounds what a node remembers (chosen by us: 32 bytes each).
const mostKinds = 48

// find a judgement of a kind; nil: there is none.
func (m *remembered) find(kind uint64) *judgement {
	if at := slices.Index(m.kinds, kind); at >= 0 {
		return &m.judgements[at]
	}
	return nil
}

func (m *remembered) keep(kind uint64, j judgement) {
	if len(m.kinds) < mostKinds {
		m.kinds, m.judgements = append(m.kinds, kind), append(m.judgements, j)
		return
	}
	m.kinds[m.next], m.judgements[m.next] = kind, j
	m.next = (m.next + 1) % mostKinds
}

// kindSeed is the process's: kinds are compared within it only.
var kindSeed = maphash.MakeSeed()

// kindsOf gives what a newcomer's judgement depends on apart from node and residents a number, by
// configuration of the board. nil where it depends on more: a learnt response is of a simulator's
// newcomer, on boards that keep nothing.
func (e *expected) kindsOf(b *board.Board, a *board.Request) []uint64 {
	if a.Response != nil {
		return nil
	}
	out := make([]uint64, len(b.Configurations))
	for c := range out {
		var h maphash.Hash
		h.SetSeed(kindSeed)
		t := a.ToleranceOn(c)
		required := math.NaN()
		if t.RequiredFraction != nil {
			required = *t.RequiredFraction
		}
		numbers(&h, e.top, e.need, slowdownMax(a), isolatedSpeed(a, &board.Node{Configuration: c}), required, t.LateShare, t.DemandFactor, t.RunMS)
		numbers(&h, t.Tolerated...)
		numbers(&h, a.Caused...)
		numbers(&h, a.Curve()...)
		maphash.WriteComparable(&h, a.Size)
		maphash.WriteComparable(&h, e.options.FairShares)
		out[c] = h.Sum64()
	}
	return out
}

// numbers writes how many there are, and each by its bits.
func numbers(h *maphash.Hash, v ...float64) {
	maphash.WriteComparable(h, len(v))
	for _, x := range v {
		maphash.WriteComparable(h, math.Float64bits(x))
	}
}

// memory is what a node remembers, with the newcomer's kind; ok is false where nothing can be remembered: the
// node got allocations of this choice, or is of a board that keeps nothing.
func (e *expected) memory(n board.Index) (m *remembered, kind uint64, ok bool) {
	if e.kinds == nil || e.tentative.taken[n] > 0 {
		return nil, 0, false
	}
	memo := e.tentative.board.Memo(n)
	if memo == nil {
		return nil, 0, false
	}
	m, ok = (*memo).(*remembered)
	if !ok {
		m = &remembered{}
		*memo = m
	}
	return m, e.kinds[e.tentative.board.Node(n).Configuration], true
}
