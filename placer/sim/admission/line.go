package admission

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// mostGains is how many nodes that gained room are kept apart; after more, every
// item of a line is tried again.
const mostGains = 64

// gains numbers the nodes that gained room, so that each item is tried again only
// for those it has not been tried on.
type gains struct {
	nodes []board.Index
	first uint64 // number of nodes[0]; starts at 1, so that a new item (0) is tried
}

func (g *gains) add(n board.Index) {
	if len(g.nodes) == mostGains {
		g.drop()
	}
	g.nodes = append(g.nodes, n)
}

// next is the number the next node will get.
func (g *gains) next() uint64 { return g.first + uint64(len(g.nodes)) }

func (g *gains) drop() {
	g.first = g.next()
	g.nodes = g.nodes[:0]
}

// serves reports whether a node that gained room since the item was last tried
// could run it, or may have.
func (g *gains) serves(b *board.Board, w *waiting) bool {
	if w.seen < g.first {
		return true
	}
	return slices.ContainsFunc(g.nodes[w.seen-g.first:], func(n board.Index) bool { return mayRun(b, n, w.item.Ask) })
}

// since are the nodes that gained room since the item was last tried; false where too many have
// for them to be kept apart.
func (g *gains) since(w *waiting) ([]board.Index, bool) {
	if w.seen < g.first {
		return nil, false
	}
	return g.nodes[w.seen-g.first:], true
}

// line offers its items in their order, each once when it is new and once after
// every gain of room that could serve it. No item holds up another.
type line struct {
	sorted
	board *board.Board
	gains gains
	at    int // the next item to look at

	fresh []board.Index // what gained room since the item that next returned was last tried
	few   bool          // they are known
}

func newLine(b *board.Board, order func(a, b *waiting) int) *line {
	return &line{sorted: sorted{order: order}, board: b, gains: gains{first: 1}}
}

func (l *line) add(w *waiting) {
	l.at = min(l.at, l.sorted.add(w))
}

// addTried adds an item that has just been refused.
func (l *line) addTried(w *waiting) {
	w.seen = l.gains.next()
	l.add(w)
}

func (l *line) remove(w *waiting) {
	if l.sorted.remove(w) < l.at {
		l.at--
	}
}

// gained tells that a node has more room.
func (l *line) gained(n board.Index) {
	if len(l.items) > 0 {
		l.gains.add(n)
		l.at = 0
	} else {
		l.gains.drop()
	}
}

// refused lets an item be offered again for what it gained while it was tried.
func (l *line) refused(w *waiting) {
	if w.seen < l.gains.next() {
		l.at = 0
	}
}

// next is the item to try now, or nil. The caller offers it.
func (l *line) next() *waiting {
	for ; l.at < len(l.items); l.at++ {
		w := l.items[l.at]
		if w.flying {
			continue
		}
		serves := l.gains.serves(l.board, w)
		l.fresh, l.few = l.gains.since(w)
		w.seen = l.gains.next()
		if serves {
			l.at++
			return w
		}
	}
	l.gains.drop() // everyone has seen them, except who is tried now (see refused)
	return nil
}
