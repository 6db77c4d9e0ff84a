package tracker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var start = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func types() []Type {
	return []Type{
		{Type: provision.Type{Name: "small", Cores: 4, MemoryMB: 8000, PricePerHour: 0.25, SpinUp: 20 * time.Second}, NodeClass: "s"},
		{Type: provision.Type{Name: "large", Cores: 16, MemoryMB: 32000, PricePerHour: 1, SpinUp: 10 * time.Second}, NodeClass: "l"},
	}
}

// world is what a test shows the tracker.
type world struct {
	t *testing.T
	*Tracker
	now   time.Time
	nodes []Node
	use   provision.Use
}

// full is a base without room, above the hard limit.
var full = provision.Use{UsedMHz: 95, TotalMHz: 100, UsedMB: 95, TotalMB: 100}

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	c := Config{Settings: provision.DefaultSettings(), Types: types(), MaxPerHour: 10}
	for _, f := range change {
		f(&c)
	}
	made, err := New(c, start)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, Tracker: made, now: start, use: full}
	w.look(0)
	return w
}

// look lets time pass, and shows what there is.
func (w *world) look(after time.Duration) {
	w.now = w.now.Add(after)
	w.Observe(w.now, w.nodes, w.use)
}

func (w *world) comes(id, class string, after time.Duration) {
	w.nodes = append(w.nodes, Node{ID: cluster.NodeID(id), Name: id, Class: class, Ready: true})
	w.look(after)
}

func (w *world) node(id string) *Node {
	for i := range w.nodes {
		if string(w.nodes[i].ID) == id {
			return &w.nodes[i]
		}
	}
	w.t.Fatalf("there is no node %s", id)
	return nil
}

func name(id string) cluster.WorkloadID {
	return cluster.WorkloadID{Namespace: "default", Job: id, Group: "main"}
}

// tolerant tolerates much, so that it may be rented a node.
func (w *world) ask(id string, change ...func(*Ask)) Answer {
	a := Ask{
		Workload: name(id), Since: start, Digits: provision.Digits{10, 10}, Need: provision.Size{Cores: 2, MemoryMB: 1000},
		Base: Base{Holds: true}, RoomOn: func(cluster.NodeID, provision.Size) bool { return true }, Random: rand.New(rand.NewPCG(1, 2)),
	}
	for _, f := range change {
		f(&a)
	}
	return w.Route(w.now, a)
}

func (w *world) report(node string) provision.NodeReport {
	for _, n := range w.Report(w.now).Nodes {
		if n.ID == node {
			return n
		}
	}
	w.t.Fatalf("the report has no node %q: %+v", node, w.Report(w.now).Nodes)
	return provision.NodeReport{}
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not say %q", text, p)
		}
	}
}

// A job waits for its node, gets it, leaves, and the node goes after ten times its spin-up (§8.3.2).
func TestLifeOfANode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask("web")
	if a.Side != provision.ToRent || a.Node != "" || a.Type != "small" || w.Wanted("small") != 1 || w.Wanted("large") != 0 {
		t.Fatalf("%+v, wanted %d", a, w.Wanted("small"))
	}
	wantText(t, a.Why, "95 % of the base is used", "it waits for a node of type small", "20s on average")
	if r := w.report(""); r.State != provision.Starting || r.Type != "small" {
		t.Errorf("%+v", r)
	}
	w.comes("n1", "s", 15*time.Second)
	if a = w.ask("web"); a.Node != "n1" {
		t.Fatalf("%+v", a)
	}
	if w.Wanted("small") != 1 || w.Present("small") != 1 || w.Report(w.now).PerHour != 0.25 {
		t.Errorf("%+v", w.Report(w.now))
	}
	w.node("n1").Jobs = []cluster.WorkloadID{name("web")}
	w.look(time.Hour)
	if r := w.report("n1"); r.State != provision.Serving {
		t.Errorf("%+v", r)
	}
	w.node("n1").Jobs = nil
	w.look(time.Second)
	w.look(beingWritten)
	if r := w.report("n1"); r.State != provision.Vacant {
		t.Errorf("%+v", r)
	}
	w.look(150*time.Second - beingWritten - time.Second)
	if n := w.Wanted("small"); n != 1 {
		t.Errorf("%d are wanted before ten spin-ups of 15 s have passed", n)
	}
	w.look(2 * time.Second)
	r := w.report("n1")
	if r.State != provision.Leaving || w.Wanted("small") != 0 || !reflect.DeepEqual(w.Leaving("small"), []cluster.NodeID{"n1"}) {
		t.Errorf("%+v, wanted %d, leaving %v", r, w.Wanted("small"), w.Leaving("small"))
	}
	wantText(t, r.Why, "10 times its spin-up of 15s")
	w.nodes = nil
	w.look(time.Second)
	if n := len(w.Report(w.now).Nodes); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
}

// What is idle is used before another one is ordered, and then it does not leave.
func TestIdleNodesAreUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("one")
	w.comes("n1", "s", 10*time.Second)
	w.look(time.Minute) // nobody asks for it any more
	if r := w.report("n1"); r.State != provision.Vacant {
		t.Fatalf("%+v", r)
	}
	if a := w.ask("two"); a.Node != "n1" || w.Wanted("small") != 1 {
		t.Errorf("%+v, wanted %d", a, w.Wanted("small"))
	}
	if a := w.ask("three", func(a *Ask) { a.RoomOn = func(cluster.NodeID, provision.Size) bool { return false } }); a.Node != "" || w.Wanted("small") != 2 {
		t.Errorf("%+v, wanted %d", a, w.Wanted("small"))
	}
}

// An order that is never met is void, its job is the base's, and no other is made for a while that
// doubles.
func TestASpinUpThatNeverEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var orders []time.Time
	made := 0
	for range 4 * 3600 / 2 {
		a := w.ask("web")
		if w.made > made {
			made = w.made
			orders = append(orders, w.now)
		}
		if w.Wanted("small") == 0 && a.Side != provision.ToWait {
			t.Fatalf("%+v", a)
		}
		w.look(2 * time.Second)
	}
	// The first is void after 200 s; pauses of 30, 60, 120 … s, an hour at most.
	if len(orders) < 4 || len(orders) > 12 {
		t.Errorf("%d orders in four hours", len(orders))
	}
	for i := 2; i < len(orders); i++ {
		if gap, before := orders[i].Sub(orders[i-1]), orders[i-1].Sub(orders[i-2]); gap < before {
			t.Errorf("a pause of %s after one of %s", gap, before)
		}
	}
	if len(w.Events()) != len(orders) {
		t.Error("not every failure is told once")
	}
	a := w.ask("web")
	wantText(t, a.Why, "did not come within 3m20s", "next try")
	if a = w.ask("web", func(a *Ask) { a.Base.Fits = true }); a.Side != provision.ToBase {
		t.Errorf("the base has room: %+v", a)
	}
}

// A target that says five and gives three.
func TestATargetThatLies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.ask(fmt.Sprint("job-", i), func(a *Ask) { a.Need.Cores = 4 })
	}
	w.Sent("small")
	w.Counted("small", 5)
	for i := range 3 {
		w.comes(fmt.Sprint("n", i), "s", 5*time.Second)
		w.node(fmt.Sprint("n", i)).Jobs = []cluster.WorkloadID{name(fmt.Sprint("job-", i))}
	}
	w.look(5 * time.Minute)
	if w.Wanted("small") != 3 || w.Present("small") != 3 {
		t.Errorf("%d are wanted, %d there", w.Wanted("small"), w.Present("small"))
	}
	if got := w.committedPerHour(); got != 5*0.25 {
		t.Errorf("%g per hour is committed as long as the provider says that there are five", got)
	}
	full := func(cluster.NodeID, provision.Size) bool { return false }
	if a := w.ask("job-4", func(a *Ask) { a.Need.Cores, a.RoomOn = 4, full }); a.Side != provision.ToWait {
		t.Errorf("%+v", a)
	}
}

// A provider at its quota: what it refuses is void, and not asked for again and again.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("one", func(a *Ask) { a.Need.Cores = 4 })
	w.Sent("small")
	w.ask("two", func(a *Ask) { a.Need.Cores = 4 })
	if w.Wanted("small") != 2 {
		t.Fatalf("%d are wanted", w.Wanted("small"))
	}
	w.Refused(w.now, "small", errors.New("quota exceeded"))
	if w.Wanted("small") != 1 {
		t.Errorf("%d are wanted; the first order went out", w.Wanted("small"))
	}
	a := w.ask("two", func(a *Ask) { a.Need.Cores = 4 })
	if a.Side != provision.ToWait {
		t.Errorf("%+v", a)
	}
	wantText(t, a.Why, "quota exceeded", "next try is in 30s")
	if a = w.ask("three", func(a *Ask) { a.Base.Fits, a.Need.Cores = true, 4 }); a.Side != provision.ToBase {
		t.Errorf("the base has room: %+v", a)
	}
	w.look(31 * time.Second)
	if a = w.ask("two", func(a *Ask) { a.Need.Cores = 4 }); a.Side != provision.ToRent {
		t.Errorf("after its pause: %+v", a)
	}
}

func TestTheCapIsNeverPassed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.MaxPerHour = 0.6 })
	for i := range 5 {
		a := w.ask(fmt.Sprint("job-", i), func(a *Ask) { a.Need.Cores = 4 })
		if rents := a.Side == provision.ToRent; rents != (i < 2) {
			t.Errorf("job %d: %+v", i, a)
		}
		if i == 2 {
			wantText(t, a.Why, "0.75 per hour, more than max_per_hour = 0.6")
		}
	}
}

func TestMostOfAType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Types[0].Max = 1 })
	w.ask("one", func(a *Ask) { a.Need.Cores = 4 })
	a := w.ask("two", func(a *Ask) { a.Need.Cores = 4 })
	if a.Side != provision.ToWait || w.Wanted("small") != 1 {
		t.Errorf("%+v", a)
	}
	wantText(t, a.Why, "there are 1 of type small, as many as may be")
}

// A bad node is not kept: it leaves when its job has ended.
func TestABadNodeLeavesWhenItsJobEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("web")
	w.comes("n1", "s", 10*time.Second)
	w.node("n1").Jobs = []cluster.WorkloadID{name("web")}
	w.look(time.Second)
	w.desk.Looked(w.now, w.slotOf("n1").key, provision.Digits{95, 0})
	w.look(time.Second)
	if r := w.report("n1"); r.State != provision.Serving || w.Wanted("small") != 1 {
		t.Errorf("%+v", r)
	}
	w.node("n1").Jobs = nil
	w.look(time.Second)
	w.look(beingWritten)
	if r := w.report("n1"); r.State != provision.Leaving {
		t.Errorf("%+v", r)
	} else {
		wantText(t, r.Why, "not good enough")
	}
}

// What a job does tells of its node, where it is alone there and goes on to miss its target.
func TestANodeOnWhichAJobMissesItsTarget(t *testing.T) {
	t.Parallel()
	below := map[cluster.WorkloadID]bool{name("web"): true}
	for _, c := range []struct {
		what   string
		others bool
		below  map[cluster.WorkloadID]bool
		good   bool
	}{{"alone", false, below, false}, {"next to another", true, below, true}, {"not measured", false, nil, true}} {
		w := newWorld(t)
		w.ask("web")
		w.comes("n1", "s", 10*time.Second)
		w.node("n1").Jobs = []cluster.WorkloadID{name("web")}
		if c.others {
			w.node("n1").Jobs = append(w.node("n1").Jobs, name("other"))
		}
		w.look(time.Second)
		w.Measured(w.now, c.below)
		w.look(missesFor / 2)
		w.Measured(w.now, nil) // once it does not
		w.Measured(w.now, c.below)
		w.look(missesFor - time.Second)
		w.Measured(w.now, c.below)
		if !w.desk.Behaved(w.slotOf("n1").key) {
			t.Errorf("%s: too early", c.what)
		}
		w.look(time.Second)
		w.Measured(w.now, c.below)
		if got := w.desk.Behaved(w.slotOf("n1").key); got != c.good {
			t.Errorf("%s: %v", c.what, got)
		}
		w.node("n1").Jobs = nil
		w.look(time.Second)
		if w.look(beingWritten); (w.report("n1").State == provision.Vacant) != c.good {
			t.Errorf("%s: %+v", c.what, w.report("n1"))
		}
	}
}

// A node that Nomad does not hear of is returned; one that comes back stays.
func TestLostNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("web")
	w.comes("n1", "s", 10*time.Second)
	w.node("n1").Jobs = []cluster.WorkloadID{name("web")}
	w.node("n1").Ready = false
	w.look(time.Second)
	w.look(lostAfter / 2)
	if a := w.ask("other"); a.Node == "n1" {
		t.Error("a job is sent to a node that is down")
	}
	w.node("n1").Ready = true
	w.look(time.Second)
	w.node("n1").Ready = false
	w.look(time.Second)
	if w.look(lostAfter); w.report("n1").State != provision.Serving {
		t.Errorf("%+v", w.report("n1"))
	}
	if w.look(time.Second); w.report("n1").State != provision.Leaving {
		t.Errorf("%+v", w.report("n1"))
	}
}

// Nodes that nobody ordered are paid for, used, and returned.
func TestFoundNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.comes("n1", "s", time.Second)
	if w.Present("small") != 1 || w.Report(w.now).PerHour != 0.25 {
		t.Errorf("%+v", w.Report(w.now))
	}
	if a := w.ask("web"); a.Node != "n1" {
		t.Errorf("%+v", a)
	}
	w.look(time.Minute)
	w.look(200 * time.Second)
	if w.report("n1").State != provision.Leaving {
		t.Errorf("%+v", w.report("n1"))
	}
	w.nodes = append(w.nodes, Node{ID: "other", Name: "other", Class: "owned", Ready: true})
	w.look(time.Second)
	if len(w.Report(w.now).Nodes) != 1 {
		t.Error("an owned node is in the account")
	}
}

// Who came first is first, by class; who could never run in the base holds up nobody.
func TestTheQueueIsFIFO(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sensitive := func(since time.Duration, change ...func(*Ask)) func(*Ask) {
		return func(a *Ask) {
			a.Digits, a.Since = provision.Digits{99, 99}, start.Add(since)
			for _, f := range change {
				f(a)
			}
		}
	}
	fits := func(a *Ask) { a.Base.Fits = true }
	// Nodes of type small have been bad.
	for range 20 {
		w.ask("bad")
	}
	w.comes("n1", "s", 10*time.Second)
	w.desk.Looked(w.now, w.slotOf("n1").key, provision.Digits{90, 90})
	w.ask("huge", sensitive(0, func(a *Ask) { a.Base.Holds = false }))
	for i, id := range []string{"first", "second"} {
		if a := w.ask(id, sensitive(time.Duration(i+1)*time.Second)); a.Side != provision.ToWait {
			t.Fatalf("%s: %+v", id, a)
		}
	}
	w.use.UsedMHz = 90
	w.look(time.Second)
	a := w.ask("second", sensitive(2*time.Second, fits))
	if a.Side != provision.ToWait {
		t.Errorf("second: %+v", a)
	}
	if a = w.ask("first", sensitive(time.Second, fits)); a.Side != provision.ToBase {
		t.Errorf("first: %+v", a)
	}
	wantText(t, a.Why, "it waited 1s for the base")
	if a = w.ask("second", sensitive(2*time.Second, fits)); a.Side != provision.ToBase {
		t.Errorf("second: %+v", a)
	}
}

// A successor goes on with what there is, and no restart makes a node stay longer.
func TestResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("one", func(a *Ask) { a.Need.Cores = 4 })
	w.comes("n1", "s", 10*time.Second)
	w.look(time.Minute)
	w.ask("two", func(a *Ask) { a.RoomOn = func(cluster.NodeID, provision.Size) bool { return false } })
	w.Refused(w.now, "large", errors.New("nothing was ordered"))
	before := w.Report(w.now)
	for range 3 {
		state := w.State()
		next, err := New(w.cfg, w.now)
		if err != nil {
			t.Fatal(err)
		}
		next.Resume(w.now, state)
		if !alike(next.State(), state) {
			t.Errorf("%+v\nbecame %+v", state, next.State())
		}
		w.Tracker = next
		w.look(30 * time.Second)
	}
	if after := w.Report(w.now); len(after.Nodes) != len(before.Nodes) || after.Today <= before.Today {
		t.Errorf("%+v\nbecame %+v", before, after)
	}
	if a := w.ask("two"); w.Wanted("small") != 2 && a.Node != "n1" {
		t.Errorf("%+v, wanted %d", a, w.Wanted("small"))
	}
	w = resumed(t, w, 10*time.Minute) // it was kept for a job then, which asked for it no more
	w.look(101 * time.Second)
	if w.report("n1").State != provision.Leaving {
		t.Errorf("%+v", w.report("n1"))
	}
}

// alike are two accounts but for the jobs on the nodes, which a successor sees for itself.
func alike(a, b State) bool {
	withoutJobs := func(slots []SlotState) []SlotState {
		out := slices.Clone(slots)
		for i := range out {
			if out[i].Busy {
				out[i].Idle = time.Time{}
			}
			out[i].Busy = false
		}
		return out
	}
	for i := range min(len(a.Slots), len(b.Slots)) {
		busy := a.Slots[i].Busy || b.Slots[i].Busy
		a.Slots[i].Busy, b.Slots[i].Busy = busy, busy
	}
	a.Slots, b.Slots = withoutJobs(a.Slots), withoutJobs(b.Slots)
	return a.Settled(b)
}

func resumed(t *testing.T, w *world, later time.Duration) *world {
	t.Helper()
	next, err := New(w.cfg, w.now)
	if err != nil {
		t.Fatal(err)
	}
	next.Resume(w.now.Add(later), w.State())
	w.Tracker = next
	w.look(later)
	return w
}

// A record that somebody else wrote orders nothing beyond what may be spent, and keeps nothing for
// ever.
func TestResumeOfAForgedRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.MaxPerHour = 1 })
	forged := State{
		SpinUps: map[string]provision.SpinUps{"small": {Mean: 1 << 62, Count: 1}, "large": {Mean: -1, Count: 1}, "unknown": {Mean: 1, Count: 1}},
		Backoff: map[string]BackoffState{"small": {Failures: 1 << 40, NotBefore: start.AddDate(100, 0, 0)}, "unknown": {Failures: 1}},
		Made:    -1, SpentAt: start.AddDate(1, 0, 0), Today: -5,
	}
	for i := range 1000 {
		forged.Slots = append(forged.Slots, SlotState{Key: fmt.Sprintf("small/%06d", i), Type: "small", Ordered: start.AddDate(1, 0, 0)})
	}
	forged.Slots = append(forged.Slots, SlotState{Key: "x", Type: "small"}, SlotState{Key: "large/000001", Type: "large", Node: "n1", Ready: true, SpinUp: 1 << 62, Idle: start.AddDate(1, 0, 0), Behaved: true})
	w.Resume(w.now, forged)
	w.comes("n1", "l", time.Second)
	if got := w.Wanted("small"); got != 4 || w.Wanted("large") != 1 {
		t.Errorf("%d small and %d large nodes are wanted at 1 per hour", got, w.Wanted("large"))
	}
	if w.desk.SpinUp("small") != 20*time.Second || w.Report(w.now).Today < 0 {
		t.Errorf("%s, %+v", w.desk.SpinUp("small"), w.Report(w.now))
	}
	w.look(10*longestSpinUp + time.Second)
	if w.Wanted("small") != 0 || w.report("n1").State != provision.Leaving {
		t.Errorf("%+v", w.Report(w.now))
	}
	w.nodes = nil
	w.look(backoffMost)
	if a := w.ask("web"); a.Side != provision.ToRent {
		t.Errorf("%+v", a)
	}
}

// Sums are of the day, by UTC.
func TestSpentToday(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.comes("n1", "l", time.Second)
	w.node("n1").Jobs = []cluster.WorkloadID{name("web")}
	w.look(2 * time.Hour)
	if got := w.Report(w.now).Today; got < 1.99 || got > 2.01 {
		t.Errorf("%g in two hours at 1 per hour", got)
	}
	w.look(11 * time.Hour) // 1:00 of the next day
	if got := w.Report(w.now).Today; got < 0.99 || got > 1.01 {
		t.Errorf("%g in the hour since midnight", got)
	}
	if days := w.Report(w.now).Days; len(days) != 2 || days[0].Day != "2026-03-14" || days[0].Spent < 11.9 || days[0].Spent > 12.1 || days[0].UnseenHours < 11.9 || days[1].Day != "2026-03-15" {
		t.Errorf("%+v", days)
	}
	w.look(-time.Hour)
	if got := w.Report(w.now).Today; got > 1.01 {
		t.Errorf("%g after the clock was set back", got)
	}
}
