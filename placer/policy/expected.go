package policy

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

var expectedSelector = SelectorDescriptor{
	Name:         "expected",
	Summary:      "the node on which the workload is expected to do best, less what the workloads there would lose",
	NeedsProfile: true, Sizes: true, waits: true, drawn: mostJudged,
	Parameters: []Parameter{
		{Name: "accept", Default: formatShare(defaultAccept), Summary: "while it may wait, it takes no node that is worth less than this, 0 to 1",
			set: fraction(func(o *Options) **float64 { return &o.Accept })},
	},
	New:    func(_ *board.Board, o Options) board.Selector { return newExpected(o) },
	reason: "expected to do best there, less what the workloads there would lose",
}

// defaultAccept was chosen on all scenarios of the league, with drawn programs and with measured
// ones (decision 0064): with the former 0.35 to 0.5 are level, with the latter less than 0.4.
const defaultAccept = 0.4

func formatShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// fraction reads a number from 0 to 1.
func fraction(field func(o *Options) **float64) func(*Options, string) error {
	return func(o *Options, value string) error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return errors.New("a number from 0 to 1 is needed")
		}
		*field(o) = &v
		return nil
	}
}

// mostJudged nodes are judged, drawn at random where more have room: with 500 the best of
// them is among the best 1 % of all with a probability of 99.3 %, whatever their worths
// (Delimitrou 2015, §7.3: 1 − 0.99^500).
const mostJudged = 500

// expected takes, for each allocation in turn, the node of the highest worth: the share of
// its target, or of its best performance, that the newcomer is expected to reach there, less
// what the residents are expected to lose. No node is left out for breaking a bound, but those where
// a resident would miss its target come last, and the fastest configuration is not the only one. Of
// equals it takes the emptier node. A group of which sizes may be chosen goes where quasar puts it, and
// best-effort work, while it may wait, where quasar does: only where no bound breaks.
type expected struct {
	options Options
	accept  float64

	sizing    quasar
	tentative tentative
	outlook   *predict.Outlook
	top, need float64  // the best speed, and what one allocation must reach; 0: none is known
	kinds     []uint64 // of the newcomer, by configuration; nil: nothing is remembered
	prospects prospects
	offered   int              // nodes with room of the last choice
	best      float64          // and what the best of them was worth
	there     []board.Resident // scratch
}

// prospect is what is expected on one node. What the residents lose takes longer to predict
// than what the newcomer reaches, and only lowers the worth: until it is looked at, worth is
// without it.
type prospect struct {
	node        board.Index
	worth       float64
	whole       bool    // what the residents lose is taken off
	performance float64 // of the allocation, in the unit of the request; NaN unknown
	allocations int     // on its machine
	load        float64
}

func newExpected(o Options) *expected {
	e := &expected{options: o, accept: defaultAccept}
	if o.Accept != nil {
		e.accept = *o.Accept
	}
	e.sizing = quasar{options: o, most: mostJudged}
	return e
}

// Select implements board.Selector. A request that is forced may not wait.
func (e *expected) Select(b *board.Board, a *board.Request, random *rand.Rand) board.Choice {
	f := &e.tentative
	f.begin(b, a, 0)
	e.begin(a)
	if len(a.Sizes) > 0 || len(a.ScaleOut) > 0 {
		return e.sizing.Select(b, a, random)
	}
	e.judgeAll(random)
	if a.BestEffort && !a.Forced {
		return e.sizing.Select(b, a, random)
	}
	for len(f.replicas) < a.Count && len(e.prospects) > 0 {
		best := e.first()
		if !a.Forced && best.worth < e.accept {
			break
		}
		f.take(board.Replica{Node: best.node, Size: a.Size, Predicted: best.performance})
		if f.open(best.node) {
			e.prospects[0] = e.judge(best.node)
			heap.Fix(&e.prospects, 0)
		} else {
			heap.Pop(&e.prospects)
		}
	}
	return f.choice(a.Count)
}

// judgeAll makes the heap of all candidates.
func (e *expected) judgeAll(random *rand.Rand) {
	f := &e.tentative
	e.kinds = e.kindsOf(f.board, f.request)
	f.gather()
	f.draw(mostJudged, random)
	e.prospects = e.prospects[:0]
	for _, n := range f.nodes {
		e.prospects = append(e.prospects, e.judge(n))
	}
	heap.Init(&e.prospects)
	e.offered, e.best = len(e.prospects), 0
	if e.offered > 0 {
		e.best = e.first().worth
	}
}

// spare implements sparer.
func (e *expected) spare(count int, allowed func(board.Index) bool) []board.Replica {
	var out []board.Replica
	for len(out) < count && len(e.prospects) > 0 {
		best := e.first()
		heap.Pop(&e.prospects)
		if allowed(best.node) {
			out = append(out, board.Replica{Node: best.node, Size: e.tentative.request.Size, Predicted: best.performance})
		}
	}
	return out
}

// refusal implements refuser.
func (e *expected) refusal() string {
	if e.tentative.request.BestEffort {
		return fmt.Sprintf("best effort waits: on %s with room, it or another workload would exceed its tolerance", wording.Count(e.offered, "node"))
	}
	return fmt.Sprintf("a better node may become free soon: the best of %s with room is worth %.0f %% to it (the share of its target, or of its best performance, that it is expected to reach there, less the shares that the workloads there are expected to lose), and it takes one of less than %.0f %% only after it has waited as long as it may",
		wording.Count(e.offered, "node"), 100*max(0, e.best), 100*e.accept)
}

func (e *expected) begin(a *board.Request) {
	e.outlook = predict.NewOutlook(slowdownMax(a), predict.TraitsOf(e.tentative.board.Columns, e.options.FairShares))
	e.top, e.need = 0, 0
	for _, v := range a.Speed {
		if v > e.top && !math.IsInf(v, 0) {
			e.top = v
		}
	}
	if a.Target > 0 && e.top > 0 {
		e.need = a.Target / float64(max(1, a.Count)) / max(minEfficiency, efficiency(a, a.Count))
	}
}

// minEfficiency keeps what one of many must reach finite.
const minEfficiency = 1e-3

// first is the best of the prospects. Those that could be better are looked at whole before.
func (e *expected) first() prospect {
	for !e.prospects[0].whole {
		p := &e.prospects[0]
		p.worth, p.whole = stepped(e.netOn(p.node), worthStep), true
		heap.Fix(&e.prospects, 0)
	}
	return e.prospects[0]
}

// judge a node for one more allocation, by what that reaches.
func (e *expected) judge(n board.Index) prospect {
	f := &e.tentative
	residents := len(f.board.MachineResidents(n)) + int(f.taken[n])
	j := e.judgementOn(n)
	p := prospect{
		node: n, performance: isolatedSpeed(f.request, f.board.Node(n)) * j.kept, allocations: residents, load: f.board.Load(n),
		worth: stepped(j.reached, worthStep), whole: residents == 0,
	}
	if !math.IsNaN(j.net) {
		p.worth, p.whole = stepped(j.net, worthStep), true
	}
	return p
}

// judgementOn is that of the newcomer on a node, remembered if possible.
func (e *expected) judgementOn(n board.Index) judgement {
	m, kind, keeps := e.memory(n)
	if keeps {
		if j := m.find(kind); j != nil {
			return *j
		}
	}
	f := &e.tentative
	newcomer, residents := e.newcomer(n, int(f.taken[n]))
	e.outlook.Among(residents, len(f.board.Columns), predict.HostOf(f.board.Node(n)))
	j := judgement{net: math.NaN()}
	j.reached, j.kept = e.outlook.Reached(newcomer)
	if keeps {
		m.keep(kind, j)
	}
	return j
}

// netOn is the worth of a node with what its residents would lose, to be remembered.
func (e *expected) netOn(n board.Index) float64 {
	net := e.worthOn(n, int(e.tentative.taken[n])).Net()
	if m, kind, keeps := e.memory(n); keeps {
		if j := m.find(kind); j != nil {
			j.net = net
		}
	}
	return net
}

// worthOn is what one more allocation is worth on a node that got so many of this choice.
func (e *expected) worthOn(n board.Index, taken int) predict.Worth {
	newcomer, residents := e.newcomer(n, taken)
	e.outlook.Among(residents, len(e.tentative.board.Columns), predict.HostOf(e.tentative.board.Node(n)))
	return e.outlook.Worth(newcomer)
}

// newcomer is one more allocation on a node that got so many of this choice, with whom it
// would be there.
func (e *expected) newcomer(n board.Index, taken int) (predict.Newcomer, []board.Resident) {
	f := &e.tentative
	own := residentOn(f.board, n, f.request)
	own.Response = f.request.Response
	there := f.board.MachineResidents(n)
	if taken > 0 {
		e.there = append(e.there[:0], there...)
		for range taken {
			e.there = append(e.there, own)
		}
		there = e.there
	}
	return predict.Newcomer{
		Resident: own, Curve: f.request.Curve(), Speed: isolatedSpeed(f.request, f.board.Node(n)), Top: e.top, Target: e.need,
	}, there
}

// explain implements explainer.
func (e *expected) explain(b *board.Board, a *board.Request, n board.Index) explanation {
	e.tentative.begin(b, a, 0)
	e.begin(a)
	w := e.worthOn(n, 0)
	newcomer := residentOn(b, n, a)
	newcomer.Response = a.Response
	why := fmt.Sprintf("it is expected to reach %.0f %% of its best performance there", 100*w.Reached)
	switch {
	case newcomer.LateShare > 0:
		why = fmt.Sprintf("it is expected to reach its target there, its latency bound included, with a chance of %.0f %%", 100*w.Reached)
	case e.need > 0:
		why = fmt.Sprintf("it is expected to reach %.0f %% of its target there", 100*w.Reached)
	}
	if w.Breaks() {
		why += fmt.Sprintf("; a workload there would miss its target by up to %.0f %%, which puts the node behind all where none would", 100*w.Broken)
	}
	return explanation{
		parts: []cluster.ScorePart{
			{Name: cluster.PartWorth, Value: 100 * w.Gain()}, {Name: cluster.PartReached, Value: 100 * w.Reached}, {Name: cluster.PartLost, Value: 100 * w.Lost},
		},
		why:    why,
		losses: e.outlook.Losses(&newcomer),
	}
}

// worthStep: a smaller difference says nothing.
const worthStep = 1e-3

// prospects is a heap, the best on top.
type prospects []prospect

func (p prospects) Len() int      { return len(p) }
func (p prospects) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p prospects) Less(i, j int) bool {
	x, y := &p[i], &p[j]
	return cmp.Or(cmp.Compare(y.worth, x.worth), cmp.Compare(x.allocations, y.allocations), cmp.Compare(x.load, y.load), cmp.Compare(x.node, y.node)) < 0
}
func (p *prospects) Push(x any) { *p = append(*p, x.(prospect)) }
func (p *prospects) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
