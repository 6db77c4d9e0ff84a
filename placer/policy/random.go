package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var randomSelector = SelectorDescriptor{
	Name:    "random",
	Summary: "any node that fits, by the seed",
	New:     func(*board.Board, Options) board.Selector { return &randomSelection{} },
	reason:  "drawn at random",
}

// randomSelection draws uniformly among the nodes with room.
type randomSelection struct{ tentative tentative }

// randomDraws is how often a node is drawn from all before those with room are
// listed: on a cluster that is not full the first few draws do.
const randomDraws = 32

// Select implements board.Selector.
func (s *randomSelection) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	for len(f.replicas) < a.Count {
		n := s.draw(random)
		if n == board.None {
			break
		}
		f.take(board.Replica{Node: n, Size: a.Size, Predicted: predictedIsolated(a, b.Node(n))})
	}
	return f.choice(a.Count)
}

// draw is uniform: a rejected draw says nothing about the others.
func (s *randomSelection) draw(random *rand.Rand) board.Index {
	f := &s.tentative
	if f.board.Len() == 0 {
		return board.None
	}
	for range randomDraws {
		f.examined++
		if n := board.Index(random.IntN(f.board.Len())); f.open(n) {
			return n
		}
	}
	f.gather()
	if len(f.nodes) == 0 {
		return board.None
	}
	return f.nodes[random.IntN(len(f.nodes))]
}
