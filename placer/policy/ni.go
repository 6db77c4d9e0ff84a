package policy

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var niSelector = SelectorDescriptor{
	Name:         "ni",
	Summary:      "paragon without interference: the fastest configuration with room, least loaded node first",
	Paper:        "Delimitrou 2015, §3.5 (baseline NI)",
	NeedsProfile: true, Parameters: []Parameter{timeoutParameter},
	New:    func(_ *board.Board, o Options) board.Selector { return &niSelection{timeout: o.Timeout} },
	reason: "fastest configuration with room, least loaded first; co-runners do not count",
}

// niSelection ranks configurations by the predicted speed and takes the least
// loaded node of the best with room. The order within a configuration is not
// given in the text. Cost: O(nodes × count).
type niSelection struct {
	centralTime
	timeout   time.Duration
	tentative tentative
}

// Select implements board.Selector.
func (s *niSelection) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, s.timeout)
	for len(f.replicas) < a.Count {
		f.gather()
		best := board.None
		for _, n := range f.nodes {
			if best == board.None || s.before(n, best) {
				best = n
			}
		}
		if best == board.None {
			break
		}
		f.take(board.Replica{Node: best, Size: a.Size, Predicted: isolatedSpeed(a, b.Node(best))})
	}
	return f.choice(a.Count)
}

// before: x is faster, or as fast and less loaded. An unknown speed comes last.
func (s *niSelection) before(x, y board.Index) bool {
	b := s.tentative.board
	vx, vy := orLowest(isolatedSpeed(s.tentative.request, b.Node(x))), orLowest(isolatedSpeed(s.tentative.request, b.Node(y)))
	if vx != vy {
		return vx > vy
	}
	lx, ly := s.load(x), s.load(y)
	if lx != ly {
		return lx < ly
	}
	return x < y
}

// load of a node with what this choice put there.
func (s *niSelection) load(n board.Index) float64 {
	f := &s.tentative
	node := f.board.Node(n)
	own := float64(int(f.taken[n]) * (f.request.Size.CPUMHz + f.request.Size.Cores*node.CoreMHz))
	return f.board.Load(n) + own/float64(max(1, node.Total.CPUMHz))
}

func orLowest(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}
