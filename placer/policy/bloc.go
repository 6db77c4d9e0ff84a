package policy

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var blocSelector = SelectorDescriptor{
	Name:         "bloc",
	Summary:      "the node with the most disk bandwidth in use on which it still suffices for all; then an unused node",
	Paper:        "Delimitrou 2015, §B.4.2 (Algorithm 1, for one job at a time)",
	NeedsProfile: true,
	New:          newBloc,
	reason:       "disk bandwidth and capacity suffice for all, most of it in use first",
}

// blocMargin is Δ_B, the part of the bandwidth that is left free, in points (§B.4.2).
const blocMargin = 2.0

// bloc treats disk bandwidth and capacity as resources that add up. With c(i) what a
// workload causes and t(i) what it tolerates of others, it keeps its bound up to a use of
//
//	MB_i = t(i) + c(i),  MB_s = min over the workloads on a node (eq. B.1)
//
// and a node takes one where Σ c < MB_s − Δ_B of the bandwidth and Σ c < MC_s of the
// capacity; an unused node takes any. A board without such a column has no such bound.
//
// Algorithm 1 packs many objects and never goes back to a node; jobs come one at a time and
// leave, so that all nodes are looked at here, the fullest first. Its third condition, on
// pairs, needs losses of pairs that a board does not have; other sources of interference do
// not count. Cost: O(count × nodes × residents).
type bloc struct {
	columns   []int // storage bandwidth first, then capacity; −1: the board has none
	tentative tentative
}

func newBloc(b *board.Board, _ Options) board.Selector {
	return &bloc{columns: []int{
		slices.Index(b.Columns, interference.StorageBandwidth), slices.Index(b.Columns, interference.StorageCapacity),
	}}
}

// Select implements board.Selector.
func (s *bloc) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	for len(f.replicas) < a.Count {
		f.gather()
		best, at := blocPlace{}, board.None
		for i, n := range f.nodes {
			if p := s.place(i); at == board.None || p.before(best) {
				best, at = p, n
			}
		}
		if at == board.None {
			break
		}
		f.take(board.Replica{Node: at, Size: a.Size, Predicted: predictedIsolated(a, b.Node(at))})
	}
	return f.choice(a.Count)
}

// blocPlace is how a node suits.
type blocPlace struct {
	tier int     // 0: in use and it suffices; 1: not in use; 2: it does not suffice
	used float64 // bandwidth in use, points
	left float64 // of the scarcer of both, points
}

// before prefers the fullest node that suffices, and of those that do not the one where the
// least is missing.
func (p blocPlace) before(q blocPlace) bool {
	switch {
	case p.tier != q.tier:
		return p.tier < q.tier
	case p.tier == 2:
		return p.left > q.left
	default:
		return p.used > q.used
	}
}

// place looks at f.nodes[i].
func (s *bloc) place(i int) blocPlace {
	p := blocPlace{left: math.Inf(1)}
	inUse := len(s.tentative.residents(i)) > 0 || s.tentative.taken[s.tentative.nodes[i]] > 0
	margins := []float64{blocMargin, 0}
	for at, k := range s.columns {
		if k < 0 {
			continue
		}
		used, left := s.room(i, k)
		p.left = min(p.left, left-margins[at])
		if at == 0 {
			p.used = used
		}
	}
	switch {
	case !inUse:
		p.tier = 1
	case !(p.left > 0):
		p.tier = 2
	}
	return p
}

// room is what is in use of a column on f.nodes[i], and what is left of its limit with one
// more allocation of the request.
func (s *bloc) room(i, k int) (used, left float64) {
	f := &s.tentative
	used = f.summed(i)[k]
	newcomer := f.newcomer(i)
	most := newcomer.Tolerated[k] + newcomer.Caused[k]
	for _, r := range f.residents(i) {
		most = min(most, r.Tolerated[k]+r.Caused[k])
	}
	return used, most - used - newcomer.Caused[k]
}
