package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

var paragonSelector = SelectorDescriptor{
	Name: paragonDescriptor.Name, Summary: paragonDescriptor.Summary, Paper: paragonDescriptor.Paper,
	NeedsProfile: true, Parameters: []Parameter{timeoutParameter},
	New: func(_ *board.Board, o Options) board.Selector {
		return &greedySelector{platforms: true, timeout: o.Timeout, filter: chainFilter{options: o}, tentative: tentative{model: o.pressureModel()}}
	},
}

var nhSelector = SelectorDescriptor{
	Name:         "nh",
	Summary:      "paragon without heterogeneity: interference decides, the node's configuration does not",
	Paper:        "Delimitrou 2015, §3.5 (baseline NH)",
	NeedsProfile: true, Parameters: []Parameter{timeoutParameter},
	New: func(_ *board.Board, o Options) board.Selector {
		return &greedySelector{timeout: o.Timeout, filter: chainFilter{options: o}, tentative: tentative{model: o.pressureModel()}}
	},
	reason: "no workload exceeds its interference tolerance, whatever the configuration",
}

// greedySelector is Paragon's greedy selection on a board (Delimitrou 2015, §3.4.1), with
// the filter that the live policy has. Cost: O(nodes × sources) for each round, and one
// round unless a group is larger than the set of nodes that survive.
type greedySelector struct {
	centralTime
	platforms bool // of the survivors, only the best configuration counts
	timeout   time.Duration

	tentative tentative
	filter    chainFilter
	ranks     []greedyRank
}

// greedyRank orders survivors, smaller first.
type greedyRank struct {
	node   board.Index
	slow   float64 // negative speed where faster is better, else 0
	excess float64 // see chainFilter.newcomerExcess
	fit    float64 // Σ|D1+D2|
}

// Select places the allocations on distinct nodes while acceptable ones are left; then
// they share nodes, and interfere with each other.
func (g *greedySelector) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &g.tentative
	f.begin(b, a, g.timeout)
	var relaxed []cluster.Relaxation
	backtracks := 0
	g.filter.columns = b.Columns
	for len(f.replicas) < a.Count {
		f.gather()
		if g.filter.run(len(f.nodes), f, a.Tolerated, a.Caused) == 0 {
			break
		}
		relaxed = mergeRelaxed(relaxed, g.filter.relaxations(b.Columns))
		backtracks += g.filter.backtracks
		g.rank()
		for _, r := range g.best(a.Count - len(f.replicas)) {
			f.take(board.Replica{Node: r.node, Size: a.Size, Predicted: g.predict(r.node)})
		}
	}
	c := f.choice(a.Count)
	c.Relaxed, c.Backtracks = relaxed, backtracks
	return c
}

// rank lists the survivors of the preferred configurations.
func (g *greedySelector) rank() {
	f := &g.tentative
	need := f.request.Target / float64(max(1, f.request.Count))
	meets := need > 0 && g.anySurvivor(func(n board.Index) bool { return g.predict(n) >= need })
	top := g.topSpeed()
	g.ranks = g.ranks[:0]
	for i, n := range f.nodes {
		if !g.filter.alive(i) {
			continue
		}
		switch {
		case !g.platforms || math.IsInf(top, -1):
		case meets && !(g.predict(n) >= need):
			continue
		case !meets && !(isolatedSpeed(f.request, f.board.Node(n)) >= top):
			continue
		}
		g.ranks = append(g.ranks, greedyRank{node: n, slow: g.slowness(n, need, meets), excess: g.filter.newcomerExcess(i), fit: g.fit(i)})
	}
}

// slowness orders by speed only where the target is out of reach: there the fastest of
// what is left comes before the fit.
func (g *greedySelector) slowness(n board.Index, need float64, meets bool) float64 {
	p := g.predict(n)
	if !g.platforms || need <= 0 || meets || math.IsNaN(p) {
		return 0
	}
	return -p
}

// fit of f.nodes[i], rounded so that sums of the same scores tie.
func (g *greedySelector) fit(i int) float64 {
	t, _, _ := g.tentative.pressure(i)
	return stepped(fitPoints(t, g.tentative.summed(i), g.tentative.newcomer(i).Tolerated, g.tentative.request.Caused), fitStepPoints)
}

func (g *greedySelector) anySurvivor(f func(n board.Index) bool) bool {
	for i, n := range g.tentative.nodes {
		if g.filter.alive(i) && f(n) {
			return true
		}
	}
	return false
}

// topSpeed is the highest speed in isolation among the survivors; −Inf: none is known.
func (g *greedySelector) topSpeed() float64 {
	top := math.Inf(-1)
	for i, n := range g.tentative.nodes {
		if g.filter.alive(i) {
			if v := isolatedSpeed(g.tentative.request, g.tentative.board.Node(n)); v > top {
				top = v
			}
		}
	}
	return top
}

// best returns the first n ranks in order; for one it does not sort.
func (g *greedySelector) best(n int) []greedyRank {
	order := func(x, y greedyRank) int {
		return cmp.Or(cmp.Compare(x.slow, y.slow), cmp.Compare(x.excess, y.excess), cmp.Compare(x.fit, y.fit), byRoom(g.tentative.board, x.node, y.node))
	}
	if n == 1 {
		return []greedyRank{slices.MinFunc(g.ranks, order)}
	}
	slices.SortFunc(g.ranks, order)
	return g.ranks[:min(n, len(g.ranks))]
}

// predict the performance of one allocation next to the residents of a node, from scores
// alone.
func (g *greedySelector) predict(n board.Index) float64 {
	a, b := g.tentative.request, g.tentative.board
	return isolatedSpeed(a, b.Node(n)) * predict.Kept(a.Curve(), b.Caused(n), slowdownMax(a))
}
