package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// Draws are the random numbers of one decision. A live cluster and a simulated
// one that give a request the same seed draw the same candidates.
func Draws(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, drawsStream)) }

// drawsStream keeps these numbers apart from other uses of a seed.
const drawsStream = 0x70_6c_61_63_65

// wholeDraws is how often a policy is asked before the rest of a group is placed
// for it (chosen by us: a sample of two that missed four times says that the
// cluster is nearly full).
const wholeDraws = 4

// Whole asks a selector until a group of given count is placed in full, as a
// world without admission must: nothing waits there, and a node with room is to
// be used. What is left after a few draws goes to the least loaded nodes. A group
// whose size or count the policy chooses is handed on as it is.
//
// room is how many allocations of the request a node takes at most; nil asks the
// board, which knows nothing of the rules of a group. Where best-effort work has
// to leave, what the selector chose first is all there is for now.
func Whole(inner board.Selector, room func(n board.Index) int) board.Selector {
	return &whole{inner: inner, room: room}
}

type whole struct {
	inner board.Selector
	room  func(n board.Index) int
	rest  *leastLoaded // made when first needed

	board   *board.Board
	request *board.Request
	taken   map[board.Index]int
}

// Select implements board.Selector.
func (w *whole) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	if len(a.Sizes) > 0 || len(a.ScaleOut) > 0 {
		return w.inner.Select(b, a, random)
	}
	w.board, w.request, w.taken = b, a, map[board.Index]int{}
	left := *a
	left.Allowed = w.open
	var all board.Choice
	for draw := 0; draw < wholeDraws && left.Count > 0 && len(all.Evict) == 0; draw++ {
		c := w.inner.Select(b, &left, random)
		if draw > 0 && len(c.Evict) > 0 {
			break // it is asked as if nothing of the group were placed yet
		}
		w.add(&all, c, draw == 0)
		left.Count = a.Count - len(all.Replicas)
		left.Target = 0 // the rest as well as can be
	}
	for left.Count > 0 && len(all.Evict) == 0 && w.add(&all, w.leastLoaded().take(b, &left, left.Count), false) {
		left.Count = a.Count - len(all.Replicas)
	}
	switch {
	case a.Gang && len(all.Replicas) < a.Count:
		all.Replicas, all.Evict = nil, nil
	case len(all.Replicas) > 0:
		all.Bind = nil
	}
	all.Reaches = reaches(a, all.Replicas)
	return all
}

// open: the user's constraints let the node run the workload, and it takes one more.
func (w *whole) open(n board.Index) bool {
	if w.request.Allowed != nil && !w.request.Allowed(n) {
		return false
	}
	taken := w.taken[n]
	if w.room != nil {
		return taken < w.room(n)
	}
	return taken < w.board.Room(n, w.request.Size, taken+1)
}

// add takes over what of a choice still has room, for the selector does not know
// what it chose before, and reports whether that is anything.
func (w *whole) add(all *board.Choice, c board.Choice, first bool) bool {
	before := len(all.Replicas)
	all.Examined += c.Examined
	all.TimedOut = all.TimedOut || c.TimedOut
	all.Indexed, all.Scanned, all.Scans = all.Indexed+c.Indexed, all.Scanned+c.Scanned, all.Scans+c.Scans
	if first {
		all.Relaxed, all.Backtracks, all.Bind, all.Evict = c.Relaxed, c.Backtracks, c.Bind, c.Evict
	}
	for _, u := range c.Replicas {
		if len(all.Replicas) < w.request.Count && (len(c.Evict) > 0 || w.open(u.Node)) {
			w.taken[u.Node]++
			all.Replicas = append(all.Replicas, u)
		}
	}
	return len(all.Replicas) > before
}

func (w *whole) leastLoaded() *leastLoaded {
	if w.rest == nil {
		w.rest = newLeastLoaded(w.board)
	}
	return w.rest
}
