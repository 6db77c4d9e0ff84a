package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Config is one run.
type Config struct {
	Board      *board.Board // with all its nodes, without residents
	Truth      truth.World  // nil where no job has an application
	Jobs       Source
	Estimator  Estimator // nil: nothing is known
	Selector   board.Selector
	Controller admission.Controller
	Adapter    adapt.Adapter // nil: nothing is adapted
	Window     time.Duration // of the adapter; 0 is 10 s
	Meter      Meter         // of the slowdown of tasks with a deadline
	Seed       uint64

	// ProfileTime is what profiling and classifying a job takes, where its
	// estimate says that it was profiled. At most LabSlots run at once; 0 is no
	// limit.
	ProfileTime time.Duration
	LabSlots    int
	// StartBelow is the share of the cluster's cores that is asked for below which a job does
	// not wait for its profile where no job that is there has a target: it starts by what is
	// known of others, and is profiled where it runs. 0: each waits.
	StartBelow float64
	// Recurring: a job of an application that was profiled before is known.
	Recurring bool
	// Agents decide side by side; 0 is 1.
	Agents int
	// Instant decisions take no time, whatever the selector's cost model says.
	Instant bool
	// DecisionTime is what each takes, in place of the selector's cost model; 0: as that says.
	DecisionTime time.Duration
	// RestartTime and MoveTime pass without work after an allocation was started
	// again, or moved.
	RestartTime, MoveTime time.Duration
	// Nodes are those that come and go, in order of time.
	Nodes []NodeChange
	// Fleet are nodes that the controller rents; nil: none.
	Fleet Fleet
	// Limit ends the run; 0 is when everything has ended.
	Limit Instant
	// SampleEvery is how often utilisation is read at first; 0 is a minute.
	SampleEvery time.Duration
	// LoadEvery is how often the load of services changes; 0 is a minute.
	LoadEvery time.Duration
	// Expect is the number of jobs, where it is known: of the progress.
	Expect int
	// Progress is called now and then; may be nil.
	Progress func(ended, expected int, now Instant)
}

// Fleet is the provider of nodes that are rented while a run goes on. What the controller asks it
// for happens through it.
type Fleet interface {
	// Next is when something happens to its nodes by itself.
	Next() (Instant, bool)
	// Advance returns what happened until a moment.
	Advance(now Instant) []fleet.Event
	// Ready reports whether a node is rented and has started.
	Ready(n board.Index) bool
	// Outside is what others run on the machine of a node.
	Outside(n board.Index) []truth.Placed
	// Rents reports whether a node is one of the provider's; the others are owned.
	Rents(n board.Index) bool
	// History is every node that was rented, by when it was asked for.
	History() []fleet.Rented
}

// maxReplicaBits bounds the allocations of one workload: its handles are a row of
// that length.
const maxReplicaBits = 20

// Errors of a run.
var (
	ErrConfig = errors.New("sim: the run cannot be made")
	ErrSpins  = errors.New("sim: the admission controller keeps offering what was refused")
	ErrOrder  = errors.New("sim: a job was submitted before the one in front of it")
)

func (c *Config) check() error {
	switch {
	case c.Board == nil || c.Jobs == nil || c.Selector == nil || c.Controller == nil:
		return fmt.Errorf("%w: board, jobs, selector and controller are needed", ErrConfig)
	case c.Board.Len() == 0:
		return fmt.Errorf("%w: the board has no nodes", ErrConfig)
	case c.ProfileTime < 0 || c.RestartTime < 0 || c.MoveTime < 0 || c.Limit < 0:
		return fmt.Errorf("%w: times must not be negative", ErrConfig)
	}
	for _, n := range c.Nodes {
		if int(n.Node) < 0 || int(n.Node) >= c.Board.Len() {
			return fmt.Errorf("%w: no node %d to lose or return", ErrConfig, n.Node)
		}
	}
	return nil
}

func (c *Config) defaults() {
	c.Agents = max(1, c.Agents)
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{{&c.Window, 10 * time.Second}, {&c.SampleEvery, time.Minute}, {&c.LoadEvery, time.Minute}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
}
