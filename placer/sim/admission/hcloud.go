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
	{Name: "strategy", Default: string(provision.HybridMixed), Summary: "which nodes there are", Choices: strategyNames()},
	{Name: "mapping", Default: "P8", Summary: "which jobs the owned nodes get", Choices: mappingNames()},
	{Name: "quality", Default: string(provision.Scalar), Summary: "how a job is held against a type", Choices: []string{string(provision.Scalar), string(provision.Vector)}},
	{Name: "percentile", Default: string(provision.ReachedByMost), Summary: "how the 90th percentile is read", Choices: []string{string(provision.ReachedByMost), string(provision.ReachedByFew)}},
	{Name: "soft", Default: "0.625", Summary: "the soft limit at first"},
	{Name: "hard", Default: "0.85", Summary: "the hard limit"},
	{Name: "retention", Default: "10", Summary: "times its spin-up that an idle node is kept"},
	{Name: "known", Default: "yes", Summary: "whether a job's demands are known", Choices: []string{"yes", "no"}},
}}

func strategyNames() []string {
	var out []string
	for _, s := range provision.Strategies() {
		out = append(out, string(s))
	}
	return out
}

func mappingNames() []string {
	var out []string
	for _, m := range provision.Mappings() {
		out = append(out, m.Name)
	}
	return out
}

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
var ErrNoRental = errors.New("admission hcloud: there is nothing to rent")

// hcloudEvery is how often rented nodes are looked at, and the soft limit is adjusted.
const hcloudEvery = 10 * time.Second

// hcloud sorts jobs by provision.Provisioner.
type hcloud struct {
	book
	board  *board.Board
	rental Rental
	base   []board.Index
	owned  []bool // by node
	total  cluster.Resources
	desk   *provision.Provisioner[board.Index]
	random *rand.Rand
	blind  bool // nothing is known of what jobs demand

	fresh   []*waiting // not decided on yet, in order of arrival
	queues  map[string][]*waiting
	coming  map[board.Index][]*waiting // for nodes that are not there yet
	ready   []*waiting                 // whose node is there
	homes   map[board.Handle]home      // of allocations on rented nodes
	gained  bool                       // the base has more room than when it was last tried
	nextDue Instant
	counts  SideCounts
}

// hcloudState is what the controller knows of an item.
type hcloudState struct {
	digits provision.Digits
	class  string // of the queue that it waits in
	since  Instant
	node   board.Index
	rented bool // node is its place
}

type home struct {
	node   board.Index
	digits provision.Digits
}

// SideCounts are how many jobs went where.
type SideCounts struct{ Base, Rented, Waited, AtOnce, Given int }

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
	if s.err != nil {
		return nil, s.err
	}
	if settings.Mapping, err = provision.LookupMapping(s.values["mapping"]); err != nil {
		return nil, err
	}
	c := &hcloud{
		book: newBook(), board: b, rental: o.Rental, random: random, blind: s.is("known", "no"), owned: make([]bool, b.Len()),
		queues: map[string][]*waiting{}, coming: map[board.Index][]*waiting{}, homes: map[board.Handle]home{}, nextDue: hcloudEvery,
	}
	var types provision.Catalogue
	if c.rental != nil {
		types = c.rental.Types()
	} else if settings.Strategy.Rents() {
		return nil, ErrNoRental
	}
	for n := range b.Len() {
		if c.rental != nil {
			if _, rented := c.rental.TypeOf(board.Index(n)); rented {
				continue
			}
		}
		c.owned[n] = true
		c.base = append(c.base, board.Index(n))
		c.total = c.total.Add(b.Node(board.Index(n)).Total)
	}
	c.desk, err = provision.New[board.Index](settings, types, when(0))
	return c, err
}

// when is an instant as the desk counts it.
func when(at Instant) time.Time { return time.Unix(0, 0).UTC().Add(at) }

// Arrive implements Controller, as do the following methods.
func (c *hcloud) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	w := c.enter(it)
	w.side = hcloudState{since: now}
	if !c.blind {
		w.side.digits = demandsOf(it.Ask)
	}
	c.fresh = append(c.fresh, w)
}

// demandsOf a job is what it does not tolerate, of each resource.
func demandsOf(a *board.Request) provision.Digits {
	demands := make([]float64, len(a.Tolerated))
	for k, t := range a.Tolerated {
		demands[k] = fullPercent - t
	}
	return provision.DigitsOf(demands)
}

const fullPercent = 100

func (c *hcloud) Next(now Instant) (Attempt, bool) {
	c.tick(now)
	if len(c.ready) > 0 {
		w := c.ready[0]
		c.ready = c.ready[1:]
		return c.offer(w, []board.Index{w.side.node}), true
	}
	if w := c.nextOfQueues(); w != nil {
		return c.offer(w, c.base), true
	}
	for len(c.fresh) > 0 {
		w := c.fresh[0]
		c.fresh = c.fresh[1:]
		if c.settle(now, w) {
			return c.offer(w, c.base), true
		}
		if len(c.ready) > 0 {
			return c.Next(now)
		}
	}
	return Attempt{}, false
}

func (c *hcloud) offer(w *waiting, only []board.Index) Attempt {
	w.flying = true
	return Attempt{Item: w.item, Within: func(n board.Index) bool { return slices.Contains(only, n) }, Only: only, Forced: true}
}

// settle decides on an item, and reports whether the base is to take it now.
func (c *hcloud) settle(now Instant, w *waiting) bool {
	need := least(w.item.Ask)
	a := provision.Arrival{
		Digits: w.side.digits, Size: sizeOf(need), Fits: c.fits(need), Used: c.used(),
	}
	class := c.desk.Class(a)
	a.Position = len(c.queues[class])
	d := c.desk.Decide(when(now), a, c.random)
	switch d.Side {
	case provision.ToBase:
		return true
	case provision.ToRent:
		if c.rent(now, w, d.Type) {
			return false
		}
	}
	w.side.class = class
	c.queues[class] = append(c.queues[class], w)
	c.counts.Waited++
	return false
}

func sizeOf(r cluster.Resources) provision.Size {
	return provision.Size{Cores: int(math.Ceil(float64(r.Cores) + float64(r.CPUMHz)/mhzPerCore)), MemoryMB: r.MemoryMB}
}

// mhzPerCore is what CPU shares are counted in in the simulated world.
const mhzPerCore = 1000

// rent gives an item a rented node; false where the provider has none.
func (c *hcloud) rent(now Instant, w *waiting, typ string) bool {
	need := least(w.item.Ask)
	n, ok := c.desk.Reuse(typ, w.side.digits, func(n board.Index) bool { return c.room(n, need) })
	if !ok {
		if n, ok = c.rental.Rent(now, typ); !ok {
			return false
		}
		c.desk.Asked(when(now), n, typ)
	}
	w.side.node, w.side.rented = n, true
	c.desk.Began(n, w.side.digits)
	if c.board.Ready(n) {
		c.ready = append(c.ready, w)
	} else {
		c.coming[n] = append(c.coming[n], w)
	}
	return true
}

// room on a rented node, less what is promised there.
func (c *hcloud) room(n board.Index, need cluster.Resources) bool {
	for _, w := range c.coming[n] {
		need = need.Add(least(w.item.Ask))
	}
	for _, w := range c.ready {
		if w.side.node == n {
			need = need.Add(least(w.item.Ask))
		}
	}
	if c.board.Ready(n) {
		return c.board.Fits(n, need)
	}
	return c.board.Node(n).HasRoom(cluster.Resources{}, need)
}

func (c *hcloud) fits(need cluster.Resources) bool {
	return slices.ContainsFunc(c.base, func(n board.Index) bool { return c.board.Fits(n, need) })
}

// used is the share of the base that is given to jobs, the larger of CPU and memory.
func (c *hcloud) used() float64 {
	var sum cluster.Resources
	for _, n := range c.base {
		sum = sum.Add(c.board.Used(n))
	}
	return max(share(sum.CPUMHz, c.total.CPUMHz), share(sum.MemoryMB, c.total.MemoryMB))
}

func share(of, total int) float64 {
	if total <= 0 {
		return 1
	}
	return float64(of) / float64(total)
}

// nextOfQueues is the head that has waited longest of those that fit.
func (c *hcloud) nextOfQueues() *waiting {
	if !c.gained {
		return nil
	}
	var best *waiting
	for _, queue := range c.queues {
		if len(queue) == 0 || !c.fits(least(queue[0].item.Ask)) {
			continue
		}
		if w := queue[0]; best == nil || bySeniority(w, best) < 0 {
			best = w
		}
	}
	if best == nil {
		c.gained = false
		return nil
	}
	c.queues[best.side.class] = c.queues[best.side.class][1:]
	return best
}

func (c *hcloud) Placed(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil {
		return
	}
	switch {
	case w.side.rented:
		c.counts.Rented++
	case w.side.class != "":
		c.desk.Waited(w.side.class, now-w.side.since)
		c.counts.Base++
	default:
		c.counts.Base++
	}
	c.leave(handle)
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
		c.fresh = append(c.fresh, w)
		return
	}
	c.gained = false
	c.queues[w.side.class] = slices.Insert(c.queues[w.side.class], 0, w)
}

func (c *hcloud) Withdraw(handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	not := func(other *waiting) bool { return other == w }
	c.fresh, c.ready = slices.DeleteFunc(c.fresh, not), slices.DeleteFunc(c.ready, not)
	if w.side.rented {
		c.coming[w.side.node] = slices.DeleteFunc(c.coming[w.side.node], not)
		c.desk.Left(when(c.nextDue), w.side.node, w.side.digits)
		return
	}
	c.queues[w.side.class] = slices.DeleteFunc(c.queues[w.side.class], not)
}

func (c *hcloud) Started(_ Instant, n board.Index, handle board.Handle) {
	if c.owned[n] {
		return
	}
	h := home{node: n}
	if w := c.items[handle]; w != nil {
		h.digits = w.side.digits
	}
	c.homes[handle] = h
}

func (c *hcloud) Ended(now Instant, n board.Index, handle board.Handle) {
	if c.owned[n] {
		c.gained = true
		for class, queue := range c.queues {
			if len(queue) > 0 && c.board.Fits(n, least(queue[0].item.Ask)) {
				c.desk.Freed(when(now), class)
			}
		}
		return
	}
	if h, ok := c.homes[handle]; ok {
		c.desk.Left(when(now), n, h.digits)
		delete(c.homes, handle)
	}
}

// tick takes what came, looks at rented nodes, adjusts the soft limit, and gives nodes back.
func (c *hcloud) tick(now Instant) {
	c.come(now)
	if now >= c.nextDue {
		c.nextDue = now - now%hcloudEvery + hcloudEvery
		c.look(now)
		waiting := 0
		for _, queue := range c.queues {
			waiting += len(queue)
		}
		c.desk.Queue(when(now), waiting)
	}
	for _, n := range c.desk.Leaving(when(now)) {
		c.desk.Went(n)
		c.rental.Return(now, n)
		c.counts.Given++
	}
}

func (c *hcloud) come(now Instant) {
	for n, list := range c.coming {
		if !c.board.Ready(n) {
			continue
		}
		c.desk.Came(when(now), n)
		c.desk.Looked(when(now), n, provision.DigitsOf(c.rental.Pressure(n)))
		c.ready = append(c.ready, list...)
		delete(c.coming, n)
	}
	slices.SortStableFunc(c.ready, bySeniority)
}

// look at every rented node that is there.
func (c *hcloud) look(now Instant) {
	if c.rental == nil {
		return
	}
	for n := range c.board.Len() {
		if i := board.Index(n); !c.owned[n] && c.board.Ready(i) {
			c.desk.Looked(when(now), i, provision.DigitsOf(c.rental.Pressure(i)))
		}
	}
}

func (c *hcloud) Wake() (Instant, bool) {
	at := c.nextDue
	if leaves, ok := c.desk.NextLeaves(); ok {
		at = min(at, leaves.Sub(when(0)))
	}
	return at, true
}

func (c *hcloud) Waiting() int { return len(c.items) }
