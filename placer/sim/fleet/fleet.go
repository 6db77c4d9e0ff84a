package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Instant is a moment as the time since the start of the world.
type Instant = time.Duration

// Config is what can be rented.
type Config struct {
	Types provision.Catalogue
	// Nodes are those of the board that stand for the rented ones of a type, as many as the provider
	// has at most. They are not ready until they are rented.
	Nodes        map[string][]board.Index
	MachineCores int // of the provider's machines
	Columns      int // resources
	// Configurations is how many the board has.
	Configurations int
	SpinUp         SpinUp
	Outside        Outside
	Seed           uint64
}

// Rented is one node from when it was asked for until it was given back.
type Rented struct {
	Node         board.Index
	Type         string
	Cores        int
	Asked, Ready Instant
	Returned     Instant // Never while it is kept
	PricePerHour float64
}

// Never is the end of what has not ended.
const Never Instant = -1

// Event is something that happened to a node.
type Event struct {
	Node  board.Index
	Ready bool // it came; else the load of others on its machine has changed
}

// ErrConfig: nothing can be rented that way.
var ErrConfig = errors.New("fleet: the provider makes no sense")

// Fleet is a provider. It is for one goroutine.
type Fleet struct {
	config      Config
	random      *rand.Rand
	free        map[string][]board.Index // the next one last
	types       map[board.Index]provision.Type
	nodes       map[board.Index]*node
	order       []board.Index // rented, by when they were asked for
	history     []Rented
	least, most int // cores of the types
	nextStep    Instant
}

// node is one that is rented.
type node struct {
	at      int // in history
	ready   Instant
	is      bool // ready
	load    float64
	weights []float64
	outside [1]truth.Placed // none on a whole machine
	shared  float64         // of the machine that is others'
}

// New is a provider of whom nothing is rented yet.
func New(c Config) (*Fleet, error) {
	if err := c.Types.Check(); err != nil {
		return nil, err
	}
	f := &Fleet{
		config: c, random: rand.New(rand.NewPCG(c.Seed, streamFleet)), free: map[string][]board.Index{}, types: map[board.Index]provision.Type{},
		nodes: map[board.Index]*node{}, least: c.Types[0].Cores, nextStep: Never,
	}
	for _, t := range c.Types {
		f.least, f.most = min(f.least, t.Cores), max(f.most, t.Cores)
		if len(c.Nodes[t.Name]) == 0 {
			return nil, fmt.Errorf("%w: no nodes for type %s", ErrConfig, t.Name)
		}
		slots := slices.Clone(c.Nodes[t.Name])
		slices.Reverse(slots)
		f.free[t.Name] = slots
		for _, n := range slots {
			f.types[n] = t
		}
	}
	if f.most > c.MachineCores {
		return nil, fmt.Errorf("%w: a type has %d cores, the machines have %d", ErrConfig, f.most, c.MachineCores)
	}
	return f, nil
}

// streamFleet is the stream of the seed's random numbers.
const streamFleet = 0x666c656574

// Types can be rented.
func (f *Fleet) Types() provision.Catalogue { return f.config.Types }

// TypeOf a node; false where it is not one of the provider's.
func (f *Fleet) TypeOf(n board.Index) (provision.Type, bool) {
	t, ok := f.types[n]
	return t, ok
}

// Rent a node of a type; false where the provider has no more.
func (f *Fleet) Rent(now Instant, name string) (board.Index, bool) {
	slots := f.free[name]
	if len(slots) == 0 {
		return 0, false
	}
	n := slots[len(slots)-1]
	f.free[name] = slots[:len(slots)-1]
	t := f.types[n]
	at := &node{
		at: len(f.history), ready: now + f.config.SpinUp.draw(t.Cores, f.least, f.most, f.random), weights: drawWeights(f.config.Columns, f.random),
		load: f.config.Outside.begin(f.random), shared: 1 - float64(t.Cores)/float64(f.config.MachineCores),
	}
	f.nodes[n] = at
	f.order = append(f.order, n)
	f.history = append(f.history, Rented{Node: n, Type: name, Cores: t.Cores, Asked: now, Ready: at.ready, Returned: Never, PricePerHour: t.PricePerHour})
	if at.shared > 0 {
		at.press(f.config.Configurations)
		if f.nextStep == Never {
			f.nextStep = now + f.config.Outside.Step
		}
	}
	return n, true
}

// press makes what others do an allocation without cores of its own.
func (n *node) press(configurations int) {
	pressure := make([]float64, len(n.weights))
	for k, w := range n.weights {
		pressure[k] = 100 * n.shared * w
	}
	alone := slices.Repeat([]float64{1}, configurations)
	n.outside[0] = truth.Placed{
		Application: &truth.Application{Name: "other customers", Class: "outside", Cores: 1, Isolated: alone, Phases: []truth.Phase{{
			Share: 1, Pressure: pressure, Response: make([]truth.Curve, len(pressure)),
		}}},
		Cores: 1, Load: n.load,
	}
}

// Return a node. The next customer of its place gets another machine.
func (f *Fleet) Return(now Instant, n board.Index) {
	at, ok := f.nodes[n]
	if !ok {
		return
	}
	f.history[at.at].Returned = now
	delete(f.nodes, n)
	f.order = slices.DeleteFunc(f.order, func(i board.Index) bool { return i == n })
	name := f.types[n].Name
	f.free[name] = append(f.free[name], n)
}

// SpinUpOf a node that is rented: what it takes, or took, to start.
func (f *Fleet) SpinUpOf(n board.Index) time.Duration {
	at := f.nodes[n]
	return at.ready - f.history[at.at].Asked
}

// Ready reports whether a node is rented and has started.
func (f *Fleet) Ready(n board.Index) bool {
	at, ok := f.nodes[n]
	return ok && at.is
}

// Next is when something happens by itself.
func (f *Fleet) Next() (Instant, bool) {
	next, ok := f.nextStep, f.nextStep != Never
	for _, n := range f.order {
		if at := f.nodes[n]; !at.is && (!ok || at.ready < next) {
			next, ok = at.ready, true
		}
	}
	return next, ok
}

// Advance returns what happened until a moment.
func (f *Fleet) Advance(now Instant) []Event {
	var out []Event
	for _, n := range f.order {
		if at := f.nodes[n]; !at.is && at.ready <= now {
			at.is = true
			out = append(out, Event{Node: n, Ready: true})
		}
	}
	for f.nextStep != Never && f.nextStep <= now {
		f.nextStep += f.config.Outside.Step
		shared := false
		for _, n := range f.order {
			if at := f.nodes[n]; at.shared > 0 {
				at.load = f.config.Outside.next(at.load, f.random)
				at.outside[0].Load = at.load
				out = append(out, Event{Node: n})
				shared = true
			}
		}
		if !shared {
			f.nextStep = Never
		}
	}
	slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// Outside is what others run on the machine of a node.
func (f *Fleet) Outside(n board.Index) []truth.Placed {
	at, ok := f.nodes[n]
	if !ok || at.shared <= 0 {
		return nil
	}
	return at.outside[:]
}

// Pressure is what a probe on an idle node sees of others, percent by resource.
func (f *Fleet) Pressure(n board.Index) []float64 {
	out := make([]float64, f.config.Columns)
	at, ok := f.nodes[n]
	if !ok {
		return out
	}
	for k, w := range at.weights {
		out[k] = min(100, 100*at.shared*w*at.load)
	}
	return out
}

// History is every node that was rented, by when it was asked for.
func (f *Fleet) History() []Rented { return f.history }

// Cores that are rented and billed on average until a moment, and how many nodes were.
func (f *Fleet) Cores(end Instant) (mean float64, nodes int) {
	if end <= 0 {
		return 0, 0
	}
	for _, r := range f.history {
		until := r.Returned
		if until == Never || until > end {
			until = end
		}
		if until > r.Ready {
			mean += float64(r.Cores) * (until - r.Ready).Seconds() / end.Seconds()
		}
		nodes++
	}
	return mean, nodes
}
