package tracker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// Ask is a workload that needs a place, with all its allocations.
type Ask struct {
	Workload cluster.WorkloadID
	Since    time.Time        // when it was submitted: who came first is first in the queue
	Digits   provision.Digits // what it demands; nil: nothing is known of it
	Need     provision.Size   // of all its allocations
	Base     Base
	Random   *rand.Rand // the same each time it asks
	// RoomOn reports whether a node that is ready may take it, next to what is there and to as much
	// that is kept for others.
	RoomOn func(node cluster.NodeID, kept provision.Size) bool
}

// Base is what the owned nodes have for it now.
type Base struct {
	Fits  bool // one has room for an allocation
	Holds bool // one could run an allocation if it had nothing else
}

// Answer is where a workload goes.
type Answer struct {
	provision.Destination
	Node cluster.NodeID // that is kept for it, with provision.ToRent; empty: it is not ready yet
}

// waiting is a workload in the base's queue.
type waiting struct {
	class   string
	since   time.Time // of its place in the queue
	entered time.Time
	why     string
	denied  bool // it was to have a rented node, and there was none to be had
	never   bool // no owned node could run it: it holds up nobody
	seen    int  // gains of the base when it was tried last
	asked   time.Time
}

// Route decides where a workload goes, and keeps a node for it where it is to be rented one. It is
// called again and again until the workload has its place; a decision stands meanwhile, but for one
// that cannot be carried out.
func (t *Tracker) Route(now time.Time, a Ask) Answer {
	t.leaveLost(now, a.Workload)
	if s := t.homeOf(a.Workload); s != nil {
		s.jobs[a.Workload].asked = now
		return t.atHome(now, s, a.Workload)
	}
	if w, ok := t.queue[a.Workload]; ok {
		return t.routeQueued(now, a, w)
	}
	arrival := provision.Arrival{Digits: a.Digits, Size: a.Need, Fits: a.Base.Fits, Used: t.base.Share()}
	class := t.desk.Class(arrival)
	arrival.Position = t.ahead(class, a.Since)
	switch d := t.desk.Decide(now, arrival, a.Random); d.Side {
	case provision.ToBase:
		return Answer{Destination: d}
	case provision.ToRent:
		return t.rent(now, a, d, class)
	default:
		return t.enqueue(now, a, &waiting{class: class, why: d.Why})
	}
}

// leaveLost has a workload leave nodes that Nomad does not hear of: it needs another one.
func (t *Tracker) leaveLost(now time.Time, w cluster.WorkloadID) {
	for _, s := range t.order {
		if job := s.jobs[w]; job != nil && !s.lost.IsZero() {
			t.desk.Left(now, s.key, job.digits)
			delete(s.jobs, w)
		}
	}
}

// homeOf is the slot that is kept for a workload; nil: there is none, or it has left.
func (t *Tracker) homeOf(w cluster.WorkloadID) *slot {
	for _, s := range t.order {
		if s.jobs[w] != nil {
			return s
		}
	}
	return nil
}

// atHome is the answer for a workload that a slot is kept for.
func (t *Tracker) atHome(now time.Time, s *slot, w cluster.WorkloadID) Answer {
	out := Answer{Destination: provision.Destination{Side: provision.ToRent, Type: s.typ, Why: s.jobs[w].why}}
	if out.Why != "" {
		out.Why += "; "
	}
	if s.ready && s.measured(now) {
		out.Node = s.node
		out.Why += fmt.Sprintf("node %s of type %s is kept for it", s.name, s.typ)
		return out
	}
	if s.ready {
		out.Why += fmt.Sprintf("node %s of type %s is kept for it, and its quality is being measured", s.name, s.typ)
		return out
	}
	out.Why += fmt.Sprintf("it waits for a node of type %s, ordered %s ago; one takes %s on average", s.typ, now.Sub(s.ordered).Round(time.Second), t.desk.SpinUp(s.typ).Round(time.Second))
	return out
}

// rent finds a node for a workload, or orders one. Where none can be had, the workload is the base's.
func (t *Tracker) rent(now time.Time, a Ask, d provision.Destination, class string) Answer {
	if s, ok := t.reuse(a, d.Type); ok {
		t.keep(now, s, a, d.Why)
		return t.atHome(now, s, a.Workload)
	}
	if why := t.cannotOrder(now, d.Type); why != "" {
		denied := fmt.Sprintf("%s; but no node is ordered: %s", d.Why, why)
		if a.Base.Fits && t.cfg.Settings.Strategy.Owns() && t.ahead(class, a.Since) == 0 {
			return Answer{Destination: provision.Destination{Side: provision.ToBase, Why: denied}}
		}
		return t.enqueue(now, a, &waiting{class: class, why: denied, denied: true})
	}
	s := t.add(d.Type, now)
	t.desk.Asked(now, s.key, d.Type)
	t.keep(now, s, a, d.Why)
	return t.atHome(now, s, a.Workload)
}

// reuse finds a node that is there or on its way, and has room.
func (t *Tracker) reuse(a Ask, typ string) (*slot, bool) {
	key, ok := t.desk.Reuse(typ, a.Digits, func(key string) bool { return t.takes(t.slots[key], a) })
	return t.slots[key], ok
}

// takes reports whether a slot has room for a workload next to those that it is kept for.
func (t *Tracker) takes(s *slot, a Ask) bool {
	if s.leaving != "" || !s.lost.IsZero() {
		return false
	}
	var kept provision.Size
	for _, job := range s.jobs {
		if !job.seen {
			kept.Cores += job.need.Cores
			kept.MemoryMB += job.need.MemoryMB
		}
	}
	if s.ready {
		return a.RoomOn(s.node, kept)
	}
	typ := t.kinds[s.typ]
	return typ.Cores >= kept.Cores+a.Need.Cores && typ.MemoryMB >= kept.MemoryMB+a.Need.MemoryMB
}

// keep a slot for a workload, and why.
func (t *Tracker) keep(now time.Time, s *slot, a Ask, why string) {
	delete(t.queue, a.Workload)
	s.jobs[a.Workload] = &tenant{digits: a.Digits, need: a.Need, why: why, asked: now}
	t.desk.Began(s.key, a.Digits)
}

// cannotOrder is why no node of a type is ordered now; empty: one may be.
func (t *Tracker) cannotOrder(now time.Time, typ string) string {
	if k := t.kinds[typ]; now.Before(k.notBefore) {
		return fmt.Sprintf("%s, and the next try is in %s", k.why, k.notBefore.Sub(now).Round(time.Second))
	}
	return t.beyond(typ)
}

// beyond is what one node more of a type would exceed; empty: nothing.
func (t *Tracker) beyond(typ string) string {
	k := t.kinds[typ]
	switch {
	case k.Max > 0 && t.committed(k) >= k.Max:
		return fmt.Sprintf("there are %d of type %s, as many as may be", t.committed(k), typ)
	case t.committedPerHour()+k.PricePerHour > t.cfg.MaxPerHour:
		return fmt.Sprintf("rented nodes would cost %.4g per hour, more than max_per_hour = %.4g", t.committedPerHour()+k.PricePerHour, t.cfg.MaxPerHour)
	}
	return ""
}

// enqueue lets a workload wait for the base.
func (t *Tracker) enqueue(now time.Time, a Ask, w *waiting) Answer {
	w.since, w.entered, w.asked, w.never, w.seen = a.Since, now, now, !a.Base.Holds, t.gains
	t.queue[a.Workload] = w
	why := w.why
	if n := t.ahead(w.class, w.since); n > 0 {
		why += fmt.Sprintf("; %d of its class wait before it", n)
	}
	if estimate, known := t.desk.Wait(now, w.class, t.ahead(w.class, w.since)); known {
		why += fmt.Sprintf("; it is expected to wait %s at most", estimate.Round(time.Second))
	}
	return Answer{Destination: provision.Destination{Side: provision.ToWait, Type: w.class, Why: why}}
}

// routeQueued gives a workload that waits its place where there is one now: in the base if nobody
// of its class has waited longer, on a rented node if it only waits because there was none.
func (t *Tracker) routeQueued(now time.Time, a Ask, w *waiting) Answer {
	w.asked, w.never = now, !a.Base.Holds
	gained := w.seen != t.gains || w.denied // which is not there because the base is too full
	if t.ahead(w.class, w.since) == 0 {
		w.seen = t.gains
		if a.Base.Fits && gained {
			t.desk.Freed(now, w.class)
		}
	}
	if a.Base.Fits && gained && t.ahead(w.class, w.since) == 0 && t.cfg.Settings.Strategy.Owns() {
		t.desk.Waited(w.class, now.Sub(w.entered))
		delete(t.queue, a.Workload)
		return Answer{Destination: provision.Destination{Side: provision.ToBase, Why: fmt.Sprintf("it waited %s for the base, which has room now", now.Sub(w.entered).Round(time.Second))}}
	}
	if w.denied {
		if out := t.rent(now, a, provision.Destination{Side: provision.ToRent, Type: w.class, Why: "it waits for the base since no node could be rented"}, w.class); out.Side != provision.ToWait {
			return out
		}
		again := t.queue[a.Workload] // at the end of the queue by now: it keeps its place
		again.entered, again.seen = w.entered, w.seen
		return Answer{Destination: provision.Destination{Side: provision.ToWait, Type: w.class, Why: again.why}}
	}
	return Answer{Destination: provision.Destination{Side: provision.ToWait, Type: w.class, Why: cmp.Or(w.why, "it waits for the base")}}
}

// ahead is how many of a class have waited longer and could run in the base.
func (t *Tracker) ahead(class string, since time.Time) int {
	n := 0
	for _, w := range t.queue {
		if w.class == class && !w.never && w.since.Before(since) {
			n++
		}
	}
	return n
}
