package adapt

import (
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Instant is a moment as the time since the start of the world.
type Instant = time.Duration

// Replica is one running allocation of a workload.
type Replica struct {
	Handle      board.Handle
	Node        board.Index
	Size        cluster.Resources
	Performance float64 // in the last window; NaN unknown
	Task        *Task   // nil: it has no cap of its own, or nothing to end
}

// Task is an allocation bound by cpu that holds a cap and must end in time. Work is
// cpu MHz times seconds, alone.
type Task struct {
	Work              float64 // from its start
	FullMHz           float64 // the most it can use
	Started, Deadline Instant
	MoveTime          time.Duration // without work, where it is moved
	Moving            bool          // it is being moved now
	Slowdown          float64       // as the meter sees it: 0.5 is half as long again; NaN: it says nothing
}

// Finish is when the work of a whole workload must have ended. Work is in the unit of
// its performance.
type Finish struct {
	Work              float64
	Done              float64 // of it, when it was measured; NaN unknown
	Started, Deadline Instant
}

// Observation is one running workload as its probe saw it in the last window.
type Observation struct {
	Handle      board.Handle
	Performance float64 // of the whole workload, in the unit of its target; NaN unknown
	Target      float64 // what it must reach now; 0 is none
	Replicas    []Replica
	Sizes       []board.SizeOption // it may be given, ascending; nil: it is not resized
	Speed       []float64          // estimated, by configuration; nil unknown
	Priority    int
	BestEffort  bool
	Scales      bool    // more allocations help, or more for each
	Transferred bool    // a unit could do without something that is transferred to it
	Finish      *Finish // nil: it ends at no time, or its units have tasks
	// Left is how long it is expected to run on, at its speed in isolation on the best
	// configuration; 0 unknown.
	Left time.Duration
}

// Kind is what an action does.
type Kind string

// The kinds of action, cheapest first.
const (
	Close      Kind = "close"      // the node takes no more allocations
	Open       Kind = "open"       // it does again
	Reclassify Kind = "reclassify" // profile it again, where it is
	Resize     Kind = "resize"     // change one allocation in place
	Evict      Kind = "evict"      // a best-effort allocation leaves
	Shrink     Kind = "shrink"     // one allocation fewer
	Grow       Kind = "grow"       // allocations more
	Relaunch   Kind = "relaunch"   // a straggling allocation starts elsewhere
	Move       Kind = "move"       // the workload starts elsewhere
	Migrate    Kind = "migrate"    // one allocation goes on, on a node that is named, at a size
)

// Action is one change; which fields count follows from its kind.
type Action struct {
	Kind   Kind
	Handle board.Handle      // of the workload, or of the allocation (Resize, Evict, Shrink, Relaunch, Migrate)
	Node   board.Index       // Close, Open, Resize, Evict, Shrink, Relaunch, Migrate: where it is
	To     board.Index       // Migrate
	Size   cluster.Resources // Resize, Migrate
	Count  int               // Grow
	For    board.Handle      // Evict: the workload that is helped
	Reason string
}

// Adapter corrects placements by what workloads reach. It is pure apart from
// the windows it remembers, and used by one goroutine.
type Adapter interface {
	// Step looks at one window of every running workload, in the order of their
	// handles. The board is not changed.
	Step(now Instant, b *board.Board, windows []Observation, random *rand.Rand) []Action
	// Forget is called when a workload ended.
	Forget(handle board.Handle)
}

// Estimator is an adapter that estimates slowdowns: a world puts them on its board,
// for the next placement.
type Estimator interface {
	// Slowdown of a running allocation; false where none is known.
	Slowdown(handle board.Handle) (float64, bool)
	// Unheard counts the samples of meters that could not be used.
	Unheard() int
}

// Options are the thresholds; Defaults has the stated ones.
type Options struct {
	Window time.Duration
	// Below is the share of the target under which a window is bad.
	Below         float64
	Windows       int     // consecutive bad windows before anything is done
	Above         float64 // share of the target above which a window is wasteful
	WastefulAfter int     // consecutive wasteful windows before it gives back
	ProbeEvery    time.Duration
	ProbeShare    float64 // of the active workloads, sampled each time
	Straggler     float64 // share slower than the median of its group
	Quiet         time.Duration
	MaxCores      float64       // of one workload: the cost cap; 0 is none
	Moves         bool          // a workload may be moved
	MoveTime      time.Duration // that passes without work where one is; 0 is half a minute
	YieldFirst    bool          // best-effort co-runners leave before anything else is tried
	Detector      string        // of placer/predict/deadline; empty is its default
}

// Defaults are those of Delimitrou 2015, §4.3.4 with the readings of the text: a target
// missed in three windows of 10 s, above 120 % for ten, 20 % sampled every 10 minutes,
// stragglers 50 % slower than the median. The text does not say when a target is missed:
// it is when performance.Target.Met says so. A workload rests for a minute after a change
// (chosen by us).
func Defaults() Options {
	return Options{
		Window: 10 * time.Second, Below: 1 - performance.RateTolerance, Windows: 3, Above: 1.2, WastefulAfter: 10,
		ProbeEvery: 10 * time.Minute, ProbeShare: 0.2, Straggler: 0.5, Quiet: time.Minute,
	}
}

// Descriptor is one line of the table of adapters.
type Descriptor struct {
	Name    string
	Summary string
	Paper   string
	New     func(o Options) Adapter
}
