package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
	SpinUp       SpinUp
	Outside      Outside
	// Others are programs of other customers, each with one core; none: nobody else is there.
	Others []*truth.Application
	Seed   uint64
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
	types       []*provision.Type        // by node; nil: it is owned
	nodes       []*node                  // by node; nil: it is not rented
	order       []board.Index            // rented, by when they were asked for
	history     []Rented
	least, most int // cores of the types
	nextStep    Instant
	nextReady   Instant // when the next of those that are on their way comes; Never: none is
}

// node is one that is rented.
type node struct {
	at     int // in history
	ready  Instant
	is     bool           // ready
	load   float64        // share of others' cores that they keep busy
	others []truth.Placed // none on a whole machine
	each   float64        // cores that one of them keeps busy at a load of 1
}

// New is a provider of whom nothing is rented yet.
func New(c Config) (*Fleet, error) {
	if err := c.Types.Check(); err != nil {
		return nil, err
	}
	f := &Fleet{
		config: c, random: rand.New(rand.NewPCG(c.Seed, streamFleet)), free: map[string][]board.Index{},
		least: c.Types[0].Cores, nextStep: Never, nextReady: Never,
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
			f.types = append(f.types, make([]*provision.Type, max(0, int(n)+1-len(f.types)))...)
			f.types[n] = &t
		}
	}
	f.nodes = make([]*node, len(f.types))
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
	if !f.Rents(n) {
		return provision.Type{}, false
	}
	return *f.types[n], true
}

// Rents reports whether a node is one of the provider's.
func (f *Fleet) Rents(n board.Index) bool {
	return int(n) < len(f.types) && f.types[n] != nil
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
	at := &node{at: len(f.history), ready: now + f.config.SpinUp.draw(t.Cores, f.least, f.most, f.random), load: f.config.Outside.begin(f.random)}
	f.share(at, f.config.MachineCores-t.Cores)
	f.nodes[n] = at
	f.order = append(f.order, n)
	f.nextReady = earlier(f.nextReady, at.ready)
	f.history = append(f.history, Rented{Node: n, Type: name, Cores: t.Cores, Asked: now, Ready: at.ready, Returned: Never, PricePerHour: t.PricePerHour})
	if len(at.others) > 0 && f.nextStep == Never {
		f.nextStep = now + f.config.Outside.Step
	}
	return n, true
}

// share puts other customers on so many cores of a node's machine: as many programs of one core as
// are busy on average, which press more and less as the load goes.
func (f *Fleet) share(at *node, cores int) {
	busy := f.config.Outside.Mean * float64(cores)
	programs := int(math.Ceil(busy))
	if programs <= 0 || len(f.config.Others) == 0 {
		return
	}
	at.each = float64(cores) / float64(programs)
	for range programs {
		a := f.config.Others[f.random.IntN(len(f.config.Others))]
		at.others = append(at.others, truth.Placed{Application: a, Cores: 1, Load: at.each * at.load})
	}
}

// Return a node. The next customer of its place gets another machine.
func (f *Fleet) Return(now Instant, n board.Index) {
	at := f.node(n)
	if at == nil {
		return
	}
	f.history[at.at].Returned = now
	f.nodes[n] = nil
	f.order = slices.DeleteFunc(f.order, func(i board.Index) bool { return i == n })
	if !at.is {
		f.awaitNext()
	}
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
	at := f.node(n)
	return at != nil && at.is
}

// node that is rented; nil: it is not.
func (f *Fleet) node(n board.Index) *node {
	if int(n) >= len(f.nodes) {
		return nil
	}
	return f.nodes[n]
}

// earlier of two moments.
func earlier(a, b Instant) Instant {
	if a == Never || b != Never && b < a {
		return b
	}
	return a
}

// awaitNext finds when the next of the nodes that are on their way comes.
func (f *Fleet) awaitNext() {
	f.nextReady = Never
	for _, n := range f.order {
		if at := f.nodes[n]; !at.is {
			f.nextReady = earlier(f.nextReady, at.ready)
		}
	}
}

// Next is when something happens by itself.
func (f *Fleet) Next() (Instant, bool) {
	next := earlier(f.nextStep, f.nextReady)
	return next, next != Never
}

// Advance returns what happened until a moment.
func (f *Fleet) Advance(now Instant) []Event {
	var out []Event
	if f.nextReady != Never && f.nextReady <= now {
		for _, n := range f.order {
			if at := f.nodes[n]; !at.is && at.ready <= now {
				at.is = true
				out = append(out, Event{Node: n, Ready: true})
			}
		}
		f.awaitNext()
	}
	for f.nextStep != Never && f.nextStep <= now {
		f.nextStep += f.config.Outside.Step
		shared := false
		for _, n := range f.order {
			if at := f.nodes[n]; len(at.others) > 0 {
				at.load = f.config.Outside.next(at.load, f.random)
				for i := range at.others {
					at.others[i].Load = at.each * at.load
				}
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
	if at := f.node(n); at != nil {
		return at.others
	}
	return nil
}

// Pressure is what a probe on an idle node sees of others, percent by resource: one keeps another
// from using a resource for its share of the time.
func (f *Fleet) Pressure(n board.Index) []float64 {
	out := make([]float64, f.config.Columns)
	at := f.node(n)
	if at == nil {
		return out
	}
	for k := range out {
		left := 1.0
		for i := range at.others {
			left *= 1 - min(1, at.others[i].Application.Phases[0].Pressure[k]*at.others[i].Load/100)
		}
		out[k] = 100 * (1 - left)
	}
	return out
}

// History is every node that was rented, by when it was asked for.
func (f *Fleet) History() []Rented { return f.history }
