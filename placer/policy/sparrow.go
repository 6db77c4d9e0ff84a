package policy

import (
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var sparrowSelector = SelectorDescriptor{
	Name:       "sparrow",
	Summary:    "two probes per allocation at random nodes; the one that has room first runs it",
	Paper:      "Ousterhout 2013, as described in Delimitrou 2015, §7.5 (baseline)",
	Parameters: []Parameter{candidatesParameter(sparrowProbes)},
	New: func(_ *board.Board, o Options) board.Selector {
		return &sparrow{probes: orDefault(o.Candidates, sparrowProbes)}
	},
	reason: "drawn at random, two probes for each allocation",
}

// sparrowProbes is the number of probes per allocation.
const sparrowProbes = 2

// sparrow is batch sampling with late binding: a job of m allocations probes 2·m
// distinct nodes; those with room take one each, in the order they answered,
// which here is the order drawn. Where none has room, the job waits at all of
// them. Where some have, the rest of the job is asked for again. It knows
// neither configurations nor interference. Cost: O(probes).
type sparrow struct {
	probes    int
	drawn     lots
	tentative tentative
}

// Select implements board.Selector.
func (s *sparrow) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	s.drawn.begin(b.Len())
	var busy []board.Index
	for range s.probes * a.Count {
		n, ok := s.draw(random)
		if !ok {
			break
		}
		switch {
		case !f.open(n):
			busy = append(busy, n)
		case len(f.replicas) < a.Count:
			f.take(board.Replica{Node: n, Size: a.Size, Predicted: predictedIsolated(a, b.Node(n))})
		}
	}
	c := f.choice(a.Count)
	if len(c.Replicas) == 0 {
		c.Bind = busy
	}
	return c
}

// draw the next distinct node that the user allows and that is not gone.
func (s *sparrow) draw(random *rand.Rand) (board.Index, bool) {
	f := &s.tentative
	for {
		i, ok := s.drawn.next(random)
		if !ok {
			return board.None, false
		}
		f.examined++
		if n := board.Index(i); f.board.Ready(n) && f.allowed(n) {
			return n, true
		}
	}
}

// DecisionTime implements board.DecisionTime: the probes go out together, the
// first free worker asks for its task.
func (s *sparrow) DecisionTime(*board.Board, *board.Request, board.Choice) time.Duration {
	return 2 * probeRoundTrip
}
