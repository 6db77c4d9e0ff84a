package sim

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Instant is a moment as the time since the start of the world.
type Instant = time.Duration

// Shape is how the allocations of a job work together.
type Shape uint8

// The shapes.
const (
	Batch   Shape = iota // together on one piece of work
	Tasks                // each on a piece of its own
	Service              // together, for a time, against an offered load
)

// Job is one submission.
type Job struct {
	Number int // in the order of submission, from 0: its identity
	At     Instant
	// App is what really happens; nil: it runs for Duration wherever it is.
	App   *truth.Application
	Shape Shape
	// Class is an index of Config.Classes.
	Class int
	// Duration is how long it runs when everything is as good as it can be: batch
	// work at its target, or alone on the best configuration; a service's life.
	Duration time.Duration
	// Size and Count are what its user asks for.
	Size     cluster.Resources
	Count    int
	Priority int
	// Target is the performance the group must reach, of a service at load 1; 0
	// is none.
	Target     float64
	BestEffort bool
	Gang       bool
	Sized      bool // the policy chooses size and count
	Declared   int  // the job class its user states, from 1; 0 is none
	Load       Load
	// Deadline is how long after its submission it must have ended: what has not is
	// taken away. Its tasks then hold caps, and an adapter sees them. 0 is none.
	Deadline time.Duration
	MoveTime time.Duration // of one of its tasks, without work; with Deadline only
}

// Best is the speed of its application alone on the best configuration that can
// hold an allocation, and which that is: the ideal it is measured by. Work whose
// size is a policy's choice is held by its application's own size.
func (j *Job) Best(machines []truth.Machine) (configuration int, value float64) {
	cores, memoryMB := coresOf(j.Size), float64(j.Size.MemoryMB)
	if j.Target > 0 {
		cores, memoryMB = j.App.Cores, j.App.MemoryMB
	}
	return j.App.Best(func(c int) bool { return c < len(machines) && machines[c].Holds(cores, memoryMB) })
}

// Load is how the offered load of a service goes, relative to its nominal one.
type Load struct {
	Swing             float64       // amplitude of a sine around 1; 0 is flat
	Period            time.Duration // of the sine
	Shift             time.Duration
	Spike             float64 // added between SpikeAt and SpikeEnd
	SpikeAt, SpikeEnd time.Duration
}

// At is the load some time after the service started.
func (l *Load) At(t time.Duration) float64 {
	v := 1.0
	if l.Swing > 0 && l.Period > 0 {
		v += l.Swing * math.Sin(2*math.Pi*(t+l.Shift).Seconds()/l.Period.Seconds())
	}
	if t >= l.SpikeAt && t < l.SpikeEnd {
		v += l.Spike
	}
	return max(0.05, v)
}

// varies reports whether the load ever changes.
func (l *Load) varies() bool { return l.Swing > 0 || l.Spike != 0 }

// Source gives the jobs in order of submission. False is the end.
type Source interface {
	Next() (Job, bool, error)
}

// List is a source of jobs that are all there.
type List struct {
	Jobs []Job
	next int
}

// Next implements Source.
func (l *List) Next() (Job, bool, error) {
	if l.next >= len(l.Jobs) {
		return Job{}, false, nil
	}
	l.next++
	return l.Jobs[l.next-1], true, nil
}

// Estimate is what classification says of a job. Slices are shared and not
// written to.
type Estimate struct {
	Tolerated, Caused []float64         // by column, percent
	AtBound           []float64         // see board.Ask
	Tolerances        []board.Tolerance // see board.Ask
	Speed             []float64         // of one allocation of the job's size, by configuration; nil unknown
	Sizes             []board.SizeOption
	ScaleOut          []float64
	Response          board.Response // nil: only the scores say
	Expected          time.Duration  // on the best configuration, alone; 0 unknown
	Profiled          bool           // a profiling run was needed
}

// Estimator answers what is known of a job when it was profiled in a phase, and so many
// times again in the same one. The answer depends on nothing else, not on when it is
// asked.
type Estimator interface {
	Know(j *Job, phase, again int) (Estimate, error)
}

// Assumer is an estimator that says what is expected of a job of which nothing was measured.
type Assumer interface {
	Assume(j *Job, phase int) (Estimate, error)
}

// NodeChange is a node that is lost or comes back.
type NodeChange struct {
	At    Instant
	Node  board.Index
	Ready bool
}
