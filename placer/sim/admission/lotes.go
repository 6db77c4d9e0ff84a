package admission

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

var lotesDescriptor = Descriptor{
	Name:       "lotes",
	Summary:    "a queue for each job class; a node that gains room starts what its planned mix lacks most, and may stay idle on purpose",
	Paper:      "Tran 2016, §4.3",
	Parameters: lotesParameters.list,
	New:        newLotes,
}

var lotesParameters = parameterList{controller: "lotes", list: []Parameter{
	{Name: "window", Default: "24h", Summary: "of jobs that classes are learnt from, where they are not stated"},
	{Name: "replan", Default: "6h", Summary: "between plans of what was learnt"},
	{Name: "most_classes", Default: "4", Summary: "of jobs that declare none"},
	{Name: "patience", Default: "24h", Summary: "an item that has waited so long takes any room"},
	{Name: "pairings", Default: "near", Choices: []string{"near", "support", "all"},
		Summary: "classes of a configuration: those stage 1 uses or could use at no loss, those it uses, or all"},
}}

func newLotes(b *board.Board, o Options, random *rand.Rand) (Controller, error) {
	s, err := lotesParameters.read(o)
	if err != nil {
		return nil, err
	}
	c := &lotesController{
		exits: newExits(b), mix: lotes.On(b), replan: s.duration("replan"), patience: s.duration("patience"),
		history: lotes.NewHistory(s.duration("window"), s.whole("most_classes", 1, 64), random), ran: map[board.Handle]started{},
		old: sorted{order: bySeniority}, report: Report{Classes: make([]ClassReport, 1)}, last: map[board.Index]int{},
	}
	if s.err != nil {
		return nil, s.err
	}
	c.learns = !c.mix.Given()
	c.mix.SetPairings(map[string]lotes.Pairings{"near": lotes.Near, "support": lotes.Support, "all": lotes.All}[s.values["pairings"]])
	c.exits.queues = c
	return c, nil
}

// lotesController is the class queues of LoTES, and its off-line stages: classes and
// their rates are learnt from the jobs of a day, and planned for anew every few hours
// without a stop, unless the classes were stated.
type lotesController struct {
	exits
	mix      *lotes.Mix
	classes  []fitIndex // queues
	version  int        // of the plan they are of
	history  *lotes.History
	learns   bool
	replan   time.Duration
	planned  Instant // last
	learnt   uint64  // arrivals at the last plan
	patience time.Duration
	old      sorted // what waits, by seniority: who loses patience next
	ran      map[board.Handle]started
	now      Instant
	last     map[board.Index]int // the class that a node served last: it goes on while it is on top
	report   Report
}

// started is an allocation that runs.
type started struct {
	at    Instant
	size  cluster.Resources
	class int // declared
}

// Arrive implements Controller, as do the following methods.
func (c *lotesController) Arrive(now Instant, it Item) {
	c.Withdraw(it.Ask.Handle)
	c.now = now
	w := c.arrive(it)
	c.old.add(w)
	c.report.Classes[0].Arrived++
	if !c.learns {
		return
	}
	c.history.Arrived(c.mix, now, it.Ask)
	if c.due(now) {
		c.learn(now)
	}
}

// due: a plan is made when the jobs known have grown tenfold, and then every few
// hours.
func (c *lotesController) due(now Instant) bool {
	return c.history.Seen() >= 10*max(1, c.learnt) || c.learnt == 0 || now-c.planned >= c.replan
}

func (c *lotesController) learn(now Instant) {
	c.planned, c.learnt = now, c.history.Seen()
	if m, ok := c.history.Model(c.mix, now, len(c.board.Configurations)); ok {
		c.mix.SetModel(m)
	}
}

func (c *lotesController) Next(now Instant) (Attempt, bool) {
	c.now = now
	c.refresh()
	c.impatient(now)
	return c.offer()
}

// refresh the plan, and with a new one the queues.
func (c *lotesController) refresh() {
	c.flush(nil)
	if c.board.Len() == 0 || len(c.old.items) == 0 {
		return
	}
	c.mix.Ready(c.old.items[0].item.Ask)
	if c.version == c.mix.Version() {
		return
	}
	c.version = c.mix.Version()
	var all []*waiting
	for k := range c.classes {
		all = append(all, c.classes[k].all()...)
	}
	c.resettle(all)
	for _, w := range c.anywhereItems() {
		c.anywhere.remove(w)
		w.exit.at = isFresh
		c.fresh.add(w)
	}
	c.classes = make([]fitIndex, c.mix.Classes())
	for k := range c.classes {
		c.classes[k].order = bySeniority
	}
	clear(c.last)
}

// anywhereItems that are not being tried, and have not lost their patience.
func (c *lotesController) anywhereItems() []*waiting {
	var out []*waiting
	for _, w := range c.anywhere.items {
		if !w.flying && !w.exit.impatient {
			out = append(out, w)
		}
	}
	return out
}

// impatient items take any room.
func (c *lotesController) impatient(now Instant) {
	for len(c.old.items) > 0 {
		w := c.old.items[0]
		if now-w.item.Ready < c.patience {
			return
		}
		c.old.remove(w)
		w.exit.impatient = true
		if w.exit.at == isQueued {
			c.remove(w)
			w.exit.at = isAnywhere
			c.fallback++
			c.anywhere.add(w)
		}
	}
}

func (c *lotesController) Wake() (Instant, bool) {
	if len(c.old.items) == 0 {
		return 0, false
	}
	return c.old.items[0].item.Ready + c.patience, true
}

func (c *lotesController) Placed(now Instant, handle board.Handle) {
	if w := c.items[handle]; w != nil {
		r := &c.report.Classes[0]
		r.wait(now - w.item.Ready)
		if w.exit.at == isAnywhere {
			r.Forced++
		}
	}
	c.Withdraw(handle)
}

func (c *lotesController) Refused(now Instant, handle board.Handle) {
	c.now = now
	c.refresh()
	c.refused(handle)
}

func (c *lotesController) Withdraw(handle board.Handle) {
	w := c.items[handle]
	if w == nil {
		return
	}
	if !w.exit.impatient {
		c.old.remove(w)
	}
	c.exits.Withdraw(handle)
}

func (c *lotesController) Started(now Instant, n board.Index, handle board.Handle) {
	if !c.learns {
		return
	}
	residents := c.board.Residents(n)
	for i := len(residents) - 1; i >= 0; i-- { // the last one, as a rule
		if r := &residents[i]; r.Handle == handle {
			c.ran[handle] = started{now, r.Size, r.Class}
			return
		}
	}
}

func (c *lotesController) Ended(now Instant, n board.Index, handle board.Handle) {
	if s, ok := c.ran[handle]; ok {
		c.history.Ran(c.mix, now, s.size, s.class, now-s.at, c.board.Node(n).Configuration)
		delete(c.ran, handle)
	}
}

// park in the queue of the item's class, where the plan has machines for it.
func (c *lotesController) park(w *waiting) bool {
	a := w.item.Ask
	if w.exit.impatient || len(c.classes) == 0 {
		return false
	}
	k := c.mix.Class(a)
	if !c.mix.Planned(k, least(a)) || a.Allowed != nil && !c.allowed(a, k) {
		return false
	}
	w.exit.class = k
	c.classes[k].add(w)
	return true
}

// allowed: some node that the plan has for the class may run the ask.
func (c *lotesController) allowed(a *board.Request, class int) bool {
	for i := range c.board.Len() {
		if n := board.Index(i); c.mix.Assigned(n, class) && holdsEmpty(c.board, n, a) {
			return true
		}
	}
	return false
}

func (c *lotesController) remove(w *waiting) { c.classes[w.exit.class].remove(w) }

// next: the class that the node lacks most of those the plan has for it; in its queue
// the first job that fits. The class served last stays on top until another lacks
// more. A class that the plan has not for the node is not served: it stays idle.
func (c *lotesController) next(n board.Index, turn uint64) *waiting {
	if int(n) >= c.board.Len() || !c.board.Ready(n) {
		return nil
	}
	last, served := c.last[n]
	var best *waiting
	top := 0
	for k := range c.classes {
		if len(c.classes[k].blocks) == 0 || !c.mix.Assigned(n, k) {
			continue
		}
		v := c.mix.Missing(n, k)
		if best != nil && (v < top || v == top && !(served && last == k)) {
			continue
		}
		if w := c.fitting(n, k, turn); w != nil {
			best, top = w, v
		}
	}
	if best == nil {
		delete(c.last, n)
		return nil
	}
	c.last[n] = best.exit.class
	return best
}

func (c *lotesController) fitting(n board.Index, class int, turn uint64) *waiting {
	var out *waiting
	c.classes[class].each(c.board, n, func(w *waiting) bool {
		if w.exit.turn == turn {
			return true
		}
		out = w
		return false
	})
	return out
}

// Report implements Reporter.
func (c *lotesController) Report() Report {
	out := c.report
	out.Classes = slices.Clone(out.Classes)
	plans := c.mix.Report()
	out.Plans = PlanReport{Made: plans.Plans, Failed: plans.Failed, Unplanned: plans.Unplanned, Permuted: plans.Permuted, Anywhere: c.fallback}
	return out
}
