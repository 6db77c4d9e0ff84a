package admission

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var arqDescriptor = Descriptor{
	Name:       "arq",
	Summary:    "a queue and a pool of nodes per class of quality; an item leaves its class while another serves its window better",
	Paper:      "Delimitrou 2015, §6",
	Parameters: arqParameters.list,
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		c, err := readARQ(o)
		switch {
		case err != nil:
			return nil, err
		case c.classes == 1:
			// One class knows no quality: nothing is suited better than anything
			// else, and there is nowhere to divert to.
			return newFIFO(b), nil
		default:
			return newARQ(b, c), nil
		}
	},
}

const (
	defaultClasses = 10 // §6.6: both performance and utilisation are good
	mostClasses    = 64 // pools are bits of a word
	// slowdownShare is the time beyond the optimal one that still counts as good
	// (§6.4), for asks that do not say.
	slowdownShare = 0.05
	// ticksPerWindow is how often an item is asked whether it leaves its class
	// (chosen by us).
	ticksPerWindow = 32
	// urgentShare: with a quarter of its window left, an item that shorter or
	// more important ones have overtaken goes to the front (chosen by us).
	urgentShare = 0.25
)

var arqParameters = parameterList{controller: "arq", classes: true, list: []Parameter{
	{Name: "order", Default: "fifo", Choices: []string{"fifo", "sjf"}, Summary: "within a class: by arrival, or the shortest first (§6.7)"},
	{Name: "priorities", Default: "no", Choices: []string{"no", "yes"}, Summary: "high before low within a class and on a freed node (§6.7)"},
	{Name: "quality", Default: "caused", Choices: []string{"caused", "sensitivity", "both"}, Summary: "what an item's class is computed from: caused scores (Eq. 6.1), 100 less the tolerated ones, or per source the higher of both"},
	{Name: "server", Default: "headroom", Choices: []string{"headroom", "tolerated"}, Summary: "what a node still tolerates: less the pressure its residents exert on each other, or their least score (§3.3.4)"},
	{Name: "configurations", Default: "fast", Choices: []string{"fast", "any"}, Summary: "what a pool offers: configurations on which the item keeps its bound in isolation, or any, as printed"},
	{Name: "slack", Default: "runtime", Choices: []string{"runtime", "window"}, Summary: "the factor of the switching rule: 1.05·CT − P as printed, or the window only"},
	{Name: "period", Default: "1s", Summary: "of the scheduler: no window is shorter, and the last chance comes two of them before its end"},
	{Name: "wait", Default: "60s", Summary: "the window where the run time is unknown"},
}}

// arqConfig is the parameters of an ARQ.
type arqConfig struct {
	classes                       int
	sensitivity, both             bool
	literal                       bool // nodes by tolerated scores
	anyConfiguration              bool // a slow one too
	shortest, priorities, windows bool
	period, wait                  time.Duration
}

func readARQ(o Options) (arqConfig, error) {
	s, err := arqParameters.read(o)
	if err != nil {
		return arqConfig{}, err
	}
	c := arqConfig{
		classes:     cmp.Or(o.Classes, defaultClasses),
		sensitivity: s.is("quality", "sensitivity"), both: s.is("quality", "both"),
		literal: s.is("server", "tolerated"), anyConfiguration: s.is("configurations", "any"),
		shortest: s.is("order", "sjf"), priorities: s.is("priorities", "yes"), windows: s.is("slack", "window"),
		period: s.duration("period"), wait: s.duration("wait"),
	}
	return c, cmp.Or(s.err, checkClasses(c.classes))
}

// arq is the controller of the package comment.
type arq struct {
	book
	arqConfig
	board   *board.Board
	watcher *watcher
	pools   *pools
	queues  []classQueue
	turn    []int // classes, in the order of their turns
	timers  timers
	ending  []*waiting // at their last chance, by deadline
	overdue *line      // without room anywhere at their last chance, by deadline
	runtime meanTime   // expected, of what was placed
	report  Report
}

// classQueue is the items of one class.
type classQueue struct {
	sorted
	head *waiting
	todo uint64 // pools in which the head is still to be tried
}

func newARQ(b *board.Board, config arqConfig) *arq {
	c := &arq{
		book: newBook(), arqConfig: config, board: b, watcher: newWatcher(b), pools: newPools(b, config),
		queues: make([]classQueue, config.classes), overdue: newLine(b, byDeadline),
		report: Report{Classes: make([]ClassReport, config.classes)},
	}
	for l := range c.queues {
		c.queues[l].order = c.order
		c.turn = append(c.turn, len(c.queues)-1-l)
	}
	return c
}

// order is that of a class: §6.7, with the guard of the window first.
func (c *arq) order(a, b *waiting) int {
	x, y := &a.quality, &b.quality
	switch {
	case c.overtakes() && x.urgent != y.urgent:
		return -compareBool(x.urgent, y.urgent)
	case c.priorities && x.priority != y.priority:
		return cmp.Compare(y.priority, x.priority)
	case c.shortest && x.length != y.length:
		return cmp.Compare(x.length, y.length)
	}
	return bySeniority(a, b)
}

// overtakes reports whether an item may be passed by others of its class.
func (c *arq) overtakes() bool { return c.shortest || c.priorities }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func byDeadline(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.quality.deadline, b.quality.deadline), bySeniority(a, b))
}

// Arrive implements Controller.
func (c *arq) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	w := c.enter(it)
	c.flush(now)
	if c.pools.room(least(it.Ask)) {
		for n := range c.board.Len() {
			c.watcher.NodeChanged(board.Index(n))
		}
	}
	w.quality = c.qualityOf(it)
	c.report.Classes[w.quality.class].Arrived++
	switch {
	case !c.pools.possible(least(it.Ask)): // it would only be in the way of its class
		w.quality.stage = stageOverdue
		c.overdue.add(w)
		return
	case now >= w.quality.last:
		c.end(w)
		return
	}
	c.queues[w.quality.class].add(w)
	c.timers.set(w, c.tick(now, w))
}

// Next implements Controller: last chances first, then what waits past its
// window for any room, then the classes from the most demanding.
func (c *arq) Next(now Instant) (Attempt, bool) {
	c.flush(now)
	c.expire(now)
	for _, w := range c.ending {
		if !w.flying {
			return c.lastChance(w), true
		}
	}
	if w := c.overdue.next(); w != nil {
		w.flying = true
		return Attempt{Item: w.item, Forced: true}, true
	}
	for _, l := range c.turns() {
		if a, ok := c.try(l); ok {
			return a, true
		}
	}
	return Attempt{}, false
}

// turns is the order of the classes: the most demanding first, but for heads of
// higher priority.
func (c *arq) turns() []int {
	if c.priorities {
		slices.SortFunc(c.turn, func(a, b int) int {
			x, y := c.queues[a].items, c.queues[b].items
			if len(x) == 0 || len(y) == 0 {
				return cmp.Or(-compareBool(len(x) > 0, len(y) > 0), b-a)
			}
			return cmp.Or(compareUrgency(x[0], y[0]), b-a)
		})
	}
	return c.turn
}

// compareUrgency puts the guard of the window before priority.
func compareUrgency(a, b *waiting) int {
	return cmp.Or(-compareBool(a.quality.urgent, b.quality.urgent), cmp.Compare(b.quality.priority, a.quality.priority))
}

// flush moves changed nodes to their pools, and opens these to the heads of
// queues that the node would suit.
func (c *arq) flush(now Instant) {
	c.watcher.each(func(n board.Index, gained bool) {
		c.pools.update(now, n)
		if gained {
			c.overdue.gained(n)
		}
		pool := c.pools.level(n)
		for l := 0; l <= pool; l++ {
			q := &c.queues[l]
			if q.head != nil && q.todo&(1<<pool) == 0 && mayRun(c.board, n, q.head.item.Ask) && c.suits(q.head, n) {
				q.todo |= 1 << pool
			}
		}
	})
}

// try offers the head of a queue the nearest pool it has not been tried in: its
// own, or one above as far as the queues there are empty (§6.3, read as
// transitive).
func (c *arq) try(l int) (Attempt, bool) {
	q := &c.queues[l]
	if len(q.items) == 0 {
		q.head = nil
		return Attempt{}, false
	}
	h := q.items[0]
	if q.head != h {
		q.head, q.todo = h, ^uint64(0)
	}
	if h.flying {
		return Attempt{}, false
	}
	open := q.todo & c.pools.nonempty & between(l, c.highest(l, h))
	if open == 0 {
		return Attempt{}, false
	}
	pool := bits.TrailingZeros64(open)
	q.todo &^= 1 << pool
	h.quality.pool = pool
	return c.offer(h, pool), true
}

// between has the bits low to high.
func between(low, high int) uint64 { return (^uint64(0) >> (63 - high)) &^ (1<<low - 1) }

// highest is the highest pool that a head may take from.
func (c *arq) highest(l int, h *waiting) int {
	for l+1 < c.classes {
		above := &c.queues[l+1]
		if len(above.items) > 0 && !(c.priorities && c.outranks(h, above.items[0])) {
			break
		}
		l++
	}
	return l
}

// outranks: a freed node goes to the more important of two heads.
func (c *arq) outranks(h, other *waiting) bool {
	return !other.quality.urgent && h.quality.priority > other.quality.priority
}

// offer lets an item be tried in one pool, where no bound is broken.
func (c *arq) offer(w *waiting, pool int) Attempt {
	w.flying = true
	return Attempt{Item: w.item, Within: func(n board.Index) bool {
		return c.pools.level(n) == pool && c.suits(w, n)
	}}
}

// suits: the item keeps its bound there, in isolation and next to the residents, and they
// keep theirs.
func (c *arq) suits(w *waiting, n board.Index) bool {
	ask := w.item.Ask
	at := c.board.Node(n).Configuration
	if at < len(ask.Speed) && ask.Speed[at] < w.quality.speed {
		return false
	}
	return c.noViolation(ask, n)
}

// harmless: residents tolerate the newcomer, and it tolerates them, on every source
// (D1, D2 ≥ 0; §3.4.1).
func (c *arq) noViolation(a *board.Request, n board.Index) bool {
	remaining, caused := c.pools.remaining(n), c.board.Caused(n)
	for k, v := range a.Caused {
		if remaining[k]-v < -epsilonPoints {
			return false
		}
	}
	for k, v := range a.Tolerated {
		if v-caused[k] < -epsilonPoints {
			return false
		}
	}
	return true
}

// epsilonPoints: sums of scores are floats.
const epsilonPoints = 1e-9

// Placed implements Controller.
func (c *arq) Placed(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil {
		return
	}
	c.runtime.add(w.item.Ask.Expected)
	c.report.placed(now, w)
	c.Withdraw(handle)
}

// Refused implements Controller.
func (c *arq) Refused(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil || !w.flying {
		return
	}
	w.flying = false
	switch w.quality.stage {
	case stageOverdue:
		c.flush(now)
		c.overdue.refused(w)
	case stageEnding:
		if w.quality.forced {
			c.leaveEnding(w)
			w.quality.stage = stageOverdue
			c.flush(now)
			c.overdue.addTried(w)
		}
	default:
		if w.slot == noSlot { // its time came while it was tried
			c.reconsider(now, w)
		}
	}
}

// Withdraw implements Controller, as do the following methods.
func (c *arq) Withdraw(handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	c.timers.stop(w)
	switch w.quality.stage {
	case stageQueued:
		c.unqueue(w)
	case stageEnding:
		c.leaveEnding(w)
	case stageOverdue:
		c.overdue.remove(w)
	}
}

// unqueue takes an item out of its class.
func (c *arq) unqueue(w *waiting) {
	q := &c.queues[w.quality.class]
	q.remove(w)
	if q.head == w {
		q.head = nil
	}
}

func (c *arq) Started(now Instant, _ board.Index, _ board.Handle) { c.flush(now) }
func (c *arq) Ended(now Instant, _ board.Index, _ board.Handle)   { c.flush(now) }
func (c *arq) Waiting() int                                       { return len(c.items) }

func (c *arq) Wake() (Instant, bool) {
	w := c.timers.next()
	if w == nil {
		return 0, false
	}
	return w.due, true
}
