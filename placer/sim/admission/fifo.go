package admission

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var fifoDescriptor = Descriptor{
	Name:    "fifo",
	Summary: "one queue in strict order: the first waits for the first node that can run it, all others wait for the first",
	Paper:   "Delimitrou 2015, §6.5 (what ARQ is compared with)",
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		if _, err := fifoParameters.read(o); err != nil {
			return nil, err
		}
		return newFIFO(b), nil
	},
}

var fifoParameters = parameterList{controller: "fifo"}

func newFIFO(b *board.Board) Controller {
	return &fifo{book: newBook(), watcher: newWatcher(b), board: b, queue: sorted{order: bySeniority}, gains: gains{first: 1}}
}

// fifo is one queue. Its head, once refused, takes the first node with room, of
// any quality.
type fifo struct {
	book
	watcher *watcher
	board   *board.Board
	queue   sorted
	gains   gains
	tried   *waiting // offered and not answered
}

// Arrive implements Controller, as do the following methods.
func (c *fifo) Arrive(_ Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	c.queue.add(c.enter(it))
}

func (c *fifo) Next(Instant) (Attempt, bool) {
	c.watcher.each(func(n board.Index, gained bool) {
		if gained {
			c.gains.add(n)
		}
	})
	if len(c.queue.items) == 0 || c.tried != nil {
		return Attempt{}, false
	}
	w := c.queue.items[0]
	waited := w.seen > 0
	serves := c.gains.serves(c.board, w)
	c.gains.drop() // no other item is tried before the head has gone
	w.seen = c.gains.next()
	if !serves {
		return Attempt{}, false
	}
	c.tried = w
	return Attempt{Item: w.item, Forced: waited}, true
}

func (c *fifo) Placed(_ Instant, handle board.Handle) { c.Withdraw(handle) }

func (c *fifo) Refused(_ Instant, handle board.Handle) {
	if c.tried != nil && c.tried.handle == handle {
		c.tried = nil
	}
}

func (c *fifo) Withdraw(handle board.Handle) {
	if w := c.leave(handle); w != nil {
		c.queue.remove(w)
		if c.tried == w {
			c.tried = nil
		}
	}
}

func (c *fifo) Started(Instant, board.Index, board.Handle) {}
func (c *fifo) Ended(Instant, board.Index, board.Handle)   {}
func (c *fifo) Wake() (Instant, bool)                      { return 0, false }
func (c *fifo) Waiting() int                               { return len(c.items) }
