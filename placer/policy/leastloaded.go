package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var leastLoadedSelector = SelectorDescriptor{
	Name:    "least-loaded",
	Summary: "the node with the smallest share of CPU in use; considers neither interference nor speed",
	Paper:   "Delimitrou 2015, §3.5 (baseline LL)",
	New:     func(b *board.Board, _ Options) board.Selector { return newLeastLoaded(b) },
	reason:  "the least loaded first",
}

// leastLoaded orders by used share of cpu, then of memory, then place. The paper
// leaves "load" undefined. Cost: O(count × log nodes).
type leastLoaded struct {
	tree     *tournament
	replicas []board.Replica
}

func newLeastLoaded(b *board.Board) *leastLoaded { return &leastLoaded{tree: newTournament(b)} }

// Select implements board.Selector.
func (l *leastLoaded) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	c := l.take(b, a, a.Count)
	c.Reaches = reaches(a, c.Replicas)
	return c
}

// take chooses nodes for n allocations of the request's size.
func (l *leastLoaded) take(b *board.Board, a *board.Request, n int) board.Choice {
	var c board.Choice
	l.replicas = l.replicas[:0]
	for len(l.replicas) < n {
		at, examined := l.tree.least(a.Size, a.Allowed)
		c.Examined += examined
		if at == board.None {
			break
		}
		l.replicas = append(l.replicas, board.Replica{Node: at, Size: a.Size, Predicted: predictedIsolated(a, b.Node(at))})
		if len(l.replicas) < n {
			l.tree.pretend(at, a.Size, +1)
		}
	}
	for _, u := range l.replicas[:max(0, min(len(l.replicas), n-1))] {
		l.tree.pretend(u.Node, u.Size, -1)
	}
	if !a.Gang || len(l.replicas) == n {
		c.Replicas = append(c.Replicas, l.replicas...)
	}
	return c
}
