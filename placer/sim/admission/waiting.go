package admission

import (
	"cmp"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// waiting is an item held by a controller.
type waiting struct {
	item   Item
	handle board.Handle
	number uint64 // in order of Arrive: breaks every tie
	flying bool   // offered by Next and not answered yet
	seen   uint64 // gains of room seen when last tried (see gains)

	due  Instant // when time changes something for it
	slot int     // in the heap of timers; noSlot where it has no due time

	quality qualityState // of arq
	bucket  bucketState  // of tarcil
	exit    exitState    // of lotes, greedy-fit and tetris
	queued  queuedState  // of mibs and mix

	patience patience    // of patient
	side     hcloudState // of hcloud
}

// least is the least size one allocation of the ask may have.
func least(a *board.Request) cluster.Resources {
	if len(a.Sizes) > 0 {
		return a.Sizes[0].Size
	}
	return a.Size
}

// mayRun reports whether a node has room for one allocation, and is allowed.
func mayRun(b *board.Board, n board.Index, a *board.Request) bool {
	return b.Fits(n, least(a)) && (a.Allowed == nil || a.Allowed(n))
}

// bySeniority is the order of submission.
func bySeniority(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.item.Arrived, b.item.Arrived), cmp.Compare(a.number, b.number))
}

// book finds items by their ref, and numbers them.
type book struct {
	items map[board.Handle]*waiting
	last  uint64
}

func newBook() book { return book{items: map[board.Handle]*waiting{}} }

// enter takes an item in. One that is held already is replaced by the caller
// first: see Controller.Withdraw.
func (b *book) enter(it Item) *waiting {
	b.last++
	w := &waiting{item: it, handle: it.Ask.Handle, number: b.last, slot: noSlot}
	b.items[w.handle] = w
	return w
}

// leave forgets an item; nil where it is not held.
func (b *book) leave(handle board.Handle) *waiting {
	w := b.items[handle]
	delete(b.items, handle)
	return w
}

// sorted is a list of waiting items in a total order.
type sorted struct {
	items []*waiting
	order func(a, b *waiting) int
}

// add returns where the item is now. O(log n) comparisons.
func (s *sorted) add(w *waiting) int {
	at, _ := slices.BinarySearchFunc(s.items, w, s.order)
	s.items = slices.Insert(s.items, at, w)
	return at
}

// remove returns where the item was. Nothing its order depends on may have
// changed since it was added.
func (s *sorted) remove(w *waiting) int {
	at, _ := slices.BinarySearchFunc(s.items, w, s.order)
	if at < len(s.items)/2 { // in most queues the first one leaves
		copy(s.items[1:at+1], s.items[:at])
		s.items[0] = nil
		s.items = s.items[1:]
	} else {
		s.items = slices.Delete(s.items, at, at+1)
	}
	return at
}
