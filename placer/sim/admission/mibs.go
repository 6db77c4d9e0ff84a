package admission

import (
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

var mibsDescriptor = Descriptor{
	Name:       "mibs",
	Summary:    "a queue of some length is assigned at once: the first, then the one that interferes least with it, and so on",
	Paper:      "Chiang and Huang 2011, §3.2 (MIBS, algorithm 2)",
	Parameters: mibsParameters.list,
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		return newQueueing(b, o, mibsParameters, maxQueue, (*queueing).batch)
	},
}

var mibsParameters = parameterList{controller: "mibs", list: queueParameters}

// The ways to read algorithm 2.
const (
	modeAlgorithm2 = "alg2"
	modePaired     = "paired"
	modeMinMin     = "minmin"
	modeBest       = "best"
	modeAuto       = "auto"
)

var queueParameters = []Parameter{
	{Name: "queue", Default: "8", Summary: "workloads that are assigned together"},
	{Name: "flush", Default: "30s", Summary: "a queue that is not full is assigned when its first has waited so long"},
	{Name: "mode", Default: modeAuto, Summary: "alg2: as printed; paired: the second is placed next to the first; minmin: the best of all workloads and nodes; best: the best pairing of the queue on empty nodes, else minmin; auto: paired on empty nodes, else minmin",
		Choices: []string{modeAlgorithm2, modePaired, modeMinMin, modeBest, modeAuto}},
	{Name: "objective", Default: "runtime", Summary: "what is to be good in sum", Choices: []string{"runtime", "iops"}},
	{Name: "counts", Default: "newcomer", Summary: "whose change counts", Choices: []string{"newcomer", "both"}},
	{Name: "score", Default: "absolute", Summary: "absolute, or relative to the workload's performance in isolation", Choices: []string{"absolute", "ratio"}},
}

// planned is one assignment of a batch.
type planned struct {
	item  *waiting
	node  board.Index
	score float64
}

// batch is MIBS on a window of the queue: one assignment after the other, until the
// window or the room is used up.
func (c *queueing) batch(window []*waiting) []planned {
	c.draft.Clear()
	left := append([]*waiting(nil), window...)
	var out []planned
	if c.mode == modeBest {
		out, left = c.bestPairs(left)
	}
	for len(left) > 0 {
		step := c.step(left)
		if len(step) == 0 {
			return out // no room
		}
		for _, p := range step {
			out = append(out, p)
			left = without(left, p.item)
		}
	}
	return out
}

func without(all []*waiting, w *waiting) []*waiting {
	for i := range all {
		if all[i] == w {
			return append(all[:i:i], all[i+1:]...)
		}
	}
	return all
}

// step assigns one or two of those left.
func (c *queueing) step(left []*waiting) []planned {
	if c.mode == modeMinMin || c.mode == modeBest {
		return c.minMin(left)
	}
	first, ok := c.put(left[0])
	if !ok {
		return c.others(left)
	}
	if c.mode == modeAuto && !c.pairable(left[0], first.node) {
		c.draft.Take(left[0].item.Ask, first.node)
		return c.minMin(left)
	}
	out := []planned{first}
	second := c.partner(left)
	if second == nil {
		return out
	}
	if c.mode != modeAlgorithm2 && c.draft.Open(second.item.Ask, first.node) {
		score := c.draft.Score(second.item.Ask, first.node)
		c.draft.Put(second.item.Ask, first.node)
		return append(out, planned{second, first.node, score})
	}
	if p, ok := c.put(second); ok {
		out = append(out, p)
	}
	return out
}

// bestPairs assigns the best pairing of the whole window, which the paper does not have: a bound of
// what pairing can gain by what is predicted. What finds no empty node is left.
func (c *queueing) bestPairs(window []*waiting) (out []planned, left []*waiting) {
	paired := predict.Paired(window, func(a, b *waiting) float64 {
		return c.draft.Together(a.item.Ask, b.item.Ask) + c.draft.Together(b.item.Ask, a.item.Ask)
	})
	for pair := range slices.Chunk(paired, 2) {
		n, ok := c.draft.Empty(pair[0].item.Ask)
		for _, w := range pair {
			if !ok || !c.draft.Open(w.item.Ask, n) {
				left = append(left, w)
				continue
			}
			out = append(out, planned{w, n, c.draft.Score(w.item.Ask, n)})
			c.draft.Put(w.item.Ask, n)
		}
	}
	return out, left
}

// others: the first has no room anywhere, which must not hold up those behind it.
func (c *queueing) others(left []*waiting) []planned {
	for _, w := range left[1:] {
		if p, ok := c.put(w); ok {
			return []planned{p}
		}
	}
	return nil
}

// pairable: the first of a pair is on a node that was empty, with room for more.
func (c *queueing) pairable(w *waiting, n board.Index) bool {
	return len(c.board.Residents(n)) == 0 && c.draft.There(n) == 1 && c.draft.Open(w.item.Ask, n)
}

// put assigns to the best place (MIOS).
func (c *queueing) put(w *waiting) (planned, bool) {
	at, _, ok := c.draft.Best(w.item.Ask)
	if !ok {
		return planned{}, false
	}
	c.draft.Put(w.item.Ask, at.Node)
	return planned{w, at.Node, at.Score}, true
}

// partner is who is predicted to do best next to the first; nil where there is none.
func (c *queueing) partner(left []*waiting) *waiting {
	var best *waiting
	least := 0.0
	for _, w := range left[1:] {
		if score := c.draft.Together(w.item.Ask, left[0].item.Ask); best == nil || score < least {
			best, least = w, score
		}
	}
	return best
}

// minMin assigns the best of all pairs of a workload and a node.
func (c *queueing) minMin(left []*waiting) []planned {
	var best planned
	for _, w := range left {
		if at, _, ok := c.draft.Best(w.item.Ask); ok && (best.item == nil || at.Score < best.score) {
			best = planned{w, at.Node, at.Score}
		}
	}
	if best.item == nil {
		return nil
	}
	c.draft.Put(best.item.item.Ask, best.node)
	return []planned{best}
}

// queueing holds workloads until they can be assigned together: when the queue is
// full, when a node gains room, or when the first has waited long enough. What is
// behind the queue's length waits behind it, in order.
type queueing struct {
	book
	watcher *watcher
	board   *board.Board
	draft   *predict.Draft
	line    sorted
	length  int
	flush   Instant
	mode    string
	assign  func(c *queueing, window []*waiting) []planned

	plan    []planned
	tried   *waiting
	sizes   map[cluster.Resources]int // of those held that may go anywhere
	limited int                       // how many of those held may not
	gains   int                       // of room, counted
	gained  bool                      // a node gained room since the last assignment
	blocked bool                      // the last assignment left some of a full queue: room is needed
	now     Instant                   // of the last call
}

func newQueueing(b *board.Board, o Options, p parameterList, longest int, assign func(*queueing, []*waiting) []planned) (Controller, error) {
	s, err := p.read(o)
	if err != nil {
		return nil, err
	}
	c := &queueing{
		book: newBook(), watcher: newWatcher(b), board: b, line: sorted{order: bySeniority}, assign: assign, mode: s.values["mode"],
		length: s.whole("queue", 1, longest), sizes: map[cluster.Resources]int{},
		draft: predict.NewDraft(b, board.NewAlike(b), predict.Scoring{
			IOPS: s.is("objective", "iops"), Both: s.is("counts", "both"), Ratio: s.is("score", "ratio"),
		}),
	}
	if !s.is("flush", "0s") {
		c.flush = s.duration("flush")
	}
	c.watcher.each(func(board.Index, bool) {}) // room that was there is not gained
	return c, s.err
}

// maxQueue bounds what is assigned together: the cost of MIBS is its square.
const maxQueue = 4096

// Arrive implements Controller, as do the following methods.
func (c *queueing) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	w := c.enter(it)
	w.queued = queuedState{size: it.Ask.Size, limited: it.Ask.Allowed != nil}
	c.line.add(w)
	c.count(w, +1)
	c.now = now
	if c.blocked && c.fits(it.Ask) {
		c.blocked = false
	}
}

func (c *queueing) Next(now Instant) (Attempt, bool) {
	c.now = now
	c.watcher.each(func(_ board.Index, gained bool) {
		if gained { // no item waits for what was there before
			c.gained, c.blocked = len(c.line.items) > 0, false
			c.gains++
		}
	})
	if c.tried != nil {
		return Attempt{}, false
	}
	if len(c.plan) == 0 && c.due(now) {
		c.plan = c.assign(c, c.window())
		c.gained, c.blocked = false, len(c.plan) == 0
	}
	if len(c.plan) == 0 {
		return Attempt{}, false
	}
	p := c.plan[0]
	c.plan = c.plan[1:]
	c.tried = p.item
	c.tried.queued.offered = p.item.item.Ask.Count
	attempt := Attempt{Item: p.item.item, Forced: true}
	if !whole(p.item.item.Ask) {
		attempt.Within = func(n board.Index) bool { return n == p.node }
	}
	return attempt, true
}

// whole: one node does not do for a group: the selector finds a place for each of its
// allocations (MIOS), when its turn comes. The paper has no groups.
func whole(a *board.Request) bool { return a.Count > 1 }

// fits: there is room now, whatever was planned.
func (c *queueing) fits(a *board.Request) bool {
	c.draft.Clear()
	return c.possible(a)
}

// due: the queue is to be assigned now.
func (c *queueing) due(now Instant) bool {
	switch {
	case len(c.line.items) == 0 || c.blocked:
		return false
	case len(c.line.items) >= c.length || c.gained:
		return true
	default:
		return now >= c.line.items[0].item.Ready+c.flush
	}
}

// window is the queue that is assigned together. What has no room anywhere does not
// hold up those behind it.
func (c *queueing) window() []*waiting {
	c.draft.Clear()
	room := map[cluster.Resources]bool{} // of those that may go anywhere
	some := c.limited > 0
	for size := range c.sizes {
		room[size] = c.possible(&board.Request{Size: size})
		some = some || room[size]
	}
	if !some {
		return nil
	}
	var out []*waiting
	for _, w := range c.line.items {
		if len(out) == c.length {
			break
		}
		if c.hopeless(w) {
			continue
		}
		if !w.queued.limited && room[w.queued.size] || w.queued.limited && c.possible(w.item.Ask) {
			out = append(out, w)
		}
	}
	return out
}

// queuedState is how an item was counted when it came.
type queuedState struct {
	size    cluster.Resources
	limited bool // its user does not allow every node
	offered int  // allocations it lacked when it was tried last
	refused bool // as it was offered: nothing of it found room
	gains   int  // of room that were seen then
}

// hopeless: it was refused, and no node gained room since.
func (c *queueing) hopeless(w *waiting) bool { return w.queued.refused && w.queued.gains == c.gains }

// count an item that comes (+1) or goes (−1).
func (c *queueing) count(w *waiting, by int) {
	if w.queued.limited {
		c.limited += by
		return
	}
	size := w.queued.size
	if c.sizes[size] += by; c.sizes[size] == 0 {
		delete(c.sizes, size)
	}
}

// possible: one allocation has room somewhere.
func (c *queueing) possible(a *board.Request) bool { return c.draft.Anywhere(a) }

func (c *queueing) Placed(_ Instant, handle board.Handle) { c.Withdraw(handle) }

// Refused: another took the room, then what is left is assigned anew; or a group
// is not complete yet.
func (c *queueing) Refused(_ Instant, handle board.Handle) {
	if c.tried != nil && c.tried.handle == handle {
		w := c.tried
		c.tried = nil
		w.queued.refused = w.item.Ask.Count == w.queued.offered
		w.queued.gains = c.gains
		if w.queued.refused {
			c.plan = nil
		}
	}
}

func (c *queueing) Withdraw(handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	c.line.remove(w)
	c.count(w, -1)
	if c.tried == w {
		c.tried = nil
	}
	if slices.ContainsFunc(c.plan, func(p planned) bool { return p.item == w }) {
		c.plan = nil // what was assigned next to it is not right any more
	}
}

func (c *queueing) Started(Instant, board.Index, board.Handle) {}
func (c *queueing) Ended(Instant, board.Index, board.Handle)   {}

// Wake is when the first of a queue that is not full has waited long enough.
func (c *queueing) Wake() (Instant, bool) {
	if len(c.line.items) == 0 || c.blocked || c.tried != nil {
		return 0, false
	}
	at := c.line.items[0].item.Ready + c.flush
	return at, at > c.now
}

func (c *queueing) Waiting() int { return len(c.items) }
