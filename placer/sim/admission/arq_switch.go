package admission

import (
	"math/bits"
	"slices"
	"time"
)

// expire handles every item whose time has come.
func (c *arq) expire(now Instant) {
	for w := c.timers.next(); w != nil && w.due <= now; w = c.timers.next() {
		c.timers.stop(w)
		if !w.flying {
			c.reconsider(now, w)
		}
	}
}

// reconsider gives an item its last chance, brings it to the front, or asks
// whether it leaves its class.
func (c *arq) reconsider(now Instant, w *waiting) {
	q := &w.quality
	if now >= q.last {
		c.unqueue(w)
		c.end(w)
		return
	}
	if c.overtakes() && !q.urgent && now >= c.urgentAt(w) {
		c.requeue(w, func() { q.urgent = true })
	}
	for q.class > 0 && c.leaves(now, w) {
		c.requeue(w, func() { q.class-- })
		c.report.Classes[q.own].Diverted++
	}
	c.timers.set(w, c.tick(now, w))
}

// requeue changes what an item's place depends on. It keeps its seniority.
func (c *arq) requeue(w *waiting, change func()) {
	c.unqueue(w)
	change()
	c.queues[w.quality.class].add(w)
}

func (c *arq) urgentAt(w *waiting) Instant {
	q := &w.quality
	return q.deadline - time.Duration(urgentShare*float64(q.window))
}

// tick is when an item is to be reconsidered next, after now.
func (c *arq) tick(now Instant, w *waiting) Instant {
	q := &w.quality
	at := min(now+max(1, q.window/ticksPerWindow), q.last)
	if urgent := c.urgentAt(w); c.overtakes() && !q.urgent && urgent > now {
		at = min(at, urgent)
	}
	return at
}

// leaves is the switching rule (Delimitrou 2015, §6.4, Eq. 6.2), asked anew as
// time goes by: with u waited so far, S the slack, Q the quality of a class and
// Pr the chance that it serves the item by then,
//
//	stay = max over s in (u, W] of (S − s)·Q_i·Pr_i[by s]
//	move = max over s in (u, W] of (S − s)·Q_j·Pr_j[by s],  j = i − 1
//
// and the item leaves where move > stay. Where a chance is unknown it stays.
// Where the own class has none at all, j is the first below that has one: a
// cluster without strong nodes has no chances in several classes.
func (c *arq) leaves(now Instant, w *waiting) bool {
	i := w.quality.class
	stay, move := c.staying(now, w, i), c.moving(now, w, i-1)
	rest := (w.quality.deadline - now).Seconds()
	stayEnd, known1 := stay.chance(rest)
	moveEnd, known2 := move.chance(rest)
	for j := i - 2; j >= 0 && stayEnd == 0 && moveEnd == 0; j-- {
		move = c.moving(now, w, j)
		moveEnd, known2 = move.chance(rest)
	}
	if !known1 || !known2 {
		return false
	}
	// Chances grow with time and the rest of the product falls, so the product at
	// the end bounds its maximum from below, and with the first factor of the
	// beginning from above. Mostly that decides.
	atOnce := w.quality.slack - (w.quality.window.Seconds() - rest)
	atEnd := atOnce - rest
	switch {
	case move.quality*moveEnd*atEnd > stay.quality*stayEnd*atOnce:
		return true
	case move.quality*moveEnd*atOnce <= stay.quality*stayEnd*atEnd:
		return false
	}
	return move.best(atOnce, rest) > stay.best(atOnce, rest)
}

// prospect is one side of the rule.
type prospect struct {
	quality   float64
	busy      *busyPeriods
	now       Instant
	needed    int     // nodes that must come free
	prior     float64 // mean run time, seconds
	available bool    // a node is free now
}

// chance is that the class serves the item within so many seconds.
func (p prospect) chance(within float64) (float64, bool) {
	if p.available {
		return 1, true
	}
	return p.busy.chance(p.now, within, p.needed, p.prior)
}

// best is the maximum of the product over a grid of the rest of the window.
func (p prospect) best(atOnce, rest float64) float64 {
	most := 0.0
	for i := 1; i <= ticksPerWindow; i++ {
		within := rest * float64(i) / ticksPerWindow
		chance, _ := p.chance(within)
		most = max(most, (atOnce-within)*p.quality*chance)
	}
	return most
}

// staying is the prospect in a class whose pool had nothing for the head of the
// queue.
func (c *arq) staying(now Instant, w *waiting, class int) prospect {
	q := &c.queues[class]
	position, _ := slices.BinarySearchFunc(q.items, w, q.order)
	return prospect{
		quality: midpoint(class, c.classes), busy: &c.pools.busy[class], now: now,
		needed: position + 1, prior: c.runtime.mean(),
	}
}

// moving is the prospect in another class, keeping seniority.
func (c *arq) moving(now Instant, w *waiting, class int) prospect {
	p := c.staying(now, w, class)
	p.available = len(c.queues[class].items) == 0 && c.pools.members[class] > 0
	return p
}

// end gives an item its last chance.
func (c *arq) end(w *waiting) {
	w.quality.stage, w.quality.todo, w.quality.forced = stageEnding, ^uint64(0), false
	at, _ := slices.BinarySearchFunc(c.ending, w, byDeadline)
	c.ending = slices.Insert(c.ending, at, w)
}

func (c *arq) leaveEnding(w *waiting) {
	at, _ := slices.BinarySearchFunc(c.ending, w, byDeadline)
	c.ending = slices.Delete(c.ending, at, at+1)
}

// lastChance tries every pool, the nearest above first, then the nearest below,
// and at last any room there is.
func (c *arq) lastChance(w *waiting) Attempt {
	q := &w.quality
	open := q.todo & c.pools.nonempty
	if open == 0 {
		w.flying, q.forced, q.pool = true, true, anyPool
		c.report.Classes[q.own].Forced++
		return Attempt{Item: w.item, Forced: true}
	}
	pool := 0
	if above := open &^ (1<<q.class - 1); above != 0 {
		pool = bits.TrailingZeros64(above)
	} else {
		pool = bits.Len64(open) - 1
	}
	q.todo &^= 1 << pool
	q.pool = pool
	return c.offer(w, pool)
}
