package cluster

import (
	"context"
	"errors"
	"time"
)

// Why a running workload was not changed.
var (
	// ErrYields: the group has an autoscaler, which the placer must not work against.
	ErrYields = errors.New("the group has a scaling block of its own")
	// ErrBusy: a deployment of the job is under way; what is measured now is in flux.
	ErrBusy = errors.New("a deployment of the job is under way")
	// ErrImpossible: this world has no way to do that.
	ErrImpossible = errors.New("not possible here")
)

// Bounds say what may be changed of a running workload.
type Bounds struct {
	ModifyIndex uint64 // of the job they were read from
	Count       int
	Scaled      bool     // the group has a scaling block of its own
	Bound       bool     // it is bound to a shortlist of ours
	Shortlist   []NodeID // where it is bound; none: it waits
}

// Change is a change of one group of a running job.
type Change struct {
	Workload    WorkloadID
	ModifyIndex uint64 // the version decided on; a newer one wins
	Count       int    // allocations it is to have; 0: as it has
	// Rebind writes Nodes as the group's shortlist, best first. Allocations on other
	// nodes are replaced, by the group's own update rules. With none it waits.
	Rebind  bool
	Nodes   []Candidate
	Anyway  bool   // also while a deployment of the job is under way
	Message string // one sentence, for the scaling event
}

// Adjuster changes jobs that run. A world without one only places.
type Adjuster interface {
	// Bounds reads what may be changed; ErrGone where the job is stopped.
	Bounds(ctx context.Context, w WorkloadID) (Bounds, error)
	// Adjust writes a change, compare-and-set on its ModifyIndex: ErrStale or
	// ErrGone when the user was faster, ErrYields, ErrBusy.
	Adjust(ctx context.Context, c Change) (PlanResult, error)
	// StopAllocation ends one allocation; its job decides where it starts again.
	StopAllocation(ctx context.Context, w WorkloadID, allocation string) error
	// Resize changes what one allocation holds while it runs; ErrImpossible where
	// that cannot be, with the reason. The size it was given takes back what was
	// transferred to it. It may take seconds; where ctx ends, what has begun may stay.
	Resize(ctx context.Context, w WorkloadID, allocation string, size Resources) error
}

// Waiter tells which groups cannot start where they were placed. A world may have none.
type Waiter interface {
	// Stranded are the groups that wait for a node while none of those that an earlier
	// decision bound them to is left.
	Stranded(ctx context.Context) ([]WorkloadID, error)
}

// Follower measures without waiting: each call tells what happened since the one
// before. An allocation is left out while its window is too short to tell.
type Follower interface {
	Follow(ctx context.Context, w Workload, window time.Duration) ([]Observation, error)
}

// Use is what an allocation used since the observation before, as its control groups count
// it.
type Use struct {
	At              time.Time `json:"at"`
	CPUMHz          float64   `json:"cpu_mhz"`
	MemoryBytes     float64   `json:"memory_bytes"`
	ThrottledTimeNs float64   `json:"throttled_time_ns"` // since it started
}

// Relocation is a better place for an allocation that runs.
type Relocation struct {
	Workload   WorkloadID `json:"workload"`
	Allocation string     `json:"allocation"`
	From       NodeID     `json:"from"`
	FromName   string     `json:"from_name"`
	To         NodeID     `json:"to"`
	ToName     string     `json:"to_name"`
	Reason     string     `json:"reason"`
	Allowed    bool       `json:"allowed"`          // its performance block says move = true
	Result     string     `json:"result,omitempty"` // of carrying it out: "done", or why not
}

// AdaptationStats count what a leader did since it started.
type AdaptationStats struct {
	Actions     map[ActionCount]int
	Below       map[WorkloadID]bool          // measured last: below its target; absent: unknown
	BelowTime   map[WorkloadID]time.Duration // spent below its target
	UsedMHz     map[WorkloadID]float64       // of the CPUs, by all its allocations when they were measured last; absent: unknown
	Observed    int                          // observations of a workload
	ObserveTime time.Duration                // spent on them, side by side
	Failed      int                          // that failed as a whole
	Unavailable int                          // allocations that gave no number
}

// ActionCount is what actions are counted by.
type ActionCount struct {
	Kind   string
	Result string // done, refused or failed
}

// Results of an action, for counting; an ActionRecord's Result says more.
const (
	ActionDone    = "done"
	ActionRefused = "refused"
	ActionFailed  = "failed"
)
