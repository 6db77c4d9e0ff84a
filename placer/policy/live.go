package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// live is the policy that asks a selector: the snapshot becomes a board, the request a
// placement request, the choice the head of the ranking. What comes before and after is
// as for every policy.
func live(d SelectorDescriptor) Descriptor {
	return Descriptor{
		Name: d.Name, Summary: d.Summary, Paper: d.Paper, NeedsProfile: d.NeedsProfile, Sizes: d.Sizes, Waits: d.waits,
		New: func() Policy { return selecting{d} },
	}
}

type selecting struct{ d SelectorDescriptor }

// Place implements Policy.
func (p selecting) Place(r Request) (cluster.Decision, error) {
	r.drawn = p.d.drawn
	if p.d.Sizes && r.MaySize && validate(r) == nil && r.Workload.Count > 0 && r.JobType != "system" && r.JobType != "sysbatch" {
		return p.placeSized(r)
	}
	return place(r, p.d.Name, func(v *candidateSet) ranking { return v.askSelector(p.d) })
}

// rejectUnchosen is why a node is a last resort: the policy chose others.
const rejectUnchosen cluster.RejectReason = "not chosen"

// requestAdapter is one live request put to a selector.
type requestAdapter struct {
	*candidateSet
	board    *board.Board
	byIndex  []*candidate // by board index; nil: not feasible
	chosen   []*candidate // in the order chosen
	replicas map[*candidate]int
}

// askSelector puts the request to the selector: first for the group, then for a few nodes in
// reserve. What it did not choose follows, least loaded first.
func (v *candidateSet) askSelector(d SelectorDescriptor) ranking {
	q := v.requestAdapter()
	inner := d.New(q.board, Live())
	a := q.compose()
	a.Forced = !d.waits || !v.MayWait || v.runs()
	asked, random := a, Draws(v.Seed)
	selector := inner
	if a.Forced {
		selector = Whole(inner, q.room)
	}
	c := selector.Select(q.board, &a, random)
	waits := ""
	if f, ok := inner.(refuser); ok && !a.Forced && len(c.Replicas) < a.Count {
		waits = f.refusal()
	}
	q.record(c)
	a.Forced = true
	a.Count, a.Target = cluster.LeastSpareNodes, 0
	a.Allowed = func(n board.Index) bool { return q.byIndex[n] != nil && q.replicas[q.byIndex[n]] == 0 }
	var spare board.Choice
	if s, ok := inner.(sparer); ok {
		spare.Replicas = s.spare(a.Count, a.Allowed)
	} else {
		spare = inner.Select(q.board, &a, random)
	}
	r := q.ranking(d, c, spare)
	if x, ok := inner.(explainer); ok {
		q.explain(&r, func(n board.Index) explanation { return x.explain(q.board, &asked, n) })
	}
	r.waits = waits
	if d.NeedsProfile {
		r.waits = cmp.Or(v.bestEffortWaits(), waits)
	}
	return r
}

// refuser is a selector that leaves nodes with room alone while a request may wait, and says
// why.
type refuser interface{ refusal() string }

// sparer is a selector that knows the nodes it would have taken next.
type sparer interface {
	spare(count int, allowed func(board.Index) bool) []board.Replica
}

// explainer is a selector that can say what a node's place is made of.
type explainer interface {
	explain(b *board.Board, a *board.Request, n board.Index) explanation
}

// explanation of a place: what it is made of, a sentence, and what the residents would lose by
// the workload.
type explanation struct {
	parts  []cluster.ScorePart
	why    string
	losses []predict.Loss
}

// mostLosses is how many residents that lose are named.
const mostLosses = 3

// explain has a ranking say what each place is made of, and who would lose what there.
func (q *requestAdapter) explain(r *ranking, of func(n board.Index) explanation) {
	r.parts = func(o *candidate) []cluster.ScorePart { return of(q.indexOf(o)).parts }
	r.why = func(o *candidate) string {
		n := q.indexOf(o)
		x := of(n)
		if len(x.losses) == 0 {
			return x.why
		}
		return x.why + q.lossWords(x.losses, q.namesOn(n))
	}
}

// namesOn are the workloads of a node's machine, by resident.
func (q *requestAdapter) namesOn(n board.Index) map[board.Handle]string {
	names := map[board.Handle]string{}
	for _, of := range append([]board.Index{n}, q.board.SameMachine(n)...) {
		for handle, a := range q.board.Allocations(q.snapshot, of, q.Workload.ID) {
			names[handle] = a.Workload.String()
		}
	}
	return names
}

// lossWords name those that lose a noticeable share, the others together.
func (q *requestAdapter) lossWords(losses []predict.Loss, names map[board.Handle]string) string {
	var words []string
	rest, many := 0.0, 0
	for _, l := range losses {
		if percent := 100 * l.Share; percent < noticeablePercent || len(words) == mostLosses {
			rest, many = rest+percent, many+1
			continue
		}
		text := fmt.Sprintf("%s would lose %.0f %%", names[l.Resident], 100*l.Share)
		if l.Chance {
			text = fmt.Sprintf("%s would be %.0f points less likely to keep its latency bound", names[l.Resident], 100*l.Share)
		}
		if l.Column >= 0 {
			text += " because of " + wording.Source(q.Columns[l.Column])
		}
		words = append(words, text)
	}
	if rest >= noticeablePercent {
		words = append(words, fmt.Sprintf("%s %.0f %% in all", wording.Count(many, "other"), rest))
	}
	if len(words) == 0 {
		return ""
	}
	return "; " + strings.Join(words, ", ")
}

// indexOf a candidate on the board.
func (q *requestAdapter) indexOf(o *candidate) board.Index {
	return board.Index(slices.Index(q.byIndex, o))
}

// runs reports whether the group runs somewhere already: it waits where it is.
func (v *candidateSet) runs() bool {
	return slices.ContainsFunc(v.candidates, func(o *candidate) bool { return o.incumbent })
}

func (v *candidateSet) requestAdapter() *requestAdapter {
	q := &requestAdapter{
		candidateSet: v, board: v.takeBoard(),
		byIndex:  make([]*candidate, len(v.snapshot.Nodes)),
		replicas: map[*candidate]int{},
	}
	next := 0 // of the candidates, which are in the order of the nodes
	for i, n := range v.snapshot.Nodes {
		if next < len(v.candidates) && v.candidates[next].node == n {
			q.byIndex[i] = v.candidates[next]
			next++
		}
	}
	return q
}

// takeBoard makes the request's board, in the storage of the decision before where there is
// one. It is given back with giveBoard.
func (v *candidateSet) takeBoard() *board.Board {
	earlier, _ := v.snapshot.Cache.Board.(*board.Board)
	v.snapshot.Cache.Board = nil
	v.board = board.Renew(earlier, v.snapshot, v.Columns, v.Workload.ID)
	return v.board
}

// giveBoard has the next decision use the storage of the board, if there is any: nothing may
// read from it any more.
func (v *candidateSet) giveBoard() {
	if v.board != nil {
		v.snapshot.Cache.Board = v.board
	}
}

// room is how many allocations of the group a node takes. The board does not
// count profiling copies.
func (q *requestAdapter) room(n board.Index) int {
	if o := q.byIndex[n]; o != nil {
		return o.room
	}
	return 0
}

// compose writes the placement request. It is forced, so what has room is taken.
func (q *requestAdapter) compose() board.Request {
	room := 0
	for _, o := range q.candidateSet.candidates {
		room += o.room
	}
	w, least := q.Workload, q.leastRequired()
	a := board.Request{
		Size: w.Ask, Count: min(w.Count, room), Forced: true,
		Tolerated: least.Tolerated, Caused: q.caused, AtBound: q.atBound, RequiredFraction: least.RequiredFraction, Tolerances: q.toleranceByConfiguration(),
		Speed: q.speeds(), Target: q.need * float64(w.Count),
		SlowdownMax: q.slowdownPercent() / 100,
		Disk:        w.Spec.Disk,
		Allowed:     func(n board.Index) bool { return q.byIndex[n] != nil },
	}
	return a
}

// toleranceByConfiguration is the tolerance at target by configuration of the board.
func (q *requestAdapter) toleranceByConfiguration() []board.Tolerance {
	out := make([]board.Tolerance, len(q.board.Configurations))
	for i, c := range q.board.Configurations {
		out[i] = q.toleranceOn(c).Tolerance
	}
	return out
}

// speeds in isolation by configuration of the board; nil where none is known in the
// target's unit.
func (q *requestAdapter) speeds() []float64 {
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

// record a choice.
func (q *requestAdapter) record(c board.Choice) {
	for _, u := range c.Replicas {
		o := q.byIndex[u.Node]
		if q.replicas[o] == 0 {
			q.chosen = append(q.chosen, o)
		}
		q.replicas[o]++
	}
}

// found says how nodes were found; empty where the policy has no index.
func found(c board.Choice) string {
	if c.Indexed+c.Scans == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s found through the index, %d by looking at every node)", wording.Count(c.Indexed, "allocation"), c.Scanned)
}

func (q *requestAdapter) ranking(d SelectorDescriptor, c, spare board.Choice) ranking {
	r := ranking{
		reason: d.reason + found(c) + q.drawnWords(), relaxed: c.Relaxed,
		why:    func(*candidate) string { return d.reason },
		detail: func(*ranked) string { return fmt.Sprintf("%s chose other nodes", d.Name) },
	}
	all := q.candidateSet.candidates
	storage, listed := q.work.takeRanked(len(all)), make([]bool, len(all))
	r.nodes, r.preset = make([]*ranked, 0, len(all)), make([]int, 0, len(all))
	add := func(o *candidate, t tier, replicas int) {
		if listed[o.index] {
			return
		}
		listed[o.index] = true
		n := &storage[len(r.nodes)]
		n.candidate, n.tier = o, t
		if t != good {
			n.reject.Reason = rejectUnchosen
		}
		r.nodes, r.preset = append(r.nodes, n), append(r.preset, replicas)
	}
	for _, o := range q.chosen {
		add(o, good, q.replicas[o])
	}
	for _, u := range spare.Replicas {
		add(q.byIndex[u.Node], good, 0)
	}
	rest := slices.SortedFunc(slices.Values(all), func(x, y *candidate) int {
		return cmp.Or(cmp.Compare(x.cpuLoad, y.cpuLoad), cmp.Compare(x.memoryLoad, y.memoryLoad), cmp.Compare(x.index, y.index))
	})
	for _, o := range rest {
		add(o, slower, 0)
	}
	q.warnRelaxed(r.relaxed)
	return r
}
