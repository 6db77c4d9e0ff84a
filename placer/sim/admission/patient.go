package admission

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var patientDescriptor = Descriptor{
	Name:       "patient",
	Summary:    "as none; what the policy would not place on any node yet takes what there is after a share of its expected run",
	Parameters: patientParameters.list,
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		s, err := patientParameters.read(o)
		if err != nil {
			return nil, err
		}
		c := &patient{
			none:  none{book: newBook(), watcher: newWatcher(b), line: newLine(b, bySeniority)},
			share: s.number("share", 0), wait: s.duration("wait"), least: s.duration("least"),
		}
		return c, s.err
	},
}

var patientParameters = parameterList{controller: "patient", list: []Parameter{
	{Name: "share", Default: "0.6", Summary: "of its expected run that an item waits for a better node at most"},
	{Name: "wait", Default: "60s", Summary: "likewise, where its run is unknown or a service's"},
	{Name: "least", Default: "500ms", Summary: "an item that may not wait for so long takes what there is at once: to decide on it again costs more"},
}}

// patient lets none wait for another. An item that is due takes what there is from then on;
// best-effort work uses what others leave, and is never due, as are groups whose sizes are chosen.
type patient struct {
	none
	timers timers
	share  float64
	wait   time.Duration
	least  time.Duration
}

// patience is the state of an item of patient.
type patience struct {
	over   bool          // it is due
	forced bool          // and was offered since
	fresh  []board.Index // what has changed since it was last refused
}

// Arrive implements Controller, as do the following methods.
func (c *patient) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	c.none.Arrive(now, it)
	w, wait := c.items[it.Ask.Handle], c.waitOf(it.Ask)
	switch {
	case it.Ask.BestEffort || len(it.Ask.Sizes) > 0: // never due: a sized group would get what little there is
	case wait < c.least:
		w.patience.over = true
	default:
		c.timers.set(w, now+wait)
	}
}

func (c *patient) waitOf(a *board.Request) time.Duration {
	if a.Expected <= 0 {
		return c.wait
	}
	return time.Duration(c.share * float64(a.Expected))
}

func (c *patient) Next(now Instant) (Attempt, bool) {
	for w := c.timers.next(); w != nil && w.due <= now; w = c.timers.next() {
		c.timers.stop(w)
		w.patience.over = true
		if !w.flying {
			w.flying, w.patience.forced = true, true
			return Attempt{Item: w.item, Forced: true}, true
		}
	}
	a, ok := c.none.Next(now)
	if ok {
		w := c.items[a.Item.Ask.Handle]
		a.Forced, w.patience.forced = w.patience.over, w.patience.over
		if !a.Forced && c.line.few && a.Item.Ask.Count == 1 {
			c.again(&a, w)
		}
	}
	return a, ok
}

// again limits an item that was refused before to what has changed since: no other node is worth more
// to it than it was. The list is its own, for the decision may be made anew.
func (c *patient) again(a *Attempt, w *waiting) {
	w.patience.fresh = append(w.patience.fresh[:0], c.line.fresh...)
	a.Only = w.patience.fresh
	a.Within = func(n board.Index) bool { return slices.Contains(a.Only, n) }
}

// Refused may come of an attempt that was made before the item was due.
func (c *patient) Refused(now Instant, handle board.Handle) {
	c.none.Refused(now, handle)
	if w := c.items[handle]; w != nil && w.patience.over && !w.patience.forced {
		c.timers.set(w, now)
	}
}

func (c *patient) Placed(_ Instant, handle board.Handle) { c.Withdraw(handle) }

func (c *patient) Withdraw(handle board.Handle) {
	if w := c.items[handle]; w != nil {
		c.timers.stop(w)
	}
	c.none.Withdraw(handle)
}

func (c *patient) Wake() (Instant, bool) {
	if w := c.timers.next(); w != nil {
		return w.due, true
	}
	return 0, false
}
