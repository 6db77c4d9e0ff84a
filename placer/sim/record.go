package sim

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Outcome is how a job ended.
type Outcome uint8

// The outcomes.
const (
	Unfinished Outcome = iota // still there when the run ended
	Done
	Killed // memory was exhausted: it never ends
	Refused
	Late // its deadline came first
)

// QoS is the share of its ideal that a workload keeps within its bound, and the share
// of its load that a service must serve: 5 % may be lost (Delimitrou 2015, §3.3.2).
const QoS = 1 - performance.DefaultSlowdownMaxPercent/100

// Never is the instant of something that did not happen.
const Never Instant = -1

// Record is what became of one job.
type Record struct {
	Number   int32
	Class    int16
	Outcome  Outcome
	Shape    Shape
	Restarts uint8
	Priority int16
	Targeted bool
	// Best reports that it first ran on one of the configurations on which it is
	// truly within 1 % of its best.
	Best bool

	Arrived, Ready, Started, Ended Instant
	Ideal                          time.Duration
	Deciding                       time.Duration // all its decisions
	// Interference and Platform are the means over its run of the share of speed
	// that co-runners left, and that its configurations give relative to the best.
	Interference, Platform float32
	// Served is the mean share of a service's load that was served, InBound the
	// share of its life in which all but 5 % was.
	Served, InBound float32
	Cores           float32 // it was given at first
	IOPS            float32 // mean over its run, where the truth knows of requests to the disk
	Tail            float32 // mean over a service's life of its tail latency, relative to isolation (tailOf)
	Node            int32   // it first ran on, by its index
	Rented          bool    // it first ran on a rented node
	Relaxed         int16   // sources in which its placement broke a bound
}

// Performance is its speed relative to the ideal while it ran, or the share of
// its load that a service served; 0 where it did not end.
func (r *Record) Performance() float64 {
	if r.Outcome != Done {
		return 0
	}
	if r.Shape == Service {
		return float64(r.Served)
	}
	return ratio(r.Ideal, r.Ended-r.Started)
}

// WithWait is the same from submission on.
func (r *Record) WithWait() float64 {
	if r.Outcome != Done {
		return 0
	}
	if r.Shape == Service {
		return float64(r.Served) * ratio(r.Ideal, r.Ended-r.Arrived)
	}
	return ratio(r.Ideal, r.Ended-r.Arrived)
}

// Relative is its performance relative to isolation, from submission on, at most 1 (Delimitrou 2015,
// §8.2): of batch work the ideal over the real time to completion, of a service one over the factor on
// its tail latency, times the share of its stay in which it ran; 0 where it did not end.
func (r *Record) Relative() float64 {
	if r.Outcome != Done {
		return 0
	}
	if r.Shape != Service {
		return min(1, r.WithWait())
	}
	if r.Tail <= 0 || r.Ended <= r.Arrived {
		return 0
	}
	return min(1, float64(r.Ideal)/float64(r.Ended-r.Arrived)) / max(1, float64(r.Tail))
}

// Wait is how long it was ready and not running before it first started.
func (r *Record) Wait() time.Duration {
	if r.Started < 0 || r.Ready < 0 {
		return 0
	}
	return max(0, r.Started-r.Ready)
}

func ratio(ideal, real time.Duration) float64 {
	if real <= 0 {
		return 1
	}
	return float64(ideal) / float64(real)
}

// Counters count what happened in a run.
type Counters struct {
	Jobs           int   `json:"jobs"`
	Events         int   `json:"events"`
	Stale          int   `json:"stale_events"`
	Decisions      int   `json:"decisions"`
	Placements     int   `json:"placements"`
	NoRoom         int   `json:"no_room"`
	Conflicts      int   `json:"plan_refusals"` // another decision took the room
	Relaxed        int   `json:"relaxed"`
	RelaxedSeveral int   `json:"relaxed_several"` // in more than one source
	TimedOut       int   `json:"timed_out"`
	Bound          int   `json:"bound_late"`
	Evictions      int   `json:"evictions"`
	Killed         int   `json:"killed"`
	Restarts       int   `json:"restarts"`
	NodesLost      int   `json:"nodes_lost"`
	Resizes        int   `json:"resizes"`
	Grown          int   `json:"grown"`
	Shrunk         int   `json:"shrunk"`
	Moves          int   `json:"moves"`
	Reclassified   int   `json:"reclassified"`
	Closed         int   `json:"nodes_closed"`
	Indexed        int   `json:"found_by_index"`  // allocations, of policies that have one
	Scanned        int   `json:"found_by_scan"`   // allocations that the index had missed
	Scans          int   `json:"scans"`           // looks at every node after the index had found none
	Late           int   `json:"late"`            // jobs taken away at their deadline
	Migrations     int   `json:"migrations"`      // of tasks with a deadline
	Unheard        int   `json:"unheard_samples"` // of meters, that could not be used
	Examined       int64 `json:"nodes_examined"`
}

// Sample is the cluster at a moment, in cores.
type Sample struct {
	At                        Instant
	Used, Allocated, Reserved float64
	Running, Waiting          int
	Units                     int // allocations that run
	// OwnedUsed and OwnedAllocated are of nodes that are not rented, RentedNodes how many of the
	// others there are; of runs with a Fleet.
	OwnedUsed, OwnedAllocated float64
	RentedNodes               int
}

// Result is a run.
type Result struct {
	Records  []Record // by number
	Counters Counters
	Samples  []Sample
	// Heat is the used share of each node's cores, a row per sample; with a Fleet of the owned ones.
	Heat     [][]float32
	Cores    float64 // of the cluster; with a Fleet those that are owned, and the mean of those rented
	End      Instant // of the last job
	Deciding []time.Duration
	// Work is what completed jobs did, cpu MHz times seconds alone; of jobs with a
	// deadline.
	Work     float64
	Slowdown Slowdowns
	// Provision is of runs with a Fleet; nil: nothing could be rented.
	Provision *Provision
}

// Provision is which nodes there were in a run, and why.
type Provision struct {
	OwnedCores float64
	Rented     []fleet.Rented       // by when they were asked for
	Sides      admission.SideReport // of a controller that keeps account
	// Prices and MinimumBilled are for whoever reports costs; a run does not depend on them.
	Prices        provision.Prices
	MinimumBilled time.Duration
	Discounts     []provision.Discount // of sustained use
}

// Slowdowns are sums over the windows of tasks whose slowdown is estimated.
type Slowdowns struct {
	Windows                int
	True, Estimated, Error float64 // Error is of |true − estimated|
}

// Add sums counters of several runs.
func (c *Counters) Add(o Counters) {
	for _, p := range [][2]*int{
		{&c.Jobs, &o.Jobs}, {&c.Events, &o.Events}, {&c.Stale, &o.Stale}, {&c.Decisions, &o.Decisions}, {&c.Placements, &o.Placements},
		{&c.NoRoom, &o.NoRoom}, {&c.Conflicts, &o.Conflicts}, {&c.Relaxed, &o.Relaxed}, {&c.RelaxedSeveral, &o.RelaxedSeveral},
		{&c.TimedOut, &o.TimedOut}, {&c.Bound, &o.Bound}, {&c.Evictions, &o.Evictions}, {&c.Killed, &o.Killed}, {&c.Restarts, &o.Restarts},
		{&c.NodesLost, &o.NodesLost}, {&c.Resizes, &o.Resizes}, {&c.Grown, &o.Grown}, {&c.Shrunk, &o.Shrunk}, {&c.Moves, &o.Moves},
		{&c.Indexed, &o.Indexed}, {&c.Scanned, &o.Scanned}, {&c.Scans, &o.Scans},
		{&c.Reclassified, &o.Reclassified}, {&c.Closed, &o.Closed}, {&c.Late, &o.Late}, {&c.Migrations, &o.Migrations}, {&c.Unheard, &o.Unheard},
	} {
		*p[0] += *p[1]
	}
	c.Examined += o.Examined
}
