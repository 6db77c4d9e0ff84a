package admission

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var tarcilDescriptor = Descriptor{
	Name:       "tarcil",
	Summary:    "wait for suitable units only while they are likely to come free in time; then take any, or bind late",
	Paper:      "Delimitrou 2015, §7.3.4",
	Parameters: tarcilParameters.list,
	New: func(b *board.Board, o Options, random *rand.Rand) (Controller, error) {
		c, err := readTarcil(o)
		if err != nil {
			return nil, err
		}
		return &tarcil{
			book: newBook(), tarcilConfig: c, watcher: newWatcher(b), buckets: newBuckets(b, c.buckets, random),
			queue: sorted{order: byPriority}, late: newLine(b, byPriority), caution: 1,
			report: Report{Classes: make([]ClassReport, 1)},
		}, nil
	},
}

var tarcilParameters = parameterList{controller: "tarcil", list: []Parameter{
	{Name: "close", Default: "1.1", Summary: "an item waits where fewer suitable units are free than this times those it needs"},
	{Name: "sigmas", Default: "2", Summary: "the longest wait is the mean and so many standard deviations"},
	{Name: "history", Default: "2h", Summary: "of frees that the estimate of a wait rests on"},
	{Name: "buckets", Default: "20", Summary: "of contention, over all configurations"},
}}

type tarcilConfig struct {
	close, sigmas float64
	history       time.Duration
	buckets       int
}

func readTarcil(o Options) (tarcilConfig, error) {
	s, err := tarcilParameters.read(o)
	if err != nil {
		return tarcilConfig{}, err
	}
	c := tarcilConfig{
		close: s.number("close", 1), sigmas: s.number("sigmas", 0),
		history: s.duration("history"), buckets: s.whole("buckets", 1, mostBuckets),
	}
	return c, s.err
}

const mostBuckets = 1 << 10

// tarcil is the controller of the package comment.
type tarcil struct {
	book
	tarcilConfig
	watcher *watcher
	buckets *buckets
	queue   sorted // may be tried, or waits for suitable units
	scanned uint64 // version of the buckets at which the queue is looked through
	at      int    // who is before it in the queue was, at that version, and cannot be tried
	late    *line  // past its bound, or beyond what waiting would help
	timers  timers
	caution float64 // factor of the estimate, learnt
	report  Report
}

// bucketState is what Tarcil knows of an item.
type bucketState struct {
	priority int
	demand   demand
	units    int
	suitable []int32 // buckets, of one layout
	layout   uint64
	seen     uint64 // version of the buckets when last tried
	tries    bool   // to be tried now
	waits    bool   // has a bound
	late     bool
	since    Instant
	estimate wait
}

// byPriority is the order in which items take what comes free.
func byPriority(a, b *waiting) int {
	return cmp.Or(cmp.Compare(b.bucket.priority, a.bucket.priority), bySeniority(a, b))
}

// Arrive implements Controller.
func (c *tarcil) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	c.flush(now)
	w := c.enter(it)
	s := &w.bucket
	s.priority, s.demand, s.units = it.Ask.Priority, demandOf(it.Ask.Caused), c.buckets.units(it.Ask)
	c.report.Classes[0].Arrived++
	c.at = min(c.at, c.queue.add(w))
	if free := c.buckets.free(c.suitable(w)); free < c.plenty(s.units) {
		c.hold(now, w, free)
		return
	}
	s.tries = true
}

// plenty is the number of suitable units from which on an item does not wait.
func (c *tarcil) plenty(units int) int {
	return max(units+1, int(math.Ceil(c.close*float64(units))))
}

// suitable is the item's buckets in the present layout.
func (c *tarcil) suitable(w *waiting) []int32 {
	if s := &w.bucket; s.layout != c.buckets.layout {
		s.layout = c.buckets.layout
		s.suitable = c.buckets.suitable(w.item.Ask, s.demand, s.suitable[:0])
	}
	return w.bucket.suitable
}

// hold lets an item of the queue wait while the units it lacks will be free
// before the bound; else it is placed at once wherever there is room.
func (c *tarcil) hold(now Instant, w *waiting, free int) {
	s := &w.bucket
	s.tries = false
	estimate, ok := c.buckets.estimate(c.suitable(w), now, c.lacks(w, free), c.tarcilConfig, c.caution)
	if !ok || estimate.sure >= estimate.bound {
		c.caution = 1 + (c.caution-1)*cautionFade // or it would stay high while no item waits
		c.giveUp(w)
		return
	}
	c.report.Waits.Held++
	s.waits, s.since, s.estimate, s.seen = true, now, estimate, c.buckets.version
	c.timers.set(w, now+max(1, estimate.bound))
}

// lacks is how many units must come free: its own, and those of whoever waits
// for the same buckets in front of it, less those that are free.
func (c *tarcil) lacks(w *waiting, free int) int {
	need := w.bucket.units - free
	for _, other := range c.queue.items {
		if other == w {
			break
		}
		if other.bucket.waits && overlap(c.suitable(other), c.suitable(w)) {
			need += other.bucket.units
		}
	}
	return max(1, need)
}

// overlap of ascending lists.
func overlap(a, b []int32) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// giveUp waits no more for suitable units.
func (c *tarcil) giveUp(w *waiting) {
	c.timers.stop(w)
	c.unqueue(w)
	w.bucket.late = true
	c.late.add(w)
}

// Next implements Controller: what is past its bound first, then the others by
// priority.
func (c *tarcil) Next(now Instant) (Attempt, bool) {
	c.flush(now)
	c.expire(now)
	if w := c.late.next(); w != nil {
		w.flying = true
		return Attempt{Item: w.item, Forced: true, Late: true}, true
	}
	if w := c.suited(); w != nil {
		w.flying = true
		return Attempt{Item: w.item}, true
	}
	return Attempt{}, false
}

func (c *tarcil) flush(now Instant) {
	c.watcher.each(func(n board.Index, gained bool) {
		c.buckets.update(now, n)
		if gained {
			c.late.gained(n)
		}
	})
}

// expire ends waits at their bound.
func (c *tarcil) expire(now Instant) {
	for w := c.timers.next(); w != nil && w.due <= now; w = c.timers.next() {
		c.timers.stop(w)
		if !w.flying {
			c.expired(now, w)
		}
	}
}

func (c *tarcil) expired(now Instant, w *waiting) {
	c.report.Waits.Expired++
	c.learn(now, w)
	c.giveUp(w)
}

// suited is the next item of the queue to try: a new one, or one whose buckets
// have gained units and hold enough.
func (c *tarcil) suited() *waiting {
	if c.scanned != c.buckets.version {
		c.scanned, c.at = c.buckets.version, 0
	}
	for c.at < len(c.queue.items) {
		w := c.queue.items[c.at]
		c.at++
		s := &w.bucket
		if w.flying || !s.tries && !c.servedAgain(w) {
			continue
		}
		s.tries, s.seen = false, c.buckets.version
		return w
	}
	return nil
}

// unqueue takes an item out of the queue.
func (c *tarcil) unqueue(w *waiting) {
	if c.queue.remove(w) < c.at {
		c.at--
	}
}

func (c *tarcil) servedAgain(w *waiting) bool {
	list := c.suitable(w)
	return c.buckets.gainedSince(list, w.bucket.seen) && c.buckets.free(list) >= w.bucket.units
}

// Feedback on the estimate (the paper names a loop, not its gain; chosen by us).
const (
	cautionGain   = 0.1
	cautionFade   = 0.9
	cautionFactor = 4.0 // most it may be raised or lowered by
)

// learn raises the estimate after a wait that took longer, and lowers it slowly
// after the others, so that 1 − sureShare of them are longer.
func (c *tarcil) learn(now Instant, w *waiting) {
	miss := 0.0
	if now-w.bucket.since > w.bucket.estimate.sure {
		miss = 1
	}
	c.caution *= 1 + cautionGain*(miss-(1-sureShare))
	c.caution = min(cautionFactor, max(1/cautionFactor, c.caution))
}

// Placed implements Controller.
func (c *tarcil) Placed(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil {
		return
	}
	s := &w.bucket
	c.report.Classes[0].wait(now - w.item.Ready)
	switch {
	case s.late:
		c.report.Classes[0].Forced++
	case s.waits:
		c.learn(now, w)
		c.report.Waits.add(s.estimate.mean, now-s.since)
	}
	c.Withdraw(handle)
}

// Refused implements Controller.
func (c *tarcil) Refused(now Instant, handle board.Handle) {
	w := c.items[handle]
	if w == nil || !w.flying {
		return
	}
	w.flying = false
	c.flush(now)
	switch s := &w.bucket; {
	case s.late:
		c.late.refused(w)
	case !s.waits:
		c.hold(now, w, c.buckets.free(c.suitable(w)))
	case w.slot == noSlot: // its bound came while it was tried
		c.expired(now, w)
	case c.servedAgain(w):
		c.at = 0
	}
}

// Withdraw implements Controller, as do the following methods.
func (c *tarcil) Withdraw(handle board.Handle) {
	w := c.leave(handle)
	if w == nil {
		return
	}
	c.timers.stop(w)
	if w.bucket.late {
		c.late.remove(w)
	} else {
		c.unqueue(w)
	}
}

func (c *tarcil) Started(now Instant, _ board.Index, _ board.Handle) { c.flush(now) }
func (c *tarcil) Ended(now Instant, _ board.Index, _ board.Handle)   { c.flush(now) }
func (c *tarcil) Waiting() int                                       { return len(c.items) }

func (c *tarcil) Wake() (Instant, bool) {
	w := c.timers.next()
	if w == nil {
		return 0, false
	}
	return w.due, true
}

// Report implements Reporter.
func (c *tarcil) Report() Report {
	out := c.report
	out.Classes = slices.Clone(out.Classes)
	return out
}
