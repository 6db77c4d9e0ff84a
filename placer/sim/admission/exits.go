package admission

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// exits is what the controllers of LoTES and its baselines share: a new item is
// tried once, anywhere; what finds no room goes into queues; a node that gains room
// is offered what the queues choose for it, until they choose nothing. An item that
// no node would ever be offered is tried wherever there is room.
type exits struct {
	book
	board    *board.Board
	watcher  *watcher
	queues   queues
	fresh    sorted
	anywhere *line
	gains    uint64 // nodes that gained room, so far
	gained   []board.Index
	listed   []bool // in gained, by node
	serial   uint64 // of the present offer of a node's room
	fallback int    // items that went anywhere
}

// queues are where a controller lets items wait.
type queues interface {
	// park puts an item into a queue; false where none would ever serve it.
	park(w *waiting) bool
	// next chooses what a node is to run, and leaves it in its queue; nil is nothing.
	// It leaves out what was refused there in this turn.
	next(n board.Index, turn uint64) *waiting
	remove(w *waiting)
}

// exitState is where an item is.
type exitState struct {
	at        exitPlace
	offered   uint64      // gains when it was offered
	turn      uint64      // in which it was offered
	class     int         // of lotes
	impatient bool        // likewise: it takes any room
	work      float64     // of tetris
	node      board.Index // whose queue it is in, of greedy-fit
}

type exitPlace uint8

const (
	isFresh exitPlace = iota
	isQueued
	isAnywhere
	isOffered // and in no list
)

func newExits(b *board.Board) exits {
	return exits{book: newBook(), board: b, watcher: newWatcher(b), fresh: sorted{order: bySeniority}, anywhere: newLine(b, bySeniority)}
}

// arrive takes an item in.
func (e *exits) arrive(it Item) *waiting {
	e.Withdraw(it.Ask.Handle)
	w := e.enter(it)
	e.fresh.add(w)
	return w
}

// flush notes which nodes gained room; changed is called for each that changed.
func (e *exits) flush(changed func(n board.Index)) {
	e.watcher.each(func(n board.Index, gained bool) {
		if changed != nil {
			changed(n)
		}
		if !gained {
			return
		}
		e.gains++
		e.serial++ // what was refused before may fit now
		for int(n) >= len(e.listed) {
			e.listed = append(e.listed, false)
		}
		if !e.listed[n] {
			e.listed[n] = true
			e.gained = append(e.gained, n)
		}
		e.anywhere.gained(n)
	})
}

// offer is the next attempt.
func (e *exits) offer() (Attempt, bool) {
	for len(e.gained) > 0 {
		n := e.gained[0]
		if w := e.queues.next(n, e.serial); w != nil {
			e.queues.remove(w)
			e.fly(w)
			return Attempt{Item: w.item, Within: func(other board.Index) bool { return other == n }, Only: []board.Index{n}}, true
		}
		e.gained = e.gained[1:]
		e.listed[n] = false
		e.serial++
	}
	if w := e.anywhere.next(); w != nil {
		w.flying = true
		return Attempt{Item: w.item}, true
	}
	if len(e.fresh.items) > 0 {
		w := e.fresh.items[0]
		e.fresh.remove(w)
		e.fly(w)
		return Attempt{Item: w.item}, true
	}
	return Attempt{}, false
}

func (e *exits) fly(w *waiting) {
	w.flying, w.exit.offered, w.exit.turn = true, e.gains, e.serial
	if w.exit.at == isFresh {
		w.exit.turn = 0
	}
	w.exit.at = isOffered
}

// refused puts an item back, or into a queue.
func (e *exits) refused(handle board.Handle) {
	w := e.items[handle]
	if w == nil || !w.flying {
		return
	}
	w.flying = false
	switch {
	case w.exit.at == isAnywhere:
		e.anywhere.refused(w)
	case w.exit.turn == 0 && e.gains > w.exit.offered: // room came while it was tried
		w.exit.at = isFresh
		e.fresh.add(w)
	default:
		e.settle(w)
	}
}

// settle an item in a queue, or among those that go anywhere.
func (e *exits) settle(w *waiting) {
	if e.queues.park(w) {
		w.exit.at = isQueued
		return
	}
	w.exit.at = isAnywhere
	e.fallback++
	e.anywhere.addTried(w)
}

// Withdraw implements Controller.
func (e *exits) Withdraw(handle board.Handle) {
	w := e.leave(handle)
	if w == nil {
		return
	}
	switch w.exit.at {
	case isFresh:
		e.fresh.remove(w)
	case isQueued:
		e.queues.remove(w)
	case isAnywhere:
		e.anywhere.remove(w)
	}
}

// Waiting implements Controller.
func (e *exits) Waiting() int { return len(e.items) }

// holdsEmpty: the node, were it empty, has room for one allocation of the ask.
func holdsEmpty(b *board.Board, n board.Index, a *board.Request) bool {
	s, node := least(a), b.Node(n)
	return b.Ready(n) && s.CPUMHz+s.Cores*node.CoreMHz <= node.Total.CPUMHz && s.Cores <= node.Total.Cores &&
		s.MemoryMB <= node.Total.MemoryMB && s.DiskMB <= node.Total.DiskMB && (a.Allowed == nil || a.Allowed(n))
}

// resettle puts everything that waits in queues into them anew; list has them all.
func (e *exits) resettle(list []*waiting) {
	slices.SortStableFunc(list, bySeniority)
	for _, w := range list {
		e.queues.remove(w)
	}
	for _, w := range list {
		w.exit.at = isFresh // it is tried once more: the cluster is another one
		e.fresh.add(w)
	}
}
