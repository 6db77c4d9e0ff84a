package tracker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// Type is a kind of node that can be rented, and how Nomad shows it.
type Type struct {
	provision.Type
	NodeClass string
	Max       int // at a time; 0: what the money allows
}

// Config is what a tracker is made of.
type Config struct {
	Settings   provision.Settings
	Types      []Type
	MaxPerHour float64 // that all rented nodes may cost together
	Probes     bool    // the quality of nodes is measured before they get a job, and again while they are idle
}

// Bounds, chosen by us.
const (
	// An order is void after so many times the spin-up of its type, and not before the other. The
	// slowest of published spin-ups is ten times the usual one (§8.3.2: 12 s, and up to 2 minutes).
	lateAfterSpinUps = 10
	lateAfterLeast   = 2 * time.Minute
	// A type whose order failed is not ordered again for the first, then twice as long each time.
	backoffFirst = 30 * time.Second
	backoffMost  = time.Hour
	// A node that Nomad does not hear of is returned after this: its jobs are elsewhere by then.
	lostAfter = time.Minute
	// Whoever is not asked for any more does not wait, and needs no node that is kept for it.
	askedAgainWithin = 30 * time.Second
	// Between its decision and its first allocation a job is on a node in some looks at the
	// cluster, and in others not.
	beingWritten = 10 * time.Second
	// A job that misses its target for so long, with its node to itself, says that the node is not
	// good enough. Adapting to what is missed takes some of the windows of 2.5 s.
	missesFor  = 30 * time.Second
	mostEvents = 100
)

// Tracker is the account. It is for one goroutine.
type Tracker struct {
	cfg    Config
	desk   *provision.Provisioner[string]
	kinds  map[string]*kind // by type
	slots  map[string]*slot // by key
	order  []*slot          // the same, by key: the oldest of each type first
	queue  map[cluster.WorkloadID]*waiting
	made   int // slots
	base   provision.Use
	gains  int // how often the base was seen to have gained room
	spent  ledger
	events []Event

	references map[string]*provision.Reference // by type
}

// kind is what is known of a type.
type kind struct {
	Type
	failures  int
	notBefore time.Time // no order before; zero: at once
	why       string    // the newest failure
	counted   int       // nodes of it that the provider says there are; -1: it was not asked
}

// slot is a node from its order to its end.
type slot struct {
	key     string
	typ     string
	node    cluster.NodeID // empty: not seen yet
	name    string
	ordered time.Time
	sent    bool      // the order went out
	ready   bool      // it was seen ready once
	lost    time.Time // since when it is not ready any more; zero: it is
	jobs    map[cluster.WorkloadID]*tenant
	leaving string // why; empty: it stays
	probe   probe
}

// tenant is a workload that has a node, or for which one is kept.
type tenant struct {
	digits provision.Digits
	need   provision.Size
	why    string    // it got a rented node
	seen   bool      // on the node, once
	gone   time.Time // since when it is not there any more; zero: it is, or was not yet
	below  time.Time // since when it misses its target; zero: it does not, or that is not known
	asked  time.Time
}

// Event is something that an operator should know.
type Event struct {
	At   time.Time
	Text string
}

// New tracker without nodes.
func New(c Config, now time.Time) (*Tracker, error) {
	var types provision.Catalogue
	t := &Tracker{cfg: c, kinds: map[string]*kind{}, slots: map[string]*slot{}, queue: map[cluster.WorkloadID]*waiting{}, spent: ledger{at: now}, references: map[string]*provision.Reference{}}
	for _, typ := range c.Types {
		types = append(types, typ.Type)
		t.kinds[typ.Name] = &kind{Type: typ, counted: -1}
		t.references[typ.Name] = provision.NewReference(nil)
	}
	var err error
	t.desk, err = provision.New[string](c.Settings, types, now)
	return t, err
}

// Node is a node of a rented type as the world shows it.
type Node struct {
	ID    cluster.NodeID
	Name  string
	Class string
	Ready bool
	Jobs  []cluster.WorkloadID // that have an allocation there, or are to get one
}

// Observe tells which nodes of rented types there are now, and what is used of the owned ones.
func (t *Tracker) Observe(now time.Time, nodes []Node, base provision.Use) {
	if base.TotalMHz-base.UsedMHz > t.base.TotalMHz-t.base.UsedMHz || base.TotalMB-base.UsedMB > t.base.TotalMB-t.base.UsedMB {
		t.gains++
	}
	t.base = base
	t.spent.add(now, t.presentPerHour())
	there := map[cluster.NodeID]Node{}
	for _, n := range nodes {
		if t.typeOf(n.Class) != nil {
			there[n.ID] = n
		}
	}
	t.forgetGone(there)
	for _, id := range slices.Sorted(maps.Keys(there)) {
		t.meet(now, there[id])
	}
	for _, s := range t.sorted() {
		t.reconcile(now, s, there[s.node].Jobs)
	}
	t.voidLate(now)
	t.endProbes(now)
	t.letLeave(now)
	t.expire(now)
	t.desk.Queue(now, len(t.queue))
}

func (t *Tracker) typeOf(class string) *kind {
	for _, k := range t.kinds {
		if k.NodeClass == class {
			return k
		}
	}
	return nil
}

// forgetGone removes the slots whose nodes Nomad does not know any more.
func (t *Tracker) forgetGone(there map[cluster.NodeID]Node) {
	for _, s := range t.sorted() {
		if _, ok := there[s.node]; !ok && s.node != "" {
			t.drop(s)
		}
	}
}

// meet looks at one node. One that is ready and not known takes the place of the oldest order of
// its type, or was not ordered here.
func (t *Tracker) meet(now time.Time, n Node) {
	s := t.slotOf(n.ID)
	if s == nil {
		if !n.Ready {
			return
		}
		if s = t.oldestOrder(t.typeOf(n.Class).Name); s == nil {
			s = t.add(t.typeOf(n.Class).Name, now)
			s.sent, s.ready = true, true
			t.desk.Found(s.key, provision.Rented{Type: s.typ, SpinUp: -1, Idle: now, Behaved: true})
			t.note(now, fmt.Sprintf("node %s of type %s is there, and was not ordered here", n.Name, s.typ))
		}
		s.node, s.name = n.ID, n.Name
	}
	switch {
	case n.Ready && !s.ready:
		s.ready = true
		t.desk.Came(now, s.key)
		t.awaitProbe(now, s)
		k := t.kinds[s.typ]
		k.failures, k.notBefore, k.why = 0, time.Time{}, ""
	case n.Ready:
		s.lost = time.Time{}
	case s.ready && s.lost.IsZero():
		s.lost = now
	}
}

// reconcile a slot's jobs with those that the world shows on its node.
func (t *Tracker) reconcile(now time.Time, s *slot, on []cluster.WorkloadID) {
	for _, w := range on {
		if s.jobs[w] == nil {
			s.jobs[w] = &tenant{}
			t.desk.Began(s.key, nil)
		}
		s.jobs[w].seen, s.jobs[w].gone = true, time.Time{}
	}
	for _, w := range slices.SortedFunc(maps.Keys(s.jobs), cluster.WorkloadID.Compare) {
		job := s.jobs[w]
		left := job.asked.Add(askedAgainWithin)
		if job.seen {
			if slices.Contains(on, w) {
				continue
			}
			if job.gone.IsZero() {
				job.gone = now
			}
			left = job.gone.Add(beingWritten)
		}
		if left.After(now) {
			continue
		}
		at := now
		if job.seen {
			at = job.gone
		}
		t.desk.Left(at, s.key, job.digits)
		delete(s.jobs, w)
		if job.seen && len(s.jobs) == 0 {
			s.probe.due, s.probe.had = true, job.digits
		}
	}
}

// Measured tells which workloads missed their target when they were measured last; of those that are
// not in it nothing is known. A node whose one job goes on to miss it is not good enough. Where
// others are there, it may be theirs.
func (t *Tracker) Measured(now time.Time, below map[cluster.WorkloadID]bool) {
	for _, s := range t.sorted() {
		for w, job := range s.jobs {
			switch {
			case !below[w] || len(s.jobs) > 1 || !job.seen || !job.gone.IsZero():
				job.below = time.Time{}
			case job.below.IsZero():
				job.below = now
			case now.Sub(job.below) >= missesFor && t.desk.Behaved(s.key):
				t.desk.Failed(s.key)
				t.note(now, fmt.Sprintf("node %s of type %s is returned when its job ends: %s misses its target there, alone on it for %s", s.name, s.typ, w, missesFor))
			}
		}
	}
}

// voidLate gives up orders that were not met in time.
func (t *Tracker) voidLate(now time.Time) {
	for _, s := range t.sorted() {
		if limit := t.lateAfter(s.typ); !s.ready && now.Sub(s.ordered) > limit {
			t.fail(now, s.typ, fmt.Sprintf("a node of type %s did not come within %s", s.typ, limit.Round(time.Second)))
			t.drop(s)
		}
	}
}

func (t *Tracker) lateAfter(typ string) time.Duration {
	return max(lateAfterLeast, lateAfterSpinUps*t.desk.SpinUp(typ))
}

// fail notes that nodes of a type cannot be had now.
func (t *Tracker) fail(now time.Time, typ, why string) {
	k := t.kinds[typ]
	if now.Before(k.notBefore) {
		return // of the same attempt
	}
	wait := Pause(k.failures)
	k.failures++
	k.notBefore, k.why = now.Add(wait), why
	t.note(now, fmt.Sprintf("%s; none is ordered for %s", why, wait))
}

// Pause is how long nothing is asked of a provider after so many failures before the newest one.
func Pause(failures int) time.Duration { return min(backoffMost, backoffFirst<<min(failures, 10)) }

// letLeave says which nodes leave: those that are idle for long enough or were not good enough,
// and those that are lost. One that has got a job meanwhile stays.
func (t *Tracker) letLeave(now time.Time) {
	due := t.desk.Leaving(now)
	for _, s := range t.sorted() {
		switch {
		case !s.lost.IsZero() && now.Sub(s.lost) > lostAfter:
			s.leaving = fmt.Sprintf("Nomad has not heard of it for more than %s.", lostAfter)
		case !slices.Contains(due, s.key):
			s.leaving = ""
		case s.leaving != "":
		case !t.desk.Behaved(s.key):
			s.leaving = "It was not good enough for its jobs, which have ended."
		default:
			was, _ := t.desk.Seen(s.key)
			s.leaving = fmt.Sprintf("It had no job for %s, %g times its spin-up of %s.", now.Sub(was.Idle).Round(time.Second), t.cfg.Settings.Retention, was.SpinUp.Round(time.Second))
		}
	}
}

// expire forgets who is not asked for any more.
func (t *Tracker) expire(now time.Time) {
	maps.DeleteFunc(t.queue, func(_ cluster.WorkloadID, w *waiting) bool { return now.Sub(w.asked) > askedAgainWithin })
}

func (t *Tracker) add(typ string, now time.Time) *slot {
	t.made++
	s := &slot{key: fmt.Sprintf("%s/%06d", typ, t.made), typ: typ, ordered: now, jobs: map[cluster.WorkloadID]*tenant{}}
	t.insert(s)
	return s
}

func (t *Tracker) insert(s *slot) {
	t.slots[s.key] = s
	at, _ := slices.BinarySearchFunc(t.order, s.key, bySlotKey)
	t.order = slices.Insert(t.order, at, s)
}

func bySlotKey(s *slot, key string) int { return cmp.Compare(s.key, key) }

func (t *Tracker) drop(s *slot) {
	t.desk.Went(s.key)
	delete(t.slots, s.key)
	if at, found := slices.BinarySearchFunc(t.order, s.key, bySlotKey); found {
		t.order = slices.Delete(t.order, at, at+1)
	}
}

// sorted are all slots, the oldest of each type first. Some may be dropped while it is read.
func (t *Tracker) sorted() []*slot { return slices.Clone(t.order) }

func (t *Tracker) slotOf(node cluster.NodeID) *slot {
	for _, s := range t.slots {
		if s.node == node {
			return s
		}
	}
	return nil
}

// oldestOrder of a type that no node was seen for; nil: there is none.
func (t *Tracker) oldestOrder(typ string) *slot {
	for _, s := range t.sorted() {
		if s.typ == typ && s.node == "" {
			return s
		}
	}
	return nil
}

func (t *Tracker) note(now time.Time, text string) {
	t.events = append(t.events, Event{now, text})
	if over := len(t.events) - mostEvents; over > 0 {
		t.events = slices.Delete(t.events, 0, over)
	}
}

// Events that came since they were asked for last.
func (t *Tracker) Events() []Event {
	out := t.events
	t.events = nil
	return out
}
