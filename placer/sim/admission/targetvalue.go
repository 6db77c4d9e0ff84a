package admission

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var targetValueDescriptor = Descriptor{
	Name:       "target-value",
	Summary:    "stock Nomad Autoscaler: rents nodes so that a share of the CPU of those that are there is allocated; items are tried as by none",
	Paper:      "Nomad Autoscaler documentation, target-value strategy (baseline)",
	Parameters: targetValueParameters.list,
	New:        newTargetValue,
}

// The defaults of interval, cooldown and threshold are the autoscaler's own.
var targetValueParameters = parameterList{controller: "target-value", list: []Parameter{
	{Name: "target", Default: "0.7", Summary: "share of the CPU that is to be allocated"},
	{Name: "interval", Default: "10s", Summary: "between two evaluations"},
	{Name: "cooldown", Default: "5m", Summary: "without an evaluation after nodes were rented or given back"},
	{Name: "least", Default: "1", Summary: "nodes that are always rented"},
}}

// scaleThreshold is the least relative change that is acted on (threshold of target-value).
const scaleThreshold = 0.01

// targetValue is the autoscaler's strategy of that name, on whole machines: new count = count
// times allocated share over target, rounded up. Only nodes without a job are given back, as by
// its selector empty_ignore_system: the default one drains nodes, which kills their jobs (chosen
// by us, in the baseline's favour).
type targetValue struct {
	*none
	board    *board.Board
	rental   Rental // nil: nothing can be rented
	typ      string // of the nodes
	target   float64
	interval time.Duration
	cooldown time.Duration
	least    int

	rented  []board.Index // in the order in which they were
	coming  int           // of them
	running int           // allocations
	due     Instant
	report  SideReport
}

func newTargetValue(b *board.Board, o Options, random *rand.Rand) (Controller, error) {
	s, err := targetValueParameters.read(o)
	if err != nil {
		return nil, err
	}
	c := &targetValue{
		board: b, rental: o.Rental, target: s.number("target", 0), interval: s.duration("interval"), cooldown: s.duration("cooldown"),
		least: s.whole("least", 1, math.MaxInt32),
	}
	if !(c.target > 0 && c.target <= 1) {
		s.fail("target", "a share above 0, up to 1,")
	}
	if s.err != nil {
		return nil, s.err
	}
	if o.Rental != nil {
		largest, err := o.Rental.Types().Largest()
		if err != nil {
			return nil, err
		}
		c.typ = largest.Name
	}
	inner, err := newNone(b, Options{}, random)
	if err != nil {
		return nil, err
	}
	c.none = inner.(*none)
	return c, nil
}

// Next implements Controller, as do the following methods; the others are none's.
func (c *targetValue) Next(now Instant) (Attempt, bool) {
	if c.rental != nil && now >= c.due {
		c.evaluate(now)
	}
	return c.none.Next(now)
}

func (c *targetValue) Placed(now Instant, handle board.Handle) {
	if c.items[handle] != nil {
		c.report.Rented++
	}
	c.none.Placed(now, handle)
}

func (c *targetValue) Started(_ Instant, _ board.Index, _ board.Handle) { c.running++ }
func (c *targetValue) Ended(_ Instant, _ board.Index, _ board.Handle)   { c.running-- }

// Wake is for as long as something may change the number of nodes: with the least number of them,
// all there and without a job, what waits fits on none.
func (c *targetValue) Wake() (Instant, bool) {
	if c.rental == nil || c.running == 0 && c.coming == 0 && len(c.rented) <= c.least {
		return 0, false
	}
	return c.due, true
}

// Report implements Reporter.
func (c *targetValue) Report() Report { return Report{Sides: c.report} }

// evaluate changes the number of nodes, and says when it is done again.
func (c *targetValue) evaluate(now Instant) {
	c.due = now - now%c.interval + c.interval
	want := max(c.least, c.wanted())
	changed := false
	for len(c.rented) < want {
		n, ok := c.rental.Rent(now, c.typ)
		if !ok {
			break
		}
		c.rented = append(c.rented, n)
		c.coming++
		changed = true
	}
	for i := len(c.rented) - 1; i >= 0 && len(c.rented) > want; i-- {
		if n := c.rented[i]; c.board.Ready(n) && len(c.board.Residents(n)) == 0 {
			c.board.SetReady(n, false) // it takes nothing more from this moment on
			c.rental.Return(now, n)
			c.rented = append(c.rented[:i], c.rented[i+1:]...)
			c.report.Released++
			changed = true
		}
	}
	if changed {
		c.due = now + c.cooldown
	}
}

// wanted is the number of nodes by the metric of those that are there.
func (c *targetValue) wanted() int {
	used, total := 0, 0
	c.coming = 0
	for _, n := range c.rented {
		if !c.board.Ready(n) {
			c.coming++
			continue
		}
		node := c.board.Node(n)
		used += c.board.Used(n).Megahertz(node.CoreMHz)
		total += node.Total.CPUMHz
	}
	if total == 0 { // there is no metric
		return len(c.rented)
	}
	factor := float64(used) / float64(total) / c.target
	if math.Abs(factor-1) < scaleThreshold {
		return len(c.rented)
	}
	return int(math.Ceil(float64(len(c.rented)) * factor))
}
