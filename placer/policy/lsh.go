package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

var lshSelector = SelectorDescriptor{
	Name:         "lsh",
	Summary:      "the tightest node that keeps every bound, of the best configuration that has one, looked up in a hash of what nodes still offer",
	Paper:        "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing, Algorithm 3",
	NeedsProfile: true,
	Parameters: []Parameter{
		{Name: "radius", Default: "0.1", Summary: "of a look-up, per coordinate, as a share of a source", set: shareOf(func(o *Options) *float64 { return &o.Radius })},
		{Name: "step", Default: "0.05", Summary: "by which a look-up moves on where it found nothing, as a share of a source", set: shareOf(func(o *Options) *float64 { return &o.Step })},
	},
	New: func(b *board.Board, o Options) board.Selector {
		s := &hashSelector{table: newServerTable(b, orDefault(o.Radius, lshRadius)), step: orDefault(o.Step, lshStep), vain: vainLookUps{of: map[board.Handle]*requestLookUps{}}}
		b.Listen(s.table)
		return s
	},
	reason: "every bound is kept, with as little headroom left over as possible",
}

// The parameters that the paper leaves open, as shares of a source: a query point
// moves by lshStep, and finds what is within lshRadius per coordinate. With less
// than half of that radius most nodes that would do are missed.
const (
	lshRadius = 0.1
	lshStep   = 0.05
)

// hashSelector is Algorithm 3. Where no node keeps every bound the request waits
// (Forced: the node that breaks bounds least). Cost: O(configurations · steps ·
// (tables + nodes near the query · columns)).
type hashSelector struct {
	centralTime
	table *serverTable
	step  float64

	tentative tentative
	point     []float64 // p of the paper
	query     []float64 // p'
	shared    []float64 // point of a node with allocations of this choice
	order     []int     // configurations, best first
	hits      []lsh.Hit
	refused   []uint64 // by node: the choice in which it was refused
	choices   uint64
	found     board.Choice // how
	vain      vainLookUps
	keys      []uint64 // of the queries of one look-up
}

// Select implements board.Selector.
func (s *hashSelector) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	f := &s.tentative
	f.begin(b, a, 0)
	s.table.refresh()
	s.found = board.Choice{}
	s.point = newcomerPoint(s.point[:0], a)
	s.query, s.shared = resized(s.query, len(s.point)), resized(s.shared, len(s.point))
	s.sortConfigurations()
	s.choices++
	if grow := b.Len() - len(s.refused); grow > 0 {
		s.refused = append(s.refused, make([]uint64, grow)...)
	}
	var vain []vainLookUp
	if a.Allowed == nil { // what the user's constraints allow may change without the board
		vain = s.vain.to(a, s.point, len(s.table.indexes))
	}
	s.lookUp(vain)
	if len(f.replicas) < a.Count {
		s.scan(vain)
	}
	for len(f.replicas) < a.Count && s.share() {
		continue
	}
	for a.Forced && len(f.replicas) < a.Count && s.fewestViolations() {
		continue
	}
	if len(f.replicas) == a.Count {
		s.vain.forget(a.Handle)
	}
	c := f.choice(a.Count)
	c.Indexed, c.Scanned, c.Scans = s.found.Indexed, s.found.Scanned, s.found.Scans
	return c
}

// newcomerPoint is p: per source its sensitivity and what it causes, as shares.
func newcomerPoint(p []float64, a *board.Request) []float64 {
	for k := range a.Caused {
		p = append(p, 1-a.Tolerated[k]/100, a.Caused[k]/100)
	}
	return p
}

// dominates: the node accepts the newcomer. Points are shares.
func dominates(node, newcomer []float64) bool {
	for i, v := range newcomer {
		if node[i]-v < -epsilonPoints/100 {
			return false
		}
	}
	return true
}

// sortConfigurations orders by increasing C, then by speed.
func (s *hashSelector) sortConfigurations() {
	a := s.tentative.request
	top := fastest(a)
	sums, shares := make([]float64, len(s.table.indexes)), make([]float64, len(s.table.indexes))
	s.order = s.order[:0]
	for c := range sums {
		s.order = append(s.order, c)
		shares[c] = platform(a, c, top)
		sums[c] = scoreSum(a, shares[c])
	}
	slices.SortStableFunc(s.order, func(x, y int) int {
		return cmp.Or(cmp.Compare(sums[x], sums[y]), cmp.Compare(shares[y], shares[x]))
	})
}

// scoreSum is C: the sum of the newcomer's scores on a configuration that gives it
// a share g of its speed on the best one. Scores are defined against the best one,
// so what the configuration itself costs is gone from the pressure x that it
// tolerates there: g·(1 − loss·(x/t)²) = 1 − loss, for a loss that grows with the
// square of the pressure (chosen by us; between configurations it orders as g does).
func scoreSum(a *board.Request, g float64) float64 {
	loss, left := slowdownMax(a), 0.0
	if g > 1-loss {
		left = math.Sqrt((1 - (1-loss)/g) / loss)
	}
	sum := 0.0
	for k := range a.Caused {
		sum += 1 - left*a.Tolerated[k]/100 + a.Caused[k]/100
	}
	return sum
}

// lookUp takes nodes that the index finds: tightest first, configuration by
// configuration, the query growing from just above p to all ones.
func (s *hashSelector) lookUp(vain []vainLookUp) {
	f := &s.tentative
	for _, c := range s.order {
		if vain != nil && s.stillInVain(c, &vain[c]) {
			f.examined += vain[c].examined
			continue
		}
		index := s.table.indexes[c]
		if index == nil {
			continue
		}
		examined, chosen := f.examined, len(f.replicas)
		s.keys = s.keys[:0]
		if index.Len() > 0 && !s.lookInto(index) {
			return
		}
		if vain != nil && len(f.replicas) == chosen {
			s.vain.put(&vain[c], vainLookUp{version: s.table.versions[c], examined: f.examined - examined, keys: s.keys})
		}
	}
}

// lookInto the index of one configuration; false: that ends the search.
func (s *hashSelector) lookInto(index *lsh.Index) bool {
	f := &s.tentative
	for grown := s.step; ; grown += s.step {
		full := s.grow(grown)
		before := len(s.keys)
		var err error
		if s.keys, err = index.Keys(s.query, s.keys); err != nil { // scores that are no numbers: the scan refuses them as well
			return false
		}
		s.hits = s.hits[:0]
		work := index.EachOf(s.keys[before:], s.query, s.keepsBounds, func(h lsh.Hit) { s.hits = append(s.hits, h) })
		f.examined += work.Examined
		slices.SortFunc(s.hits, lsh.Compare)
		for _, h := range s.hits {
			s.take(board.Index(h.ID))
			s.found.Indexed++
			if len(f.replicas) == f.request.Count {
				return false
			}
		}
		if full {
			return true
		}
	}
}

// keepsBounds reports whether a node has room and keeps every bound. One that does not is found
// again by each query that has grown, and does not then either.
func (s *hashSelector) keepsBounds(id int) bool {
	if s.refused[id] == s.choices {
		return false
	}
	f, n := &s.tentative, board.Index(id)
	if f.taken[n] == 0 && dominates(s.table.point(n), s.point) && f.open(n) {
		return true
	}
	s.refused[id] = s.choices
	return false
}

// grow sets p' = min(p + grown, 1), and reports whether that is all ones.
func (s *hashSelector) grow(grown float64) bool {
	full := true
	for i, v := range s.point {
		s.query[i] = min(v+grown, 1)
		full = full && s.query[i] >= 1
	}
	return full
}

func (s *hashSelector) take(n board.Index) {
	f := &s.tentative
	kept := predict.Kept(f.request.Curve(), f.board.Caused(n), slowdownMax(f.request))
	f.take(board.Replica{Node: n, Size: f.request.Size, Predicted: isolatedSpeed(f.request, f.board.Node(n)) * kept})
}

// scan looks at every node that the index may have missed, before anything waits.
func (s *hashSelector) scan(vain []vainLookUp) {
	f := &s.tentative
	s.found.Scans++
	for _, c := range s.order {
		if vain != nil && vain[c].scanned && vain[c].version == s.table.versions[c] {
			f.examined += len(s.table.members[c])
			continue
		}
		s.hits = s.hits[:0]
		for _, n := range s.table.members[c] {
			f.examined++
			if point := s.table.point(n); f.taken[n] == 0 && dominates(point, s.point) && f.open(n) {
				s.hits = append(s.hits, lsh.Hit{ID: int(n), Distance: slack(point, s.point)})
			}
		}
		if vain != nil {
			vain[c].scanned = len(s.hits) == 0
		}
		slices.SortFunc(s.hits, lsh.Compare)
		for _, h := range s.hits {
			if len(f.replicas) == f.request.Count {
				return
			}
			s.take(board.Index(h.ID))
			s.found.Scanned++
		}
	}
}

// slack is how much a node leaves over.
func slack(node, newcomer []float64) float64 {
	sum := 0.0
	for i, v := range newcomer {
		sum += node[i] - v
	}
	return sum
}

// share puts one more allocation of the group next to its own, where every bound is kept
// with those counted.
func (s *hashSelector) share() bool {
	f := &s.tentative
	best, least := board.None, math.Inf(1)
	for _, n := range s.chosen() {
		s.withOwn(n)
		if !dominates(s.shared, s.point) || !f.open(n) {
			continue
		}
		if left := slack(s.shared, s.point); left < least {
			best, least = n, left
		}
	}
	if best != board.None {
		s.take(best)
	}
	return best != board.None
}

// chosen lists the nodes of this choice, once each.
func (s *hashSelector) chosen() []board.Index {
	nodes := s.tentative.nodes[:0]
	for _, u := range s.tentative.replicas {
		nodes = append(nodes, u.Node)
	}
	slices.Sort(nodes)
	s.tentative.nodes = slices.Compact(nodes)
	return s.tentative.nodes
}

// withOwn fills shared with the point of a node with the group's own allocations.
func (s *hashSelector) withOwn(n board.Index) {
	own := board.Resident{Tolerated: s.tentative.request.Tolerated, Caused: s.tentative.request.Caused}
	serverPoint(s.shared, s.tentative.board.Residents(n), &own, int(s.tentative.taken[n]))
}

// fewestViolations takes the open node that breaks bounds least, of the best
// configuration where several do.
func (s *hashSelector) fewestViolations() bool {
	f := &s.tentative
	best, least := board.None, math.Inf(1)
	for _, c := range s.order {
		for _, n := range s.table.members[c] {
			f.examined++
			if !f.open(n) {
				continue
			}
			s.withOwn(n)
			short := 0.0
			for i, v := range s.point {
				short += max(0, v-s.shared[i])
			}
			if short < least-epsilonPoints || short <= least+epsilonPoints && best != board.None &&
				f.board.Node(n).Configuration == f.board.Node(best).Configuration && byRoom(f.board, n, best) < 0 {
				best, least = n, short
			}
		}
	}
	if best != board.None {
		s.take(best)
	}
	return best != board.None
}
