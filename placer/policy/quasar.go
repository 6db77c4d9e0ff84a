package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var quasarSelector = SelectorDescriptor{
	Name:         "quasar",
	Summary:      "how much, how many and where at once: the best nodes first, scaled up before out, until the target is reached",
	Paper:        "Delimitrou 2015, §4.3.3",
	NeedsProfile: true, Sizes: true, Parameters: []Parameter{timeoutParameter},
	New:    func(_ *board.Board, o Options) board.Selector { return &quasar{options: o} },
	reason: "the nodes of highest quality first, as many as the target needs",
}

// quasar is the greedy allocation and assignment. Nodes are ranked by quality:
// those without a QoS violation first (of the others, where options ask for it, those with
// the fewest and smallest), then by the performance of the largest size with room, then
// slack, fewer free MHz and place. Down the ranking each
// node gets the smallest size that closes what is missing to the target, else
// its largest; so(n)/n is taken anew with every node; the last node is shrunk to
// the smallest size that suffices. Cost: O(nodes × sources + taken × log nodes).
type quasar struct {
	centralTime
	options Options
	most    int // nodes that are judged, drawn at random where there are more; 0: all

	tentative tentative
	ranks     []quality // a heap, best on top
}

// quality is a node's place in the ranking.
type quality struct {
	node          board.Index
	noViolation   bool
	size          int // the largest size with room, index into the sizes
	performance   float64
	slack         float64 // min of all D1, D2, in points
	kept          float64
	newViolations int  // new violations, where there are any and options have them counted
	evict         bool // best-effort residents may have to leave
	asIs          bool // and only for their room: there is no violation with them, either
}

// Select implements board.Selector.
func (q *quasar) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &q.tentative
	f.begin(b, a, q.options.Timeout)
	sizes := sizesOf(a)
	q.rank(sizes, false, random)
	c := q.fill(sizes)
	if !q.enough(c) && q.canEvict() {
		f.begin(b, a, q.options.Timeout)
		q.rank(sizes, true, random)
		c = q.fill(sizes)
	}
	c.Examined, c.TimedOut = f.examined, f.timedOut
	return c
}

// sizesOf are the sizes to choose from, ascending.
func sizesOf(a *board.Request) []board.SizeOption {
	switch {
	case len(a.Sizes) == 0:
		return []board.SizeOption{{Size: a.Size, Speed: 1}}
	case a.BestEffort:
		return a.Sizes[:1] // the smallest useful
	default:
		return a.Sizes
	}
}

// enough reports whether a choice reaches the target or, without one, is complete.
func (q *quasar) enough(c board.Choice) bool {
	return len(c.Replicas) > 0 && c.Reaches && (q.tentative.request.Target > 0 || len(c.Replicas) >= q.tentative.request.Count)
}

// canEvict: best-effort work gives way to the rest.
func (q *quasar) canEvict() bool {
	a, b := q.tentative.request, q.tentative.board
	if a.BestEffort {
		return false
	}
	for i := range b.Len() {
		residents := b.Residents(board.Index(i))
		for k := range residents { // they are large, and all are looked at: not copied
			if residents[k].BestEffort {
				return true
			}
		}
	}
	return false
}

// rank makes the heap of all nodes with room for the smallest size.
func (q *quasar) rank(sizes []board.SizeOption, evicting bool, random *rand.Rand) {
	f := &q.tentative
	q.ranks, f.nodes = q.ranks[:0], f.nodes[:0]
	for i := range f.board.Len() {
		n := board.Index(i)
		if !f.look(n) {
			break
		}
		if f.board.Ready(n) && f.allowed(n) {
			f.nodes = append(f.nodes, n)
		}
	}
	if q.most > 0 {
		f.draw(q.most, random)
	}
	for _, n := range f.nodes {
		r := q.judge(n, sizes)
		if evicting {
			r = better(r, q.judgeEvicting(n, sizes))
		}
		if r.size >= 0 {
			q.ranks = append(q.ranks, r)
		}
	}
	for i := len(q.ranks)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// better of a node as it is, and without its best-effort residents: these stay
// unless the node does more without them.
func better(asIs, emptied quality) quality {
	if emptied.size < 0 || asIs.noViolation && asIs.size >= emptied.size {
		return asIs
	}
	emptied.asIs = asIs.noViolation
	return emptied
}

// judge a node as it is; size −1: no room.
func (q *quasar) judge(n board.Index, sizes []board.SizeOption) quality {
	b := q.tentative.board
	at := len(sizes) - 1
	for at >= 0 && !b.Fits(n, sizes[at].Size) {
		at--
	}
	residents := b.MachineResidents(n)
	r := q.qualityOf(n, sizes, max(0, at), b.Tolerated(n), q.mutualPressure(n, b.Caused(n), residents))
	if at < 0 {
		return quality{size: -1, noViolation: r.noViolation}
	}
	q.countViolations(&r, residents)
	return r
}

// mutualPressure is what the workload and the residents of a node exert on each other: the
// papers' sums, or fair shares.
func (q *quasar) mutualPressure(n board.Index, sums []float64, residents []board.Resident) mutualPressure {
	if !q.options.FairShares {
		return mutualPressure{sums, q.tentative.request.Caused}
	}
	return q.options.coRunnersOf(q.tentative.board.Columns, residents).mutualPressureOf(residentOn(q.tentative.board, n, q.tentative.request))
}

// countViolations counts the new violations among residents, where a bound breaks.
func (q *quasar) countViolations(r *quality, residents []board.Resident) {
	if q.options.FewestViolations && !r.noViolation {
		b := q.tentative.board
		r.newViolations = q.options.newViolations(b.Columns, residents, residentOn(b, r.node, q.tentative.request))
	}
}

// judgeEvicting judges a node without its best-effort residents.
func (q *quasar) judgeEvicting(n board.Index, sizes []board.SizeOption) quality {
	f := &q.tentative
	b := f.board
	var used cluster.Resources
	var stay []board.Resident
	cluster.NoPressure(f.mixT, f.mixC)
	own := len(b.Residents(n))
	for i, r := range b.MachineResidents(n) {
		if i < own && r.BestEffort {
			continue
		}
		stay = append(stay, r)
		if i < own {
			used = used.Add(r.Size)
		}
		cluster.AddPressure(f.mixT, f.mixC, r.Tolerated, r.Caused)
	}
	at := len(sizes) - 1
	for at >= 0 && !b.Node(n).HasRoom(used, sizes[at].Size) {
		at--
	}
	if at < 0 || len(stay) == len(b.MachineResidents(n)) {
		return quality{size: -1}
	}
	out := q.qualityOf(n, sizes, at, f.mixT, q.mutualPressure(n, f.mixC, stay))
	out.evict = true
	q.countViolations(&out, stay)
	return out
}

func (q *quasar) qualityOf(n board.Index, sizes []board.SizeOption, at int, tolerated []float64, mutual mutualPressure) quality {
	a := q.tentative.request
	slack, own := math.Inf(1), a.ToleranceOn(q.tentative.board.Node(n).Configuration).Tolerated
	for k, pressure := range mutual.onNewcomer {
		slack = min(slack, tolerated[k]-mutual.byNewcomer[k], own[k]-q.options.experienced(pressure))
	}
	r := quality{node: n, size: at, slack: slack, noViolation: slack >= -epsilonPoints, kept: kept(a, mutual.onNewcomer, q.options)}
	r.performance = isolatedSpeed(a, q.tentative.board.Node(n)) * r.kept * sizes[at].Speed
	return r
}

// before is the ranking. Unknown performance comes last among its equals.
func (q *quasar) before(x, y *quality) bool {
	switch {
	case x.noViolation != y.noViolation:
		return x.noViolation
	case x.evict != y.evict:
		return !x.evict
	case x.newViolations != y.newViolations:
		return x.newViolations < y.newViolations
	case q.options.FewestViolations && !x.noViolation && violationSteps(x.slack) != violationSteps(y.slack):
		return violationSteps(x.slack) < violationSteps(y.slack)
	}
	px, py := orLowest(x.performance), orLowest(y.performance)
	if px != py {
		return px > py
	}
	if x.slack != y.slack {
		return x.slack > y.slack
	}
	return byRoom(q.tentative.board, x.node, y.node) < 0
}

// violationSteps is the size of a violation in steps of backtracking: a smaller difference
// says nothing.
func violationSteps(slack float64) float64 { return math.Ceil(-slack / relaxStepPoints) }

func (q *quasar) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.ranks) {
			return
		}
		if child+1 < len(q.ranks) && q.before(&q.ranks[child+1], &q.ranks[child]) {
			child++
		}
		if !q.before(&q.ranks[child], &q.ranks[i]) {
			return
		}
		q.ranks[i], q.ranks[child] = q.ranks[child], q.ranks[i]
		i = child
	}
}

func (q *quasar) next() (quality, bool) {
	if len(q.ranks) == 0 {
		return quality{}, false
	}
	top, last := q.ranks[0], len(q.ranks)-1
	q.ranks[0] = q.ranks[last]
	q.ranks = q.ranks[:last]
	q.sink(0)
	return top, true
}

func speedKnown(a *board.Request) bool {
	return slices.ContainsFunc(a.Speed, func(v float64) bool { return !math.IsNaN(v) })
}

// fill walks down the ranking. Without a target, or with no speed to size by, it takes
// the count of the request.
func (q *quasar) fill(sizes []board.SizeOption) board.Choice {
	switch a := q.tentative.request; {
	case a.Target <= 0 || a.BestEffort || !speedKnown(a):
		return q.fillCount(sizes)
	case len(a.ScaleOut) == 0 && a.Count <= 1:
		return q.fillOne(sizes)
	default:
		return q.fillTarget(sizes)
	}
}

// fillCount places the count of the request at its own size. Best-effort work gets the
// smallest useful size, and only nodes without a violation.
func (q *quasar) fillCount(sizes []board.SizeOption) board.Choice {
	a := q.tentative.request
	var c board.Choice
	at := 0
	if !a.BestEffort {
		at = nearestSize(a, sizes)
	}
	for len(c.Replicas) < a.Count {
		r, ok := q.next()
		if !ok || a.BestEffort && !r.noViolation && !a.Forced {
			break
		}
		q.grant(&c, r, sizes, min(at, r.size))
	}
	if a.Gang && len(c.Replicas) < a.Count {
		return board.Choice{}
	}
	c.Reaches = reaches(a, c.Replicas)
	return c
}

// nearestSize is the size of relative speed nearest to that of the request.
func nearestSize(a *board.Request, sizes []board.SizeOption) int {
	at := 0
	for i, s := range sizes {
		if s.Size == a.Size {
			return i
		}
		if math.Abs(s.Speed-1) < math.Abs(sizes[at].Speed-1) {
			at = i
		}
	}
	return at
}

// fillOne is for work that one node must carry: the first node without a violation that
// reaches the target by itself, else whatever ranks first.
func (q *quasar) fillOne(sizes []board.SizeOption) board.Choice {
	best, bestAt, most := -1, -1, -1
	for i := range q.ranks {
		r := &q.ranks[i]
		if most < 0 || q.before(r, &q.ranks[most]) {
			most = i
		}
		if !r.noViolation || best >= 0 && !q.before(r, &q.ranks[best]) {
			continue
		}
		if at := q.smallest(*r, sizes, q.tentative.request.Target); at >= 0 {
			best, bestAt = i, at
		}
	}
	var c board.Choice
	switch {
	case best >= 0:
		q.grant(&c, q.ranks[best], sizes, bestAt)
		c.Reaches = true
	case most >= 0:
		q.grant(&c, q.ranks[most], sizes, q.ranks[most].size)
	}
	return c
}

// smallest is the smallest size with which the node reaches a performance, or
// −1.
func (q *quasar) smallest(r quality, sizes []board.SizeOption, wanted float64) int {
	one := isolatedSpeed(q.tentative.request, q.tentative.board.Node(r.node)) * r.kept
	for at := 0; at <= r.size; at++ {
		if one*sizes[at].Speed >= wanted {
			return at
		}
	}
	return -1
}

// fillTarget scales up, then out, until the group reaches its target. Work whose
// scale-out is not known has at most its own count of allocations.
func (q *quasar) fillTarget(sizes []board.SizeOption) board.Choice {
	a := q.tentative.request
	var c board.Choice
	sum, total := 0.0, 0.0 // performance before and after efficiency
	for total < a.Target && (len(a.ScaleOut) > 0 || len(c.Replicas) < a.Count) {
		r, ok := q.next()
		if !ok {
			break
		}
		if math.IsNaN(r.performance) {
			continue
		}
		e := efficiency(a, len(c.Replicas)+1)
		at := r.size
		if small := q.smallest(r, sizes, a.Target/e-sum); small >= 0 {
			at = small
		}
		one := isolatedSpeed(a, q.tentative.board.Node(r.node)) * r.kept * sizes[at].Speed
		if (sum+one)*e <= total {
			break // more nodes would only make it slower
		}
		q.grant(&c, r, sizes, at)
		sum += one
		total = sum * e
	}
	c.Reaches = total >= a.Target
	if !c.Reaches && !a.Forced {
		return board.Choice{} // admission queues it: no oversubscription
	}
	return c
}

// grant takes a node at a size.
func (q *quasar) grant(c *board.Choice, r quality, sizes []board.SizeOption, at int) {
	a, b := q.tentative.request, q.tentative.board
	c.Replicas = append(c.Replicas, board.Replica{
		Node: r.node, Size: sizes[at].Size,
		Predicted: isolatedSpeed(a, b.Node(r.node)) * r.kept * sizes[at].Speed,
	})
	if r.evict {
		c.Evict = append(c.Evict, evictions(b, r, sizes[at].Size)...)
	}
}

// evictions lists the best-effort residents that must leave a node: least
// important first, then youngest, until there is room; all of them where the node
// violates a bound with any of them there.
func evictions(b *board.Board, r quality, size cluster.Resources) []board.Eviction {
	residents := slices.DeleteFunc(slices.Clone(b.Residents(r.node)), func(x board.Resident) bool { return !x.BestEffort })
	slices.Reverse(residents)
	slices.SortStableFunc(residents, func(x, y board.Resident) int { return cmp.Compare(x.Priority, y.Priority) })
	used := b.Used(r.node)
	var out []board.Eviction
	for _, x := range residents {
		if r.asIs && b.Node(r.node).HasRoom(used, size) {
			break
		}
		used = used.Subtract(x.Size)
		out = append(out, board.Eviction{Node: r.node, Handle: x.Handle})
	}
	return out
}
