package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var firstFitSelector = SelectorDescriptor{
	Name:    "first-fit",
	Summary: "the first node that has room; considers neither interference nor speed",
	Paper:   "Chiang and Huang 2011, §4.1 (what FIFO takes)",
	New:     func(b *board.Board, _ Options) board.Selector { return &firstFit{alike: board.NewAlike(b)} },
	reason:  "the first node with room",
}

// firstFit goes by place on the board. Cost: O(count · kinds of nodes), more where
// the user's constraints leave nodes out.
type firstFit struct {
	alike     *board.Alike
	tentative tentative
}

// Select implements board.Selector.
func (s *firstFit) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	for len(f.replicas) < a.Count {
		first := board.None
		for nodes := range s.alike.Groups() {
			if !b.Fits(nodes[0], a.Size) {
				continue
			}
			f.examined++ // of alike nodes only the first that is allowed matters
			for _, n := range nodes {
				if first != board.None && n > first {
					break
				}
				if f.open(n) {
					first = n
					break
				}
			}
		}
		if first == board.None {
			break
		}
		f.take(board.Replica{Node: first, Size: a.Size, Predicted: predictedIsolated(a, b.Node(first))})
	}
	return f.choice(a.Count)
}
