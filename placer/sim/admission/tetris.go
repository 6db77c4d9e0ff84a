package admission

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

var tetrisDescriptor = Descriptor{
	Name:       "tetris",
	Summary:    "one queue; a node that gains room starts what scores highest there, again and again",
	Paper:      "Tran 2016, §5.1 (what LoTES is compared with)",
	Parameters: tetrisParameters.list,
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		s, err := tetrisParameters.read(o)
		if err != nil {
			return nil, err
		}
		epsilon := s.number("epsilon", 0)
		if s.err != nil {
			return nil, s.err
		}
		c := &tetris{exits: newExits(b), queue: fitIndex{order: byWork}, epsilon: epsilon}
		c.exits.queues = c
		return c, nil
	},
}

var tetrisParameters = parameterList{controller: "tetris", list: []Parameter{
	{Name: "epsilon", Default: "1", Summary: "weight of a job's work against its alignment"},
}}

// tetris keeps its queue by work, least first: what comes later can score no more
// than a perfect alignment less that work, so most of it is never looked at.
type tetris struct {
	exits
	queue   fitIndex
	epsilon float64
	scale   lotes.Scale
	nodes   int // that the scale is of
}

func byWork(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.exit.work, b.exit.work), bySeniority(a, b))
}

// Arrive implements Controller, as do the following methods.
func (c *tetris) Arrive(_ Instant, it Item) { c.arrive(it) }

func (c *tetris) Next(Instant) (Attempt, bool) {
	c.flush(nil)
	c.rescale()
	return c.offer()
}

func (c *tetris) Placed(_ Instant, handle board.Handle)  { c.Withdraw(handle) }
func (c *tetris) Refused(_ Instant, handle board.Handle) { c.flush(nil); c.refused(handle) }

func (c *tetris) Started(Instant, board.Index, board.Handle) {}
func (c *tetris) Ended(Instant, board.Index, board.Handle)   {}
func (c *tetris) Wake() (Instant, bool)                      { return 0, false }

// rescale when nodes have come: work is in shares of the largest.
func (c *tetris) rescale() {
	if c.nodes == c.board.Len() {
		return
	}
	c.nodes, c.scale = c.board.Len(), lotes.TetrisScale(c.board)
	c.resettle(c.queue.all())
}

// park by the work on the best configuration.
func (c *tetris) park(w *waiting) bool {
	c.rescale()
	need := c.scale.Need(least(w.item.Ask), 0)
	w.exit.work = w.item.Ask.Expected.Hours() * (need[0] + need[1])
	c.queue.add(w)
	return true
}

func (c *tetris) remove(w *waiting) { c.queue.remove(w) }

func (c *tetris) next(n board.Index, turn uint64) *waiting {
	free := c.scale.Free(c.board, n)
	most := free[0]*free[0] + free[1]*free[1] // the alignment of a job that fills the node
	var best *waiting
	top := math.Inf(-1)
	c.queue.each(c.board, n, func(w *waiting) bool {
		if most-c.epsilon*w.exit.work < top {
			return false
		}
		if w.exit.turn == turn {
			return true
		}
		a := w.item.Ask
		s := lotes.TetrisScore(c.scale.Need(least(a), c.board.Node(n).CoreMHz), free, c.epsilon*lotes.RunTime(c.board, a, n).Hours())
		if s > top {
			best, top = w, s
		}
		return true
	})
	return best
}
