package generate

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// maxWalkers bounds the walkers of a type; more threads share them (chosen by us: beyond,
// a thread's own order is not seen in the whole any more).
const maxWalkers = 64

// Walk generates I/Os by walking over a diagram. It is a storage.Reader.
type Walk struct {
	model   *model.Model
	options Options
	rng     *rand.Rand
	places  places
	types   []*typeWalk
	walkers []walker
	queue   queue
	ios     int64
	last    time.Duration
}

// walker is a thread.
type walker struct {
	of    int32 // type
	state int32
	end   int64 // of its last I/O
	next  storage.Record
}

// NewWalk starts a walk over a checked model.
func NewWalk(m *model.Model, o Options) (*Walk, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	w := &Walk{
		model: m, options: o, rng: rand.New(rand.NewPCG(o.Seed, uint64(m.Levels))), places: newPlaces(m.Device, m.Levels),
	}
	for i := range m.Types {
		t := &m.Types[i]
		walkers := min(t.Threads, maxWalkers)
		tw := newTypeWalk(m, t, w.rng)
		tw.pace = newPace(t, m.Capture.Span(), o, walkers)
		w.types = append(w.types, tw)
		for range walkers {
			w.walkers = append(w.walkers, walker{of: int32(i), state: tw.start.draw(w.rng), end: -1 << 40})
		}
	}
	for i := range w.walkers {
		if at, ok := w.step(int32(i), 0); ok {
			w.queue.push(queued{at, int32(i)})
		}
	}
	return w, nil
}

// TypeOf is the type of a thread of the walk, as an index into Model.Types.
func (w *Walk) TypeOf(thread uint32) int { return int(w.walkers[thread].of) }

// Next fills the next I/O; io.EOF after the last.
func (w *Walk) Next(r *storage.Record) error {
	if len(w.queue) == 0 || (w.options.IOs > 0 && w.ios == w.options.IOs) {
		return io.EOF
	}
	first := w.queue[0]
	*r = w.walkers[first.index].next
	w.ios++
	w.last = r.At
	if at, ok := w.step(first.index, r.At); ok {
		w.queue.replaceFirst(queued{at, first.index})
	} else {
		w.queue.removeFirst()
	}
	return nil
}

// Last is the time of the last I/O.
func (w *Walk) Last() time.Duration { return w.last }

// Expected is about how many I/Os the walk has.
func (w *Walk) Expected() float64 {
	if w.options.IOs > 0 {
		return float64(w.options.IOs)
	}
	return max(1, float64(w.model.IOs())/w.options.Intensity/w.options.Compression)
}

// step draws a walker's next I/O, after its last one at now.
func (w *Walk) step(index int32, now time.Duration) (time.Duration, bool) {
	k := &w.walkers[index]
	t := w.types[k.of]
	e, to := t.leave(k.state, w.rng)
	gap := drawGap(e.gap, t.gap, w.options.Family, w.rng)
	at, ok := t.pace.next(now, gap)
	if !ok {
		return 0, false
	}
	c := w.model.Categories[e.category]
	k.next = storage.Record{
		At: at, Offset: w.places.place(int(to), c, k.end, to != k.state, w.rng), Bytes: c.Bytes, Thread: uint32(index), Op: c.Op,
	}
	k.state, k.end = to, k.next.End()
	return at, true
}

// edge is a transition as a walk needs it.
type edge struct {
	to       int32 // a state of the edge's level
	level    int32
	category int32
	gap      model.Gap
}

// typeWalk is the diagram of one type of threads.
type typeWalk struct {
	levels int
	gap    model.Gap
	pace   *pace
	edges  []edge
	// leaves draws, for a state of the last level, an edge, or a level above by which it is
	// left, as ^level.
	leaves []*urn
	// coarse draws an edge out of a state of a level above.
	coarse map[model.StateOf]*urn
	// enter draws the state of the last level in which a state above is entered.
	enter map[model.StateOf]*urn
	start *urn // states of the last level, as often as they are visited
}

func newTypeWalk(m *model.Model, t *model.Type, rng *rand.Rand) *typeWalk {
	w := &typeWalk{levels: m.Levels, gap: t.Gap, leaves: make([]*urn, model.States(m.Levels))}
	leaves := make([][]share, model.States(m.Levels))
	coarse, enter := map[model.StateOf][]share{}, map[model.StateOf][]share{}
	var start []share
	for _, x := range t.Transitions {
		i := int32(len(w.edges))
		w.edges = append(w.edges, edge{int32(x.To), int32(x.Level), int32(x.Category), x.Gap})
		if x.Level == m.Levels {
			leaves[x.From] = append(leaves[x.From], share{i, x.IOs})
			start = append(start, share{int32(x.To), x.IOs})
		} else {
			from := model.StateOf{Level: x.Level, State: x.From}
			coarse[from] = append(coarse[from], share{i, x.IOs})
		}
	}
	for _, c := range t.Exits {
		leaves[c.State] = append(leaves[c.State], share{^int32(c.Level), c.IOs})
	}
	for _, c := range t.Entries {
		into := model.StateOf{Level: c.Level, State: model.Ancestor(c.State, m.Levels, c.Level)}
		enter[into] = append(enter[into], share{int32(c.State), c.IOs})
		start = append(start, share{int32(c.State), c.IOs})
	}
	for i, shares := range leaves {
		if len(shares) > 0 {
			w.leaves[i] = newUrn(shares)
		}
	}
	w.coarse, w.enter, w.start = urns(coarse), urns(enter), newUrn(start)
	w.scatter(m, rng)
	return w
}

func urns(of map[model.StateOf][]share) map[model.StateOf]*urn {
	out := map[model.StateOf]*urn{}
	for s, shares := range of {
		out[s] = newUrn(shares)
	}
	return out
}

// scatter sets every urn to a random beginning, in a fixed order.
func (w *typeWalk) scatter(m *model.Model, rng *rand.Rand) {
	w.start.scatter(rng)
	for _, u := range w.leaves {
		if u != nil {
			u.scatter(rng)
		}
	}
	for level := 1; level < m.Levels; level++ {
		for state := range model.States(level) {
			for _, of := range []map[model.StateOf]*urn{w.coarse, w.enter} {
				if u := of[model.StateOf{Level: level, State: state}]; u != nil {
					u.scatter(rng)
				}
			}
		}
	}
}

// leave draws the transition out of a state of the last level, and the one it leads to.
func (w *typeWalk) leave(state int32, rng *rand.Rand) (*edge, int32) {
	choice := w.leaves[state].draw(rng)
	if choice >= 0 {
		e := &w.edges[choice]
		return e, e.to
	}
	level := int(^choice)
	from := model.StateOf{Level: level, State: model.Ancestor(int(state), w.levels, level)}
	e := &w.edges[w.coarse[from].draw(rng)]
	return e, w.enter[model.StateOf{Level: level, State: int(e.to)}].draw(rng)
}
