package policy

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// live is the policy that asks a selector: the snapshot becomes a board, the
// request an ask, the choice the head of the ranking. Then the common ending
// follows, as for every policy.
func live(d SelectorDescriptor) Descriptor {
	return Descriptor{
		Name: d.Name, Summary: d.Summary, Paper: d.Paper, NeedsProfile: d.NeedsProfile,
		New: func() Policy { return selecting{d} },
	}
}

type selecting struct{ d SelectorDescriptor }

// Place implements Policy.
func (p selecting) Place(r Request) (cluster.Decision, error) {
	return place(r, p.d.Name, func(v *view) ranking { return v.ask(p.d) })
}

// rejectUnchosen is why a node is kept for want of better only: the policy chose
// others.
const rejectUnchosen cluster.RejectReason = "not chosen"

// liveDraws is how often a policy that draws a sample is asked again before the
// rest is placed for it: nothing waits in admission here, and a node that fits is
// to be used.
const liveDraws = 4

// question is one live request put to a selector.
type question struct {
	*view
	board    *board.Board
	selector board.Selector
	random   *rand.Rand
	options  []*option // by board index; nil: not feasible
	chosen   []*option // in the order chosen
	replicas map[*option]int
	relaxed  []cluster.Relaxation
}

// ask puts the request to the selector: first for the group, then for a few
// spare nodes. What it did not choose follows, least loaded first.
func (v *view) ask(d SelectorDescriptor) ranking {
	q := v.question(d)
	a := q.compose()
	for draw := 0; draw < liveDraws && a.Count > 0; draw++ {
		c := q.selector.Select(q.board, &a, q.random)
		if draw == 0 {
			q.relaxed = c.Relaxed
		}
		a.Count -= q.record(c, a.Count)
		a.Target = 0 // the rest as well as can be
	}
	a.Count = spareNodes
	a.Allowed = func(n board.Index) bool { return q.options[n] != nil && q.replicas[q.options[n]] == 0 }
	spare := q.selector.Select(q.board, &a, q.random)
	return q.ranking(d, spare)
}

func (v *view) question(d SelectorDescriptor) *question {
	q := &question{
		view: v, board: board.FromSnapshot(v.snapshot, v.Columns, v.Workload.ID),
		random:   rand.New(rand.NewPCG(v.Seed, uint64(len(v.options)))),
		options:  make([]*option, len(v.snapshot.Nodes)),
		replicas: map[*option]int{},
	}
	q.selector = d.New(q.board, Options{})
	byID := make(map[cluster.NodeID]*option, len(v.options))
	for _, o := range v.options {
		byID[o.node.ID] = o
	}
	for i, n := range v.snapshot.Nodes {
		q.options[i] = byID[n.ID]
	}
	return q
}

// compose the ask. Admission is not between us and the selector: what has room is
// taken.
func (q *question) compose() board.Ask {
	room := 0
	for _, o := range q.view.options {
		room += o.room
	}
	w := q.Workload
	a := board.Ask{
		Size: w.Ask, Count: min(w.Count, room), Forced: true,
		Tolerated: q.tolerated, Caused: q.caused,
		Speed: q.speeds(), Target: q.need * float64(w.Count),
		SlowdownMax: performance.DefaultSlowdownMaxPercent / 100,
		Allowed: func(n board.Index) bool {
			o := q.options[n]
			return o != nil && q.replicas[o] < o.room
		},
	}
	if s := w.Spec.SlowdownMaxPercent; s > 0 && s < 100 {
		a.SlowdownMax = s / 100
	}
	return a
}

// speeds by configuration of the board; nil where none is usable.
func (q *question) speeds() []float64 {
	out, known := make([]float64, len(q.board.Configurations)), false
	for i, c := range q.board.Configurations {
		out[i] = math.NaN()
		if q.rates[c] {
			out[i], known = q.Knowledge.Speed[c].Value, true
		}
	}
	if !known {
		return nil
	}
	return out
}

// record the first n units of a choice, as far as the live cluster has room for
// them, and how many that are. The board does not count profiling copies.
func (q *question) record(c board.Choice, n int) int {
	taken := 0
	for _, u := range c.Units {
		o := q.options[u.Node]
		if taken == n || o == nil || q.replicas[o] >= o.room {
			continue
		}
		if q.replicas[o] == 0 {
			q.chosen = append(q.chosen, o)
		}
		q.replicas[o]++
		taken++
	}
	return taken
}

func (q *question) ranking(d SelectorDescriptor, spare board.Choice) ranking {
	r := ranking{
		reason: d.reason, relaxed: q.relaxed,
		why:    func(*option) string { return d.reason },
		detail: func(*ranked) string { return fmt.Sprintf("%s chose others", d.Name) },
	}
	listed := map[*option]bool{}
	add := func(o *option, t tier, replicas int) {
		if listed[o] {
			return
		}
		listed[o] = true
		n := &ranked{option: o, tier: t}
		if t != good {
			n.reject.Reason = rejectUnchosen
		}
		r.nodes, r.preset = append(r.nodes, n), append(r.preset, replicas)
	}
	for _, o := range q.chosen {
		add(o, good, q.replicas[o])
	}
	for _, u := range spare.Units {
		add(q.options[u.Node], good, 0)
	}
	rest := slices.SortedStableFunc(slices.Values(q.view.options), func(x, y *option) int {
		return cmp.Or(cmp.Compare(x.cpuLoad, y.cpuLoad), cmp.Compare(x.memoryLoad, y.memoryLoad), cmp.Compare(x.node.ID, y.node.ID))
	})
	for _, o := range rest {
		add(o, slower, 0)
	}
	q.warnRelaxed(r.relaxed)
	return r
}
