package admissiontest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Job is one item of a scenario.
type Job struct {
	At        time.Duration // submitted
	Profile   time.Duration // Ready is so much later
	Duration  time.Duration // it runs, wherever it is put
	Withdrawn time.Duration // taken back so long after it was ready; 0 is never
	Ask       board.Request // without Ref, which is the job's index + 1
}

// Outage takes a node away for a while.
type Outage struct {
	Node     board.Index
	At, Back time.Duration
}

// Scenario is played on a board of its own.
type Scenario struct {
	Columns []string
	Nodes   []board.Node
	// Configurations names as many as Nodes speak of; nil is one.
	Configurations []string
	Jobs           []Job
	Outages        []Outage
	Options        admission.Options
	Seed           uint64
	// DecisionTime passes between an attempt and its result; with Agents of them
	// at a time (0 is one).
	DecisionTime time.Duration
	Agents       int
	Until        time.Duration // the end; 0 is when nothing happens any more

	// Offered is called for every attempt, and Quiet whenever nothing more may be
	// tried, with the jobs that wait; each may be nil.
	Offered func(now time.Duration, b *board.Board, a admission.Attempt)
	Quiet   func(now time.Duration, b *board.Board, waiting []int)
}

// Outcome is what became of one job.
type Outcome struct {
	Placed   bool
	At       time.Duration
	Node     board.Index
	Forced   bool
	Late     bool
	Attempts int
}

// Result is a scenario played.
type Result struct {
	Outcomes   []Outcome
	Log        []string // attempts and their results, in order
	Attempts   int
	Board      *board.Board
	Controller admission.Controller
}

// Play runs a scenario, and fails the test where the controller breaks its
// contract.
func Play(t testing.TB, d admission.Descriptor, s Scenario) Result {
	t.Helper()
	b := Board(s)
	random := rand.New(rand.NewPCG(s.Seed, 1))
	c, err := d.New(b, s.Options, random)
	if err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	p := &player{
		t: t, Scenario: s, board: b, controller: c, jobs: make([]jobState, len(s.Jobs)), asks: make([]board.Request, len(s.Jobs)),
		result: Result{Outcomes: make([]Outcome, len(s.Jobs)), Board: b, Controller: c},
	}
	p.play()
	return p.result
}

// Board builds the scenario's board.
func Board(s Scenario) *board.Board {
	columns := make([]interference.Source, len(s.Columns))
	for k, name := range s.Columns {
		columns[k] = interference.Source(name)
	}
	configurations := s.Configurations
	if configurations == nil {
		configurations = []string{"one"}
	}
	b := board.New(columns, configurations)
	for _, n := range s.Nodes {
		b.Add(n)
	}
	return b
}

func (p *player) logf(format string, arguments ...any) {
	p.result.Log = append(p.result.Log, fmt.Sprintf("%v ", p.now)+fmt.Sprintf(format, arguments...))
}

type jobState uint8

const (
	unknown jobState = iota
	held
	flying
	running
	gone
)

type event struct {
	at   time.Duration
	what func()
}

type player struct {
	Scenario
	t          testing.TB
	board      *board.Board
	controller admission.Controller
	asks       []board.Request
	jobs       []jobState
	events     []event // sorted by time, stable
	now        time.Duration
	busy       int // agents
	result     Result
}

// after puts an event into the calendar.
func (p *player) after(at time.Duration, what func()) {
	i, _ := slices.BinarySearchFunc(p.events, at, func(e event, at time.Duration) int {
		if e.at <= at {
			return -1
		}
		return 1
	})
	p.events = slices.Insert(p.events, i, event{at, what})
}

func (p *player) play() {
	p.t.Helper()
	for i := range p.Jobs {
		p.asks[i] = p.Jobs[i].Ask
		p.asks[i].Handle = board.Handle(i + 1)
		p.asks[i].Count = max(1, p.asks[i].Count)
		p.after(p.Jobs[i].At+p.Jobs[i].Profile, func() { p.arrive(i) })
	}
	for _, o := range p.Outages {
		p.after(o.At, func() { p.board.SetReady(o.Node, false) })
		p.after(o.Back, func() { p.board.SetReady(o.Node, true) })
	}
	for len(p.events) > 0 {
		e := p.events[0]
		if p.Until > 0 && e.at > p.Until {
			break
		}
		p.events = p.events[1:]
		p.now = e.at
		e.what()
		if len(p.events) == 0 || p.events[0].at > p.now {
			p.offer()
		}
	}
	p.count()
}

func (p *player) arrive(i int) {
	j := &p.Jobs[i]
	p.jobs[i] = held
	p.controller.Arrive(p.now, admission.Item{Ask: &p.asks[i], Arrived: j.At, Ready: p.now, Profile: j.Profile})
	if j.Withdrawn > 0 {
		p.after(p.now+j.Withdrawn, func() {
			if p.jobs[i] == held || p.jobs[i] == flying {
				p.jobs[i] = gone
				p.controller.Withdraw(board.Handle(i + 1))
			}
		})
	}
}

// offer asks until the controller answers no.
func (p *player) offer() {
	p.t.Helper()
	most := 200 * (len(p.Jobs) + p.board.Len() + 1)
	for tries := 0; p.busy < max(1, p.Agents); tries++ {
		if tries > most {
			p.t.Fatalf("%v: %d attempts at one moment", p.now, tries)
		}
		a, ok := p.controller.Next(p.now)
		if !ok {
			break
		}
		p.try(a)
	}
	if p.Quiet != nil && p.busy == 0 {
		p.Quiet(p.now, p.board, p.waiting())
	}
	if at, ok := p.controller.Wake(); ok && p.busy == 0 {
		if at <= p.now {
			p.t.Fatalf("%v: wakes at %v, which is not later", p.now, at)
		}
		if !slices.ContainsFunc(p.events, func(e event) bool { return e.at == at }) {
			p.after(at, func() {})
		}
	}
}

func (p *player) waiting() []int {
	var out []int
	for i, s := range p.jobs {
		if s == held {
			out = append(out, i)
		}
	}
	return out
}

func (p *player) try(a admission.Attempt) {
	p.t.Helper()
	i := int(a.Item.Ask.Handle) - 1
	if p.jobs[i] != held {
		p.t.Fatalf("%v: job %d is offered in state %d", p.now, i, p.jobs[i])
	}
	p.jobs[i] = flying
	if p.Offered != nil {
		p.Offered(p.now, p.board, a)
	}
	p.result.Attempts++
	p.result.Outcomes[i].Attempts++
	if p.DecisionTime == 0 {
		p.commit(a, i)
		return
	}
	p.busy++
	p.after(p.now+p.DecisionTime, func() {
		p.busy--
		p.commit(a, i)
	})
}

// commit chooses the first nodes that have room, or refuses.
func (p *player) commit(a admission.Attempt, i int) {
	ask := &p.asks[i]
	if p.jobs[i] == gone {
		p.controller.Refused(p.now, ask.Handle)
		return
	}
	var nodes []board.Index
	for n := range board.Index(p.board.Len()) {
		if a.Within != nil && !a.Within(n) || ask.Allowed != nil && !ask.Allowed(n) {
			continue
		}
		for range p.board.Room(n, ask.Size, ask.Count-len(nodes)) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) < ask.Count {
		p.jobs[i] = held
		p.logf("job %d refused", i)
		p.controller.Refused(p.now, ask.Handle)
		return
	}
	p.jobs[i] = running
	o := &p.result.Outcomes[i]
	o.Placed, o.At, o.Node, o.Forced, o.Late = true, p.now, nodes[0], a.Forced, a.Late
	p.logf("job %d on %v", i, nodes)
	p.start(i, nodes)
	p.controller.Placed(p.now, ask.Handle)
}

func (p *player) start(i int, nodes []board.Index) {
	ask := &p.asks[i]
	r := board.Resident{Handle: ask.Handle, Size: ask.Size, Tolerated: p.full(ask.Tolerated, 100), Caused: p.full(ask.Caused, 0)}
	for _, n := range nodes {
		p.board.Place(n, r)
		p.controller.Started(p.now, n, ask.Handle)
	}
	p.after(p.now+p.Jobs[i].Duration, func() {
		for _, n := range nodes {
			if err := p.board.Remove(n, ask.Handle); err != nil {
				p.t.Fatal(err)
			}
			p.controller.Ended(p.now, n, ask.Handle)
		}
	})
}

// full is a vector of the board's length.
func (p *player) full(v []float64, fallback float64) []float64 {
	if v != nil {
		return v
	}
	out := make([]float64, len(p.board.Columns))
	for k := range out {
		out[k] = fallback
	}
	return out
}

// count: nothing is lost, nothing is held twice.
func (p *player) count() {
	p.t.Helper()
	waiting := 0
	for _, s := range p.jobs {
		if s == held || s == flying {
			waiting++
		}
	}
	if got := p.controller.Waiting(); got != waiting {
		p.t.Errorf("%d items wait, the controller says %d", waiting, got)
	}
}
