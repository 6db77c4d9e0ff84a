package board

import (
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Request is what is to be placed, as far as a policy may know it: estimates of
// classifiers, never the truth. Performance is in one unit of the caller's
// choice, the same throughout a request.
type Request struct {
	Handle   Handle
	Size     cluster.Resources // of one allocation, where the policy does not size
	Count    int               // allocations wanted, where the policy does not size; ≥ 1
	Priority int
	// Tolerated and Caused are by column, percent, without NaN.
	Tolerated, Caused []float64
	// AtBound is what it tolerates at the QoS bound, from which its performance is
	// predicted, where Tolerated is what it tolerates at its target; nil: the same.
	AtBound []float64
	// RequiredFraction is the share of its performance in isolation that must be left to an allocation;
	// nil: unknown.
	RequiredFraction *float64
	// Tolerances are Tolerated and RequiredFraction by configuration, where they differ; nil: they do
	// not.
	Tolerances []Tolerance
	// Speed is the performance in isolation of one allocation of Size by configuration;
	// NaN is unknown. Nil: nothing is known.
	Speed []float64
	// Target is the performance the whole group must reach; 0 is none.
	Target float64
	// Sizes are the sizes a policy may choose from, ascending, with the
	// performance of each relative to Size; nil: Size is given.
	Sizes []SizeOption
	// ScaleOut[n-1] is the performance of n allocations relative to one; nil:
	// Count is given. Beyond its end, the last gain goes on.
	ScaleOut []float64
	// Class is the job class its user declared, from 1; 0 is none.
	Class int
	// Disk is what each allocation asks for of its node's disk; nil: nothing.
	Disk *performance.DiskSpec
	// Only lists the nodes that Allowed lets through, where they are few: a policy
	// with an index need not look for them.
	Only []Index
	// Response predicts how it does with co-runners; nil: only the scores say.
	Response Response
	// Allowed reports whether the user's own constraints let a node run it; nil
	// allows all.
	Allowed func(n Index) bool
	// Expected is how long it runs in isolation on the best configuration; 0 unknown.
	Expected   time.Duration
	BestEffort bool
	Gang       bool // all allocations or none
	// Finish is when each allocation must have done how much; nil: at no time.
	Finish *Finish
	// Late asks for late binding: where the nodes that would suit are busy, the
	// choice names two of them to wait at (admission.Attempt.Late).
	Late bool
	// Forced is the last chance: whatever has room is taken, whichever bounds break
	// and however far from the target (admission.Attempt.Forced).
	Forced bool
	// SlowdownMax is the loss that still counts as good, a share; 0.05 by default.
	SlowdownMax float64
}

// Tolerance is the pressure under which an allocation keeps its target, on nodes of one
// configuration.
type Tolerance struct {
	Tolerated        []float64 // by column, percent
	RequiredFraction *float64  // share of its performance in isolation there; nil unknown
	LateShare        float64   // of its requests that may be late; 0: its target has no such bound
	DemandFactor     float64   // how many times what it causes it takes there of CPU time; 0 is 1
	RunMS            float64   // how long it runs at a time on a CPU, milliseconds; 0 is not known
}

// RequiresMore reports whether a larger share is known to be needed than of another.
func (s Tolerance) RequiresMore(than Tolerance) bool {
	return s.RequiredFraction != nil && (than.RequiredFraction == nil || *s.RequiredFraction > *than.RequiredFraction)
}

// ToleranceOn is what an allocation tolerates on a node of the board's configuration.
func (a *Request) ToleranceOn(configuration int) Tolerance {
	if configuration < len(a.Tolerances) {
		return a.Tolerances[configuration]
	}
	return Tolerance{Tolerated: a.Tolerated, RequiredFraction: a.RequiredFraction}
}

// ToleranceOf is what a group tolerates where it was placed: as its allocation of which the
// target needs most.
func (a *Request) ToleranceOf(b *Board, replicas []Replica) Tolerance {
	most := Tolerance{Tolerated: a.Tolerated, RequiredFraction: a.RequiredFraction}
	for i, u := range replicas {
		if s := a.ToleranceOn(b.Node(u.Node).Configuration); i == 0 || s.RequiresMore(most) {
			most = s
		}
	}
	return most
}

// Curve is what predictions of its performance start from.
func (a *Request) Curve() []float64 {
	if a.AtBound != nil {
		return a.AtBound
	}
	return a.Tolerated
}

// Response predicts how an allocation does with co-runners. It is comparable: two
// that are equal predict the same.
type Response interface {
	// Runtime in seconds, and IOPS, where the caused scores of its co-runners add up to
	// caused, by column; nil is in isolation.
	Runtime(caused []float64) float64
	IOPS(caused []float64) float64
}

// Finish is work bound by cpu that must end in time. Size is what it can use at most.
type Finish struct {
	Work float64       // of one allocation: cpu MHz times seconds, in isolation
	In   time.Duration // from now
}

// SizeOption is one size of an allocation.
type SizeOption struct {
	Size  cluster.Resources
	Speed float64 // relative to Request.Size
}

// Replica is one allocation of a choice.
type Replica struct {
	Node      Index
	Size      cluster.Resources
	Predicted float64 // performance of this allocation; NaN unknown
}

// Choice is a policy's answer. Without replicas nothing can be placed now.
type Choice struct {
	Replicas []Replica
	// Reaches reports that the predicted performance meets the target, or that
	// there is none.
	Reaches bool
	// Bind lists nodes at which the request waits for whichever has room first (late
	// binding); empty where Replicas is not.
	Bind []Index
	// Evict lists best-effort residents that must leave first.
	Evict []Eviction

	Examined   int // nodes looked at
	Relaxed    []cluster.Relaxation
	Backtracks int
	TimedOut   bool
	// Indexed and Scanned are how many replicas were found through an index of the
	// policy's, and by looking at every node after the index had found none; Scans is
	// how often that was done.
	Indexed, Scanned, Scans int
}

// Eviction is a resident that must leave.
type Eviction struct {
	Node   Index
	Handle Handle
}

// Selector chooses nodes on one board. It may keep indexes of that board, and is
// pure apart from those: the same board, ask and random numbers give the same
// choice. It does not change the board.
type Selector interface {
	Select(b *Board, a *Request, random *rand.Rand) Choice
}

// DecisionTime is the time a choice takes in the simulated world, by the
// policy's own published or stated cost model. A selector without one decides
// in no time.
type DecisionTime interface {
	DecisionTime(b *Board, a *Request, c Choice) time.Duration
}
