package adapt

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The rules of moves that pay, chosen by us on calibration seeds: what a move must gain at
// least, how often it is looked, and how many workloads are looked at then.
const (
	leastGain       = 0.1
	LookEvery       = 2 * time.Minute
	MostLooked      = 64
	defaultMoveTime = 30 * time.Second
)

// Pays reports whether what a workload gains in the time that is left to it is more than what it
// loses while it is moved. gain is the difference of what two nodes are worth to it. A workload of which
// that time is not known (0) runs for long enough.
func Pays(gain float64, left, moveTime time.Duration) bool {
	return gain >= leastGain && (left <= 0 || gain*left.Seconds() > moveTime.Seconds())
}

// mover moves a workload of one allocation to the node where it would be worth so much more,
// by the score that the policy expected places with, that what it gains in the time that it
// still runs is more than what it loses while it is moved.
type mover struct {
	moveTime time.Duration
	looked   Instant
	known    map[board.Handle]*float64 // where its speeds were when it was last looked at
	outlook  *predict.Outlook
	most     []float64 // by configuration: what a workload would gain there at most
}

func newMover(o Options) *mover {
	return &mover{
		moveTime: cmp.Or(o.MoveTime, defaultMoveTime), known: map[board.Handle]*float64{},
	}
}

func (m *mover) forget(handle board.Handle) { delete(m.known, handle) }

// judged is a workload with what it is worth where it is.
type judged struct {
	window *Observation
	claim  predict.Newcomer
	worth  float64
}

// step looks at all workloads now and then, and at one of which something new is known at
// once; the ones that are worth least are served first. The two nodes of a move wait for the
// next look.
func (m *mover) step(now Instant, b *board.Board, windows []Observation) []Action {
	if m.outlook == nil {
		m.outlook = predict.NewOutlook(performance.DefaultSlowdownMaxPercent/100, predict.TraitsOf(b.Columns, false))
	}
	all := now-m.looked >= LookEvery
	if all {
		m.looked = now
	}
	var list []judged
	for i := range windows {
		w := &windows[i]
		if !movable(w) || !all && m.known[w.Handle] == &w.Speed[0] {
			continue
		}
		m.known[w.Handle] = &w.Speed[0]
		if p, ok := m.judge(b, w); ok {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(x, y judged) int { return cmp.Compare(x.worth, y.worth) })
	var out []Action
	changed := map[board.Index]bool{}
	for _, p := range list[:min(len(list), MostLooked)] {
		from := p.window.Replicas[0].Node
		to, gain := m.best(b, p, changed)
		if changed[from] || to == board.None || !Pays(gain, p.window.Left, m.moveTime) {
			continue
		}
		changed[from], changed[to] = true, true
		out = append(out, Action{Kind: Move, Handle: p.window.Handle, Reason: fmt.Sprintf("expected to do %.0f points better on another node", 100*gain)})
	}
	return out
}

// movable: one allocation, of which speeds are known, and that nothing else moves.
func movable(w *Observation) bool {
	return len(w.Replicas) == 1 && len(w.Speed) > 0 && w.Finish == nil && w.Replicas[0].Task == nil
}

// judge a workload where it is.
func (m *mover) judge(b *board.Board, w *Observation) (judged, bool) {
	u := w.Replicas[0]
	at := slices.IndexFunc(b.Residents(u.Node), func(r board.Resident) bool { return r.Handle == u.Handle })
	if at < 0 {
		return judged{}, false
	}
	c := predict.Newcomer{Resident: b.Residents(u.Node)[at]}
	c.Curve = c.Tolerated
	for _, v := range w.Speed {
		if v > c.Top { // it may be NaN
			c.Top = v
		}
	}
	if f := c.RequiredFraction; f != nil {
		c.Target = *f * w.Speed[b.Node(u.Node).Configuration]
	}
	return judged{w, c, m.worth(b, c, w, u.Node)}, true
}

// worth of an allocation on a node, without itself.
func (m *mover) worth(b *board.Board, c predict.Newcomer, w *Observation, n board.Index) float64 {
	c.Speed = w.Speed[b.Node(n).Configuration]
	m.among(b, c, n)
	return m.outlook.Worth(c).Net()
}

// among those who are on a machine besides the allocation itself.
func (m *mover) among(b *board.Board, c predict.Newcomer, n board.Index) {
	others, itself := b.MachineResidents(n), func(r board.Resident) bool { return r.Handle == c.Handle }
	if slices.ContainsFunc(others, itself) {
		others = slices.DeleteFunc(slices.Clone(others), itself)
	}
	m.outlook.Among(others, len(b.Columns), predict.HostOf(b.Node(n)))
}

// best is the node where the workload is worth most, and what it would gain there; None where it
// would gain less than a move must. What residents lose takes longest to predict and only lowers
// the worth: it is not looked at where the workload by itself would gain too little.
func (m *mover) best(b *board.Board, p judged, changed map[board.Index]bool) (to board.Index, gain float64) {
	to = board.None
	u, c := p.window.Replicas[0], p.claim
	enough := func(g float64) bool { return g >= leastGain && (to == board.None || g > gain) }
	m.most = m.most[:0]
	for _, c.Speed = range p.window.Speed {
		m.most = append(m.most, c.Most()-p.worth)
	}
	for i := range b.Len() {
		n := board.Index(i)
		k := b.Node(n).Configuration
		if !enough(m.most[k]) || changed[n] || n == u.Node || !b.Fits(n, u.Size) {
			continue
		}
		c.Speed = p.window.Speed[k]
		m.among(b, c, n)
		if reached, _ := m.outlook.Reached(c); !enough(reached - p.worth) {
			continue
		}
		if g := m.outlook.Worth(c).Net() - p.worth; enough(g) {
			to, gain = n, g
		}
	}
	return to, gain
}
