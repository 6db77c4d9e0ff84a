package consolidate

import (
	"cmp"
	"slices"
)

// Move is an object that goes to another node.
type Move struct {
	Object, From, To int
	Bytes            float64
	// Reason is the limit that the node it leaves would break, or Emptying.
	Reason Refusal
}

// Emptying is the reason of moves that free a node.
const Emptying Refusal = "emptying"

// Plan is what is done within an interval, for the next one.
type Plan struct {
	Next                Placement
	Moves               []Move
	SwitchOn, SwitchOff []int // nodes: first these, and those once their data left
	// Unplaced are objects that leave a node over its limits and that no other takes: they
	// stay where they are.
	Unplaced []int
}

// Update is Algorithm 2 with its conditions mended: nodes that would be over a limit under
// the predicted demand give up objects, those with the least data first; what they give up
// goes to nodes that are under all limits by a margin, and then to empty ones; and what
// nodes with little data have goes to others, where that saves energy.
func (s *Scene) Update(now Placement, predicted []Demand, r Rules) *Plan {
	bins := s.Bins(now, predicted)
	var leave []int
	reason := map[int]Refusal{}
	for _, b := range bins {
		for len(b.Objects) > 1 && b.over(r) {
			o := s.leastData(b)
			reason[o] = b.broken(r)
			b.Remove(o)
			leave = append(leave, o)
		}
	}
	order := s.Order(predicted)
	rank := make([]int, len(s.Objects))
	for i, o := range order {
		rank[o] = i
	}
	for o, n := range now {
		if n == Nowhere {
			leave = append(leave, o) // it is new
		}
	}
	slices.SortFunc(leave, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	stuck := s.place(leave, bins, now, r)
	if !r.NoShrink {
		s.shrink(now, bins, r, reason)
	}
	return s.plan(now, bins, predicted, reason, stuck)
}

// broken is the first limit that a node is over.
func (b *Bin) broken(r Rules) Refusal {
	most, full := b.Most()
	switch {
	case b.Bandwidth > most:
		return Bandwidth
	case b.Bytes > full:
		return Capacity
	default:
		return Interference
	}
}

// leastData is the object of a node with the least data; among equals the last that came.
func (s *Scene) leastData(b *Bin) int {
	least := b.Objects[0]
	for _, o := range b.Objects[1:] {
		if b.demand[o].Bytes <= b.demand[least].Bytes {
			least = o
		}
	}
	return least
}

// place is Consolidate over the nodes that may take objects, and then the empty ones. An
// object that finds none goes back to its node.
func (s *Scene) place(objects []int, bins []*Bin, now Placement, r Rules) (stuck []int) {
	var candidates, empty []*Bin
	for _, b := range bins {
		switch {
		case len(b.Objects) == 0:
			empty = append(empty, b)
		case b.roomy(r):
			candidates = append(candidates, b)
		}
	}
	stuck = Consolidate(objects, slices.Concat(candidates, empty), r)
	for _, o := range stuck {
		if now[o] != Nowhere {
			bins[now[o]].Add(o)
		}
	}
	return stuck
}

// shrink empties nodes, those with the least data first, onto others that are under all
// limits by a margin: where all that a node has fits on others and moving it pays. A node
// with more data than an interval can move is emptied over several: objects move up to
// what Δ_B carries, and the node, which has least data then, goes on in the next interval.
func (s *Scene) shrink(now Placement, bins []*Bin, r Rules, reason map[int]Refusal) {
	budget := make([]float64, len(bins))
	for n := range budget {
		budget[n] = s.moveBytes(n, r)
	}
	var sources []*Bin
	for _, b := range bins {
		if len(b.Objects) > 0 && b.roomy(r) && s.unmoved(b, now) {
			sources = append(sources, b)
		}
	}
	slices.SortStableFunc(sources, func(a, b *Bin) int { return cmp.Compare(a.Bytes, b.Bytes) })
	taken := make([]bool, len(bins)) // nodes that took something are not emptied
	for _, source := range sources {
		if taken[source.Node] {
			continue
		}
		targets, ok := s.emptied(source, bins, r)
		if !ok {
			continue
		}
		for i, o := range slices.Clone(source.Objects) {
			to, bytes := targets[i], source.demand[o].Bytes
			if budget[source.Node] < bytes || budget[to] < bytes {
				continue
			}
			budget[source.Node] -= bytes
			budget[to] -= bytes
			source.Remove(o)
			bins[to].Add(o)
			taken[to], reason[o] = true, Emptying
		}
	}
}

// unmoved says whether all objects of a node were there before.
func (s *Scene) unmoved(b *Bin, now Placement) bool {
	return !slices.ContainsFunc(b.Objects, func(o int) bool { return now[o] != b.Node })
}

// emptied are the nodes that take the objects of a node, if they take all of them and
// moving them pays. Nothing is changed.
func (s *Scene) emptied(source *Bin, bins []*Bin, r Rules) ([]int, bool) {
	var trials []*Bin
	for _, b := range bins {
		if b != source && len(b.Objects) > 0 && b.roomy(r) {
			trials = append(trials, b.clone())
		}
	}
	energy := Energy{Save: s.offJoules(source.Node, r)}
	var targets []int
	from, last := 0, -1
	for _, o := range source.Objects {
		if last < 0 || s.Objects[o] != s.Objects[last] || source.demand[o] != source.demand[last] {
			from = 0
		} // else the nodes that refused its like refuse it, too: they only get fuller
		for from < len(trials) && !(trials[from].roomy(r) && trials[from].Refuses(o, r) == Fits) {
			from++
		}
		if from == len(trials) {
			return nil, false
		}
		last = o
		trials[from].Add(o)
		targets = append(targets, trials[from].Node)
		energy.Move += s.moveJoules(source.demand[o].Bytes, source.Node, trials[from].Node, r)
	}
	return targets, energy.Pays()
}

func (b *Bin) clone() *Bin {
	out := *b
	out.Objects, out.byApp, out.byInstance = slices.Clone(b.Objects), slices.Clone(b.byApp), slices.Clone(b.byInstance)
	return &out
}

// plan compares what is with what will be.
func (s *Scene) plan(now Placement, bins []*Bin, predicted []Demand, reason map[int]Refusal, stuck []int) *Plan {
	plan := &Plan{Next: s.placement(bins), Unplaced: stuck}
	for o, to := range plan.Next {
		if to != now[o] {
			plan.Moves = append(plan.Moves, Move{o, now[o], to, predicted[o].Bytes, reason[o]})
		}
	}
	before, after := s.On(now), s.On(plan.Next)
	for n := range s.Nodes {
		switch {
		case after[n] && !before[n]:
			plan.SwitchOn = append(plan.SwitchOn, n)
		case before[n] && !after[n]:
			plan.SwitchOff = append(plan.SwitchOff, n)
		}
	}
	return plan
}
