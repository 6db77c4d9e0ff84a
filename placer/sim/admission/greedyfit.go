package admission

import (
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var greedyFitDescriptor = Descriptor{
	Name:    "greedy-fit",
	Summary: "every node has a queue, served in order; what finds no room joins the shortest, ties at random",
	Paper:   "Tran 2016, §5.1 (what LoTES is compared with)",
	New: func(b *board.Board, o Options, random *rand.Rand) (Controller, error) {
		if _, err := greedyFitParameters.read(o); err != nil {
			return nil, err
		}
		c := &greedyFit{exits: newExits(b), random: random}
		c.exits.queues = c
		return c, nil
	},
}

var greedyFitParameters = parameterList{controller: "greedy-fit"}

// greedyFit: the head of a node's queue blocks those behind it, as in the paper. A
// job never leaves the queue it joined, unless its node is lost. Nodes are kept by
// the length of their queue.
type greedyFit struct {
	exits
	random *rand.Rand
	queue  [][]*waiting    // by node
	byLen  [][]board.Index // nodes by length of their queue
	place  []int           // of a node in byLen
	ready  []bool
}

// Arrive implements Controller, as do the following methods.
func (c *greedyFit) Arrive(_ Instant, it Item) { c.arrive(it) }

func (c *greedyFit) Next(Instant) (Attempt, bool) {
	c.flush(c.changed)
	return c.offer()
}

func (c *greedyFit) Placed(_ Instant, handle board.Handle)  { c.Withdraw(handle) }
func (c *greedyFit) Refused(_ Instant, handle board.Handle) { c.flush(c.changed); c.refused(handle) }

func (c *greedyFit) Started(Instant, board.Index, board.Handle) {}
func (c *greedyFit) Ended(Instant, board.Index, board.Handle)   {}
func (c *greedyFit) Wake() (Instant, bool)                      { return 0, false }

// changed: new nodes get a queue, and that of a lost one is dissolved.
func (c *greedyFit) changed(n board.Index) {
	for len(c.queue) <= int(n) {
		c.queue, c.place, c.ready = append(c.queue, nil), append(c.place, 0), append(c.ready, false)
		c.enterLength(board.Index(len(c.queue)-1), 0)
	}
	was := c.ready[n]
	c.ready[n] = c.board.Ready(n)
	if was && !c.ready[n] {
		c.resettle(slices.Clone(c.queue[n]))
	}
}

func (c *greedyFit) enterLength(n board.Index, length int) {
	for len(c.byLen) <= length {
		c.byLen = append(c.byLen, nil)
	}
	c.place[n] = len(c.byLen[length])
	c.byLen[length] = append(c.byLen[length], n)
}

func (c *greedyFit) leaveLength(n board.Index, length int) {
	list := c.byLen[length]
	last := list[len(list)-1]
	list[c.place[n]] = last
	c.place[last] = c.place[n]
	c.byLen[length] = list[:len(list)-1]
}

// drawsMost lots are drawn among the shortest queues before all are looked at.
const drawsMost = 16

// park at the shortest queue of a node that can hold the item.
func (c *greedyFit) park(w *waiting) bool {
	if n := w.exit.node; w.exit.turn > 0 && holdsEmpty(c.board, n, w.item.Ask) { // refused at its own node: it stays the head
		length := len(c.queue[n])
		c.leaveLength(n, length)
		c.enterLength(n, length+1)
		c.queue[n] = slices.Insert(c.queue[n], 0, w)
		return true
	}
	for length, nodes := range c.byLen {
		if len(nodes) == 0 {
			continue
		}
		for range drawsMost {
			if n := nodes[c.random.IntN(len(nodes))]; holdsEmpty(c.board, n, w.item.Ask) {
				c.join(w, n, length)
				return true
			}
		}
		var fit []board.Index
		for _, n := range nodes {
			if holdsEmpty(c.board, n, w.item.Ask) {
				fit = append(fit, n)
			}
		}
		if len(fit) > 0 {
			c.join(w, fit[c.random.IntN(len(fit))], length)
			return true
		}
	}
	return false
}

func (c *greedyFit) join(w *waiting, n board.Index, length int) {
	c.leaveLength(n, length)
	c.enterLength(n, length+1)
	w.exit.node = n
	c.queue[n] = append(c.queue[n], w)
}

func (c *greedyFit) remove(w *waiting) {
	n := w.exit.node
	length := len(c.queue[n])
	c.queue[n] = slices.DeleteFunc(c.queue[n], func(o *waiting) bool { return o == w })
	c.leaveLength(n, length)
	c.enterLength(n, length-1)
}

// next is the head of the node's queue, where it fits.
func (c *greedyFit) next(n board.Index, turn uint64) *waiting {
	if int(n) >= len(c.queue) || len(c.queue[n]) == 0 {
		return nil
	}
	if w := c.queue[n][0]; w.exit.turn != turn && mayRun(c.board, n, w.item.Ask) {
		return w
	}
	return nil
}
