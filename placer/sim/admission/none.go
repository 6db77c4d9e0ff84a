package admission

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var noneDescriptor = Descriptor{
	Name:    "none",
	Summary: "try everything at once, and again whenever a node that could run it gains room",
	New:     newNone,
}

func newNone(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
	if _, err := noneParameters.read(o); err != nil {
		return nil, err
	}
	return &none{book: newBook(), watcher: newWatcher(b), line: newLine(b, bySeniority)}, nil
}

var noneParameters = parameterList{controller: "none"}

// none holds items back only while nothing can run them, as Nomad's blocked
// evaluations do: none waits for another.
type none struct {
	book
	watcher *watcher
	line    *line
}

// Arrive implements Controller, as do the following methods.
func (c *none) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	c.line.add(c.enter(it))
}

func (c *none) Next(Instant) (Attempt, bool) {
	c.flush()
	w := c.line.next()
	if w == nil {
		return Attempt{}, false
	}
	w.flying = true
	return Attempt{Item: w.item}, true
}

func (c *none) flush() {
	c.watcher.each(func(n board.Index, gained bool) {
		if gained {
			c.line.gained(n)
		}
	})
}

func (c *none) Placed(_ Instant, handle board.Handle) { c.Withdraw(handle) }

func (c *none) Refused(_ Instant, handle board.Handle) {
	if w := c.items[handle]; w != nil {
		w.flying = false
		c.flush()
		c.line.refused(w)
	}
}

func (c *none) Withdraw(handle board.Handle) {
	if w := c.leave(handle); w != nil {
		c.line.remove(w)
	}
}

func (c *none) Started(Instant, board.Index, board.Handle) {}
func (c *none) Ended(Instant, board.Index, board.Handle)   {}
func (c *none) Wake() (Instant, bool)                      { return 0, false }
func (c *none) Waiting() int                               { return len(c.items) }
