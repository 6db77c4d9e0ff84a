package adapt

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// closing closes the nodes of workloads below their target until they recover.
type closing struct {
	options Options
	bad     map[board.Handle]int
	closed  map[board.Index]bool
}

func newClose(o Options) Adapter {
	return &closing{options: o, bad: map[board.Handle]int{}, closed: map[board.Index]bool{}}
}

// Step closes a node once one of its workloads was below its target in
// consecutive windows, and opens it when none is.
func (c *closing) Step(_ Instant, _ *board.Board, windows []Observation, _ *rand.Rand) []Action {
	var out []Action
	suffering := map[board.Index]bool{}
	for i := range windows {
		w := &windows[i]
		if !(w.Target > 0) || w.Performance >= c.options.Below*w.Target {
			delete(c.bad, w.Handle)
			continue
		}
		c.bad[w.Handle]++
		if c.bad[w.Handle] < c.options.Windows {
			continue
		}
		for _, u := range w.Replicas {
			suffering[u.Node] = true
			if !c.closed[u.Node] {
				c.closed[u.Node] = true
				out = append(out, Action{Kind: Close, Handle: w.Handle, Node: u.Node, Reason: fmt.Sprintf("at %.0f %% of its target", 100*w.Performance/w.Target)})
			}
		}
	}
	for _, n := range sortedNodes(c.closed) {
		if !suffering[n] {
			delete(c.closed, n)
			out = append(out, Action{Kind: Open, Node: n, Reason: "its workloads recovered"})
		}
	}
	return out
}

func (c *closing) Forget(handle board.Handle) { delete(c.bad, handle) }

func sortedNodes(set map[board.Index]bool) []board.Index {
	var out []board.Index
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
