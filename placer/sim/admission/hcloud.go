package admission

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var hcloudDescriptor = Descriptor{
	Name:       "hcloud",
	Summary:    "each goes to owned nodes, to a rented one, or waits for the owned ones, by what it tolerates and how good rented ones were",
	Paper:      "Delimitrou 2015, §8.4",
	Parameters: hcloudParameters.list,
	New:        newHCloud,
}

var hcloudParameters = parameterList{controller: "hcloud", list: []Parameter{
	{Name: "strategy", Default: string(provision.StaticReserved), Summary: "which nodes there are", Choices: provision.StrategyNames()},
	{Name: "mapping", Default: "P8", Summary: "which jobs the owned nodes get", Choices: provision.MappingNames()},
	{Name: "quality", Default: string(provision.Scalar), Summary: "how a job is held against a type", Choices: []string{string(provision.Scalar), string(provision.Vector)}},
	{Name: "percentile", Default: string(provision.ReachedByMost), Summary: "how the 90th percentile is read", Choices: []string{string(provision.ReachedByMost), string(provision.ReachedByFew)}},
	{Name: "soft", Default: "0.625", Summary: "the soft limit at first"},
	{Name: "hard", Default: "0.85", Summary: "the hard limit"},
	{Name: "retention", Default: "10", Summary: "times its spin-up that an idle node is kept"},
	{Name: "sharing", Default: sharedByRoom, Summary: "who gets a whole rented machine that others have: room decides, and tolerance only which one; or tolerance decides", Choices: []string{sharedByRoom, sharedIfTolerated}},
	{Name: "known", Default: "yes", Summary: "whether a job's demands are known", Choices: []string{"yes", "no"}},
}}

// How whole rented machines are shared.
const (
	sharedByRoom      = "room"
	sharedIfTolerated = "tolerated"
)

// Rental is where nodes are rented. Those that are not rented are not ready on the board.
type Rental interface {
	Types() provision.Catalogue
	TypeOf(n board.Index) (provision.Type, bool)
	Rent(now Instant, typ string) (board.Index, bool)
	Return(now Instant, n board.Index)
	// Pressure is what a probe sees of others on the machine of a node, percent by resource.
	Pressure(n board.Index) []float64
}

// ErrNoRental: the controller needs nodes that can be rented.
var ErrNoRental = errors.New("there is nothing to rent")

// hcloudEvery is how often rented nodes are looked at, and the soft limit is adjusted: the step of
// provision.DefaultLimits.
const hcloudEvery = 10 * time.Second

// hcloud sorts jobs by provision.Provisioner. A job of several allocations goes to one side with
// all of them.
type hcloud struct {
	book
	board  *board.Board
	rental Rental // nil: nothing can be rented
	base   *ownedNodes
	desk   *provision.Provisioner[board.Index]
	random *rand.Rand
	blind  bool // nothing is known of what jobs demand
	whole  int  // cores of the rented machines that are shared by room; 0: none are
	now    Instant

	fresh   []*waiting // not decided on yet, in order of arrival
	queues  map[string][]*waiting
	denied  []*waiting                 // whom the provider had no node for
	freed   bool                       // a rented node has room again since the denied were last tried
	coming  map[board.Index][]*waiting // for nodes that are not there yet
	ready   []*waiting                 // whose node is there
	homes   map[board.Handle]home      // of allocations on rented nodes
	onBase  int                        // allocations
	nextDue Instant
	report  SideReport
}

// hcloudState is what the controller knows of an item.
type hcloudState struct {
	digits    provision.Digits
	class     string // of the queue that it waits in, or would
	queued    bool   // it had to wait for the base
	since     Instant
	estimated time.Duration // of that wait; negative: not known
	node      board.Index
	rented    bool // node is its place
}

type home struct {
	node   board.Index
	digits provision.Digits
}

func newHCloud(b *board.Board, o Options, random *rand.Rand) (Controller, error) {
	s, err := hcloudParameters.read(o)
	if err != nil {
		return nil, err
	}
	settings := provision.DefaultSettings()
	settings.Strategy = provision.Strategy(s.values["strategy"])
	settings.Mode, settings.Reading = provision.Mode(s.values["quality"]), provision.Reading(s.values["percentile"])
	settings.Limits.Soft, settings.Limits.Hard = s.number("soft", 0), s.number("hard", 0)
	settings.Retention = s.number("retention", 0)
	if settings.Limits.Soft >= settings.Limits.Hard {
		s.fail("soft", "a share below hard")
	}
	if s.err != nil {
		return nil, s.err
	}
	if settings.Mapping, err = provision.LookupMapping(s.values["mapping"]); err != nil {
		return nil, err
	}
	c := &hcloud{
		book: newBook(), board: b, random: random, blind: s.is("known", "no"), queues: map[string][]*waiting{},
		coming: map[board.Index][]*waiting{}, homes: map[board.Handle]home{}, nextDue: hcloudEvery,
	}
	var types provision.Catalogue
	if o.Rental != nil {
		types = o.Rental.Types()
	}
	if settings.Strategy.Rents() {
		if o.Rental == nil {
			return nil, ErrNoRental
		}
		c.rental = o.Rental
		if largest, err := types.Largest(); err == nil && s.is("sharing", sharedByRoom) {
			c.whole = largest.Cores
		}
	}
	c.base = newOwnedNodes(b, o.Rental)
	c.desk, err = provision.New[board.Index](settings, types, when(0))
	return c, err
}

// when is an instant as the desk counts it.
func when(at Instant) time.Time { return time.Unix(0, 0).UTC().Add(at) }

// Arrive implements Controller, as do the following methods.
func (c *hcloud) Arrive(now Instant, it Item) {
	c.now = now
	c.Withdraw(it.Ask.Handle)
	w := c.enter(it)
	if !c.blind {
		w.side.digits = provision.DemandsOf(it.Ask.Tolerated)
	}
	c.fresh = append(c.fresh, w)
}

func (c *hcloud) Next(now Instant) (Attempt, bool) {
	c.now = now
	c.tick(now)
	for {
		if len(c.ready) > 0 {
			w := c.ready[0]
			c.ready = c.ready[1:]
			return c.offerRented(w), true
		}
		if w := c.nextOfQueues(); w != nil {
			return c.offerBase(w), true
		}
		if len(c.fresh) == 0 {
			return Attempt{}, false
		}
		w := c.fresh[0]
		c.fresh = c.fresh[1:]
		if c.settle(now, w) {
			return c.offerBase(w), true
		}
	}
}

func (c *hcloud) offerRented(w *waiting) Attempt {
	w.flying = true
	own := w.side.node
	return Attempt{Item: w.item, Within: func(n board.Index) bool { return n == own }, Only: []board.Index{own}, Forced: true}
}

// offerBase lets the selector look for the most suitable of the owned nodes; what it finds is
// taken, for the job was mapped to them.
func (c *hcloud) offerBase(w *waiting) Attempt {
	w.flying, w.seen = true, c.base.gains
	return Attempt{Item: w.item, Within: c.base.owns, Only: c.base.nodes, Forced: true}
}

// settle decides on an item, and reports whether the base is to take it now.
func (c *hcloud) settle(now Instant, w *waiting) bool {
	a := provision.Arrival{Digits: w.side.digits, Size: sizeOf(wholeOf(w.item.Ask)), Fits: c.base.fits(w.item.Ask), Used: c.base.used()}
	w.side.class = c.desk.Class(a)
	a.Position = len(c.queues[w.side.class])
	d := c.desk.Decide(when(now), a, c.random)
	switch d.Side {
	case provision.ToBase:
		return true
	case provision.ToRent:
		if !c.rent(now, w, d.Type) {
			c.report.Denied++
			c.denied = append(c.denied, w)
		}
	default:
		c.enqueue(now, w, a.Position)
	}
	return false
}

// enqueue lets an item wait for the base behind others of its class.
func (c *hcloud) enqueue(now Instant, w *waiting, position int) {
	w.side.queued, w.side.since, w.side.estimated = true, now, -1
	if estimate, known := c.desk.Wait(when(now), w.side.class, position); known {
		w.side.estimated = estimate
	}
	w.seen = c.base.gains
	c.queues[w.side.class] = append(c.queues[w.side.class], w)
	c.report.Queued++
}

// wholeOf is what all allocations of an ask need at least.
func wholeOf(a *board.Request) cluster.Resources {
	one, n := least(a), max(1, a.Count)
	return cluster.Resources{CPUMHz: n * one.CPUMHz, Cores: n * one.Cores, MemoryMB: n * one.MemoryMB, DiskMB: n * one.DiskMB}
}

func sizeOf(r cluster.Resources) provision.Size {
	return provision.Size{Cores: int(math.Ceil(float64(r.Megahertz(mhzPerCore)) / mhzPerCore)), MemoryMB: r.MemoryMB}
}

// mhzPerCore is what CPU shares are counted in in the simulated world.
const mhzPerCore = 1000

// nextOfQueues is the head that has waited longest of those that fit and have not been tried
// since the base last gained room.
func (c *hcloud) nextOfQueues() *waiting {
	var best *waiting
	for class := range c.queues {
		w := c.head(class)
		if w == nil || w.seen == c.base.gains {
			continue
		}
		if !c.base.fits(w.item.Ask) {
			w.seen = c.base.gains
			continue
		}
		if best == nil || bySeniority(w, best) < 0 {
			best = w
		}
	}
	if best != nil {
		c.queues[best.side.class] = slices.DeleteFunc(c.queues[best.side.class], func(w *waiting) bool { return w == best })
	}
	return best
}

// head of the queue of a class; nil where there is none. What no node of the base could run even
// if it had nothing else waits on, and does not hold up others.
func (c *hcloud) head(class string) *waiting {
	queue := c.queues[class]
	i := slices.IndexFunc(queue, func(w *waiting) bool { return c.base.holds(w.item.Ask) })
	if i < 0 {
		return nil
	}
	return queue[i]
}

func (c *hcloud) Placed(now Instant, handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	if w.side.rented {
		c.report.Rented++
		return
	}
	c.report.Base++
	if w.side.queued {
		waited := now - w.side.since
		c.desk.Waited(w.side.class, waited)
		if w.side.estimated >= 0 {
			c.report.Waits = append(c.report.Waits, WaitSample{Class: w.side.class, Estimated: w.side.estimated, Waited: waited})
		}
	}
}

// Refused: the base has no room after all, or a rented node was taken away.
func (c *hcloud) Refused(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil {
		return
	}
	w.flying = false
	if w.side.rented {
		c.desk.Left(when(now), w.side.node, w.side.digits)
		w.side.rented = false
		c.denied = append(c.denied, w)
		return
	}
	if !w.side.queued {
		seen := w.seen
		c.enqueue(now, w, len(c.queues[w.side.class]))
		w.seen = seen
		return
	}
	c.queues[w.side.class] = slices.Insert(c.queues[w.side.class], 0, w)
}

func (c *hcloud) Withdraw(handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	not := func(other *waiting) bool { return other == w }
	c.fresh, c.ready, c.denied = slices.DeleteFunc(c.fresh, not), slices.DeleteFunc(c.ready, not), slices.DeleteFunc(c.denied, not)
	if w.side.rented {
		c.coming[w.side.node] = slices.DeleteFunc(c.coming[w.side.node], not)
		c.desk.Left(when(c.now), w.side.node, w.side.digits)
		return
	}
	c.queues[w.side.class] = slices.DeleteFunc(c.queues[w.side.class], not)
}

func (c *hcloud) Started(now Instant, n board.Index, handle board.Handle) {
	c.now = now
	if c.base.owns(n) {
		c.onBase++
		return
	}
	h := home{node: n}
	if w := c.items[handle]; w != nil {
		h.digits = w.side.digits
	}
	c.homes[handle] = h
}

func (c *hcloud) Ended(now Instant, n board.Index, handle board.Handle) {
	c.now = now
	if c.base.owns(n) {
		c.onBase--
		for class := range c.queues {
			if w := c.head(class); w != nil && c.board.Fits(n, least(w.item.Ask)) {
				c.desk.Freed(when(now), class)
			}
		}
		return
	}
	if h, ok := c.homes[handle]; ok {
		c.freed = true
		c.desk.Left(when(now), n, h.digits)
		delete(c.homes, handle)
	}
}

// Wake is for as long as something runs or is rented: then nodes are looked at, and given back.
// Where nothing does, no time that passes changes an answer.
func (c *hcloud) Wake() (Instant, bool) {
	if c.rental == nil || c.onBase+c.desk.Nodes() == 0 {
		return 0, false
	}
	at := c.nextDue
	if leaves, ok := c.desk.NextLeaves(); ok {
		at = min(at, leaves.Sub(when(0)))
	}
	return at, true
}

func (c *hcloud) Waiting() int { return len(c.items) }

// Report implements Reporter.
func (c *hcloud) Report() Report { return Report{Sides: c.report} }
