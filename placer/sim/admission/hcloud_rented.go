package admission

import (
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// rent gives an item a rented node; false where the provider has none.
func (c *hcloud) rent(now Instant, w *waiting, typ string) bool {
	n, ok := c.reuse(typ, w)
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

// reuse finds a rented node that takes one item more: one on which all tolerate each other, then a
// whole machine that has room, for whole machines are shared as owned ones are (§8.3.3: the least
// amount of resources). A slice is for those who tolerate its others. Of a job of which nothing is
// known, only its size counts.
func (c *hcloud) reuse(typ string, w *waiting) (board.Index, bool) {
	n, ok := c.desk.Reuse(typ, w.side.digits, func(n board.Index) bool {
		promised := c.promised(n)
		return c.hasRoom(n, w, promised) && (c.blind || c.leaveAlone(n, w, promised))
	})
	if ok || c.whole == 0 {
		return n, ok
	}
	return c.desk.Reuse(typ, w.side.digits, func(n board.Index) bool {
		t, _ := c.rental.TypeOf(n)
		return t.Cores == c.whole && c.hasRoom(n, w, c.promised(n))
	})
}

// hasRoom reports whether a rented node has room for one item more, next to what is there and what
// is promised to it.
func (c *hcloud) hasRoom(n board.Index, w *waiting, promised []*waiting) bool {
	a := w.item.Ask
	if a.Allowed != nil && !a.Allowed(n) {
		return false
	}
	need := wholeOf(a)
	for _, other := range promised {
		need = need.Add(wholeOf(other.item.Ask))
	}
	return c.board.Node(n).HasRoom(c.board.Used(n), need)
}

// promised are the items that wait for a node, or are to begin there.
func (c *hcloud) promised(n board.Index) []*waiting {
	out := slices.Clone(c.coming[n])
	for _, w := range c.ready {
		if w.side.node == n {
			out = append(out, w)
		}
	}
	return out
}

// leaveAlone reports whether an item tolerates what others cause on a node, and those that are there tolerate what it adds. It
// compares pressure on a node with what is tolerated there, in the unit of Board.Caused.
// What others press on a node that is not there yet is not known.
func (c *hcloud) leaveAlone(n board.Index, w *waiting, promised []*waiting) bool {
	outside := make([]float64, len(c.board.Columns))
	if c.board.Ready(n) {
		outside = c.rental.Pressure(n)
	}
	pressure, occupied := make([]float64, len(outside)), c.occupied(n, promised)
	for k := range pressure {
		added := outside[k]
		for _, other := range promised {
			added += other.item.Ask.Caused[k]
		}
		pressure[k] = c.board.Caused(n)[k] + added
		headroom := c.board.Headroom(n)[k] - added
		for _, other := range promised {
			headroom = min(headroom, other.item.Ask.Tolerated[k]-(pressure[k]-other.item.Ask.Caused[k]))
		}
		if occupied && w.item.Ask.Caused[k] > headroom {
			return false
		}
	}
	return c.desk.Good(provision.DigitsOf(pressure), w.side.digits)
}

// occupied reports whether anybody could be disturbed.
func (c *hcloud) occupied(n board.Index, promised []*waiting) bool {
	return len(promised) > 0 || len(c.board.Residents(n)) > 0
}

// tick takes what came, looks at rented nodes, adjusts the soft limit, and gives nodes back.
func (c *hcloud) tick(now Instant) {
	c.base.watch()
	if c.rental == nil {
		return
	}
	c.come(now)
	if now >= c.nextDue {
		c.nextDue = now - now%hcloudEvery + hcloudEvery
		c.look(now)
		queued := 0
		for _, queue := range c.queues {
			queued += len(queue)
		}
		c.desk.Queue(when(now), queued)
	}
	for _, n := range c.desk.Leaving(when(now)) {
		c.giveBack(now, n)
	}
	if c.freed && len(c.denied) > 0 {
		c.fresh = append(c.denied, c.fresh...)
		c.denied = nil
	}
	c.freed = false
}

// giveBack a node. It takes nothing more from this moment on, also if it is rented again.
func (c *hcloud) giveBack(now Instant, n board.Index) {
	c.board.SetReady(n, false)
	c.report.Released++
	if !c.desk.Behaved(n) {
		c.report.ReleasedAtOnce++
	}
	c.desk.Went(n)
	c.rental.Return(now, n)
	c.freed = true
}

// come lets those start whose node is there. Nodes are taken in their order, so that what is
// learnt of them does not depend on the order of a map.
func (c *hcloud) come(now Instant) {
	for _, n := range slices.Sorted(maps.Keys(c.coming)) {
		if !c.board.Ready(n) {
			continue
		}
		c.desk.Came(when(now), n)
		c.desk.Looked(when(now), n, provision.DigitsOf(c.rental.Pressure(n)))
		c.ready = append(c.ready, c.coming[n]...)
		delete(c.coming, n)
	}
	slices.SortStableFunc(c.ready, bySeniority)
}

// look at every rented node that is there.
func (c *hcloud) look(now Instant) {
	for i := range board.Index(c.board.Len()) {
		if !c.base.owns(i) && c.board.Ready(i) {
			c.desk.Looked(when(now), i, provision.DigitsOf(c.rental.Pressure(i)))
		}
	}
}

// ownedNodes are the nodes of a board that are not rented, and how much of them is used.
type ownedNodes struct {
	board   *board.Board
	rental  Rental // nil: all are owned
	watcher *watcher
	owned   []bool          // by node of the board
	nodes   []board.Index   // that are
	counted []provision.Use // by node of the board
	sum     provision.Use
	gains   uint64 // times that one of them gained room, and one
}

func newOwnedNodes(b *board.Board, rental Rental) *ownedNodes {
	o := &ownedNodes{board: b, rental: rental, watcher: newWatcher(b), gains: 1}
	o.watch()
	return o
}

// owns reports whether a node is not rented.
func (o *ownedNodes) owns(n board.Index) bool {
	for int(n) >= len(o.owned) {
		rented := false
		if o.rental != nil {
			_, rented = o.rental.TypeOf(board.Index(len(o.owned)))
		}
		o.owned = append(o.owned, !rented)
	}
	return o.owned[n]
}

// watch takes in what changed. What is not ready counts for nothing.
func (o *ownedNodes) watch() {
	o.watcher.each(func(n board.Index, gained bool) {
		if !o.owns(n) {
			return
		}
		for int(n) >= len(o.counted) {
			o.counted = append(o.counted, provision.Use{})
		}
		if at, found := slices.BinarySearch(o.nodes, n); !found {
			o.nodes = slices.Insert(o.nodes, at, n)
		}
		var now provision.Use
		if o.board.Ready(n) {
			node, used := o.board.Node(n), o.board.Used(n)
			now = provision.Use{UsedMHz: used.Megahertz(node.CoreMHz), TotalMHz: node.Total.CPUMHz, UsedMB: used.MemoryMB, TotalMB: node.Total.MemoryMB}
		}
		before := o.counted[n]
		o.counted[n] = now
		o.sum = o.sum.Add(now.Subtract(before))
		if gained {
			o.gains++
		}
	})
}

// used is the share that is given to jobs, the larger of CPU and memory; all where there is
// nothing.
func (o *ownedNodes) used() float64 { return o.sum.Share() }

// fits reports whether a node may run an allocation of the ask.
func (o *ownedNodes) fits(a *board.Request) bool {
	return slices.ContainsFunc(o.nodes, func(n board.Index) bool { return mayRun(o.board, n, a) })
}

// holds reports whether a node that is there could run an allocation of the ask if it had nothing
// else.
func (o *ownedNodes) holds(a *board.Request) bool {
	return slices.ContainsFunc(o.nodes, func(n board.Index) bool {
		return o.board.Ready(n) && o.board.Node(n).HasRoom(cluster.Resources{}, least(a)) && (a.Allowed == nil || a.Allowed(n))
	})
}
