package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/wording"
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

// blocMargin is Δ_B, the part of the bandwidth that is left free, in points.
const blocMargin = 100 * disk.MoveShare

// bloc treats disk bandwidth and capacity as resources that add up. A workload uses c(i) of
// either and keeps its bound up to a use of MB_i by all, and a node takes one where
//
//	MB_s = min over the workloads on a node of MB_i (eq. B.1)
//	Σ c < MB_s − Δ_B of the bandwidth and Σ c < MC_s of the capacity
//
// An unused node takes any. Of bandwidth, c(i) and MB_i are what the workload is promised
// (placer/disk), where its job and the node say it. Else, and of capacity, they follow from
// what it causes and what it tolerates of others: MB_i = t(i) + c(i). Who says neither has no
// such bound.
//
// Algorithm 1 packs many objects and never goes back to a node; jobs come one at a time and
// leave, so that all nodes are looked at here, the fullest first. Its third condition, on
// pairs, needs losses of pairs that a board does not have; other sources of interference do
// not count. Cost: O(count × nodes × residents).
type bloc struct {
	bandwidth, capacity int // columns; −1: the board has none
	tentative           tentative
}

func newBloc(b *board.Board, _ Options) board.Selector {
	return &bloc{
		bandwidth: slices.Index(b.Columns, interference.StorageBandwidth),
		capacity:  slices.Index(b.Columns, interference.StorageCapacity),
	}
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
	tier  int     // 0: in use and it suffices; 1: not in use; 2: it does not suffice
	used  float64 // bandwidth in use, points
	takes float64 // by the newcomer, points
	left  float64 // of the scarcer of both, points
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
	f := &s.tentative
	bandwidth := s.room(i, s.promisedOf(f.board.Node(f.nodes[i])))
	capacity := s.room(i, func(r *board.Resident) blocUse { return scoredUse(s.capacity, r) })
	p := blocPlace{used: bandwidth.used, takes: bandwidth.takes, left: min(bandwidth.left-blocMargin, capacity.left)}
	switch {
	case len(f.residents(i)) == 0 && f.taken[f.nodes[i]] == 0:
		p.tier = 1
	case !(p.left > 0):
		p.tier = 2
	}
	return p
}

// blocUse is what a workload uses of a resource, and up to which use by all it keeps its
// bound, in points.
type blocUse struct{ used, most float64 }

// promisedOf is the use of a node's bandwidth: as promised, else by the scores. A promise is of
// one node's disk, also where others are of its machine.
func (s *bloc) promisedOf(n *board.Node) func(*board.Resident) blocUse {
	return func(r *board.Resident) blocUse {
		switch {
		case r.Disk == nil || n.DiskMBPerSec == 0:
			return scoredUse(s.bandwidth, r)
		case r.Node != "" && r.Node != n.ID:
			return blocUse{most: math.Inf(1)}
		}
		a := disk.NewAccount(n.DiskMBPerSec)
		a.Add(*r.Disk)
		return blocUse{used: 100 * a.PromisedMBPerSec / a.RatedMBPerSec, most: 100 * a.MostShare}
	}
}

// scoredUse is that by the scores of a column.
func scoredUse(column int, r *board.Resident) blocUse {
	if column < 0 {
		return blocUse{most: math.Inf(1)}
	}
	return blocUse{used: r.Caused[column], most: r.Tolerated[column] + r.Caused[column]}
}

// blocRoom is what is in use of a resource, what the newcomer takes, and what is left of the
// limit with it.
type blocRoom struct{ used, takes, left float64 }

// room adds up the use of f.nodes[i] by its residents, by those chosen so far and by one more.
func (s *bloc) room(i int, use func(*board.Resident) blocUse) blocRoom {
	f := &s.tentative
	newcomer := f.newcomer(i)
	one := use(&newcomer)
	used, most := 0.0, one.most
	residents := f.residents(i)
	for k := range residents {
		r := use(&residents[k])
		used, most = used+r.used, min(most, r.most)
	}
	used += float64(f.taken[f.nodes[i]]) * one.used
	return blocRoom{used: used, takes: one.used, left: most - used - one.used}
}

// explain implements explainer.
func (s *bloc) explain(b *board.Board, a *board.Request, n board.Index) explanation {
	f := &s.tentative
	f.begin(b, a, 0)
	f.nodes = append(f.nodes, n)
	p := s.place(0)
	if math.IsInf(p.left, 1) {
		return explanation{why: "nothing is known of its use of disks: every node suffices"}
	}
	verdict := "an unused node takes any"
	switch {
	case p.tier == 0:
		verdict = fmt.Sprintf("that suffices for all, with %s points left", wording.Number(p.left))
	case p.tier == 2:
		verdict = fmt.Sprintf("that is %s points more than suffices for all", wording.Number(-p.left))
	}
	return explanation{
		parts: []cluster.ScorePart{{Name: "disk_used_percent", Value: p.used}, {Name: "disk_taken_percent", Value: p.takes}},
		why:   fmt.Sprintf("%s %% of its disk bandwidth is in use and it takes %s %%: %s", wording.Number(p.used), wording.Number(p.takes), verdict),
	}
}
