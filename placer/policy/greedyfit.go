package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

var greedyFitSelector = SelectorDescriptor{
	Name:    "greedy-fit",
	Summary: "the first node with room, in the order of the cluster",
	Paper:   "Tran 2016, §5.1 (baseline Greedy)",
	New:     func(b *board.Board, _ Options) board.Selector { return newGreedyFit(b) },
	reason:  "the first with room",
}

// greedyFit keeps one index of all nodes. Cost: O(count · log nodes).
type greedyFit struct {
	board *board.Board
	rooms *lotes.Rooms
	size  int
}

func newGreedyFit(b *board.Board) *greedyFit {
	g := &greedyFit{board: b}
	g.rebuild()
	b.Listen(g)
	return g
}

func (g *greedyFit) rebuild() {
	g.size = g.board.Len()
	nodes := make([]board.Index, g.size)
	for i := range nodes {
		nodes[i] = board.Index(i)
	}
	g.rooms = lotes.NewRooms(g.board, nodes, 0)
	g.rooms.Fill(nil)
}

// NodeChanged implements board.Listener.
func (g *greedyFit) NodeChanged(n board.Index) {
	if int(n) >= g.size {
		g.rebuild()
		return
	}
	g.rooms.Update(int(n), nil)
}

// Select implements board.Selector.
func (g *greedyFit) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	var c board.Choice
	taken := map[board.Index]int{}
	for range a.Count {
		at, examined := g.first(a)
		c.Examined += examined
		if at == board.None {
			break
		}
		c.Replicas = append(c.Replicas, board.Replica{Node: at, Size: a.Size, Predicted: predictedIsolated(a, b.Node(at))})
		if len(c.Replicas) == a.Count {
			break
		}
		taken[at]++
		g.rooms.Take(int(at), a.Size, taken[at])
		g.rooms.Update(int(at), nil)
	}
	for at := range taken {
		g.rooms.Return(int(at))
		g.rooms.Update(int(at), nil)
	}
	if a.Gang && len(c.Replicas) < a.Count {
		c.Replicas = nil
	}
	c.Reaches = reaches(a, c.Replicas)
	return c
}

// first node with room; of few that may be used, the first of those.
func (g *greedyFit) first(a *board.Request) (board.Index, int) {
	if a.Only != nil && a.Count == 1 {
		for i, n := range a.Only {
			if g.board.Fits(n, a.Size) && (a.Allowed == nil || a.Allowed(n)) {
				return n, i + 1
			}
		}
		return board.None, len(a.Only)
	}
	at, examined := g.rooms.First(a.Size, a.Allowed)
	if at < 0 {
		return board.None, examined
	}
	return board.Index(at), examined
}
