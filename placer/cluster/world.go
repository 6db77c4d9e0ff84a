package cluster

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Errors a world answers with.
var (
	// ErrStale: the job has a newer version than the one decided on. The newer
	// version always wins; the evaluation starts again from it.
	ErrStale = errors.New("the job changed since it was read")
	// ErrGone: the job was stopped or purged.
	ErrGone = errors.New("the job is gone")
	// ErrRefused: the world does not take this write however often it is sent. Only the
	// user or the operator can change that.
	ErrRefused = errors.New("refused")
	// ErrNoKernels: no ready node can run interference kernels.
	ErrNoKernels = errors.New("no node has the ibench driver and lets it profile")
	// ErrNodeLost: the node went away during a profiling run.
	ErrNodeLost = errors.New("the node was lost")
	// ErrWorkloadFailed: the profiled copy exited or crashed.
	ErrWorkloadFailed = errors.New("the workload failed while it was profiled")
)

// Clock tells time; the engine has no other.
type Clock interface {
	Now() time.Time
	// After is time.After on this clock.
	After(d time.Duration) <-chan time.Time
}

// Timekeeper is a world whose servers have a clock of their own, by which jobs are
// submitted: AskTime makes the clock that goes by it exact. Steady is a clock that nobody
// sets, of no use but for how much time has passed.
type Timekeeper interface {
	AskTime(ctx context.Context) error
	Steady() time.Time
}

// State is the read side of a world.
type State interface {
	// Jobs returns every job that is held or has a performance block.
	Jobs(ctx context.Context) ([]Job, error)
	// Job reads one job afresh; ErrGone where it is stopped or purged.
	Job(ctx context.Context, id JobID) (Job, error)
	// Snapshot returns a consistent look at nodes and allocations.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Changed returns a channel that receives when something may have changed.
	// It is a wake-up only: the lists are the truth.
	Changed() <-chan struct{}
}

// Plan asks the world to let a job run.
type Plan struct {
	Job       Job
	Decisions []Decision // one per workload; empty when released to stock rules
	Page      string     // Markdown for the job page, ≤ 1,000 bytes
	Link      string     // URL of the record on the dashboard; may be empty
	Message   string     // one sentence for the scaling event
}

// PlanResult is what became of a plan.
type PlanResult struct {
	Version     uint64
	ModifyIndex uint64
	Unchanged   bool // nothing had to be written
	// DispatchedAs: the job was dispatched and could not be changed; its parent was
	// dispatched once more, as this job, and it was stopped.
	DispatchedAs string
}

// Planner is the write side of a world.
type Planner interface {
	// Apply releases the job with the plan's rewrite, compare-and-set on
	// Job.ModifyIndex. ErrStale or ErrGone when the user was faster.
	Apply(ctx context.Context, p Plan) (PlanResult, error)
	// Adopt takes note of a job that was registered as the plan says, after it had been
	// admitted: it counts as applied.
	Adopt(p Plan)
	// Note leaves a timestamped message at the job without touching it.
	Note(ctx context.Context, w WorkloadID, message string, failed bool) error
	// Publish shows per-node pressure and headroom where people look. A node's is computed as it
	// is asked for: those of thousands at once are as much memory as all else that is kept.
	Publish(ctx context.Context, pressure iter.Seq2[NodeID, Pressure]) error
}

// Pressure is what the residents of a node tolerate and cause together, by source.
type Pressure struct {
	Tolerated interference.Scores // minimum over residents; 100 when empty
	Caused    interference.Scores // sum over residents, clipped for display
	// DiskFreeMBPerSec is what may still be promised of its disk; nil where nothing is counted.
	DiskFreeMBPerSec *float64 `json:",omitempty"`
}

// What the profiler reserves on a node in addition to the profiled copy (chosen by us):
// kernels run in control groups of their own, this is for the process that drives them.
const (
	ProfilerCPUMHz   = 50
	ProfilerMemoryMB = 64
)

// Purpose is what a profiling run is for.
type Purpose string

// The purposes.
const (
	PurposeInterference Purpose = "interference" // next to kernels
	PurposeIsolated     Purpose = "alone"        // in isolation, on another node configuration
	PurposeSize         Purpose = "size"         // in isolation, at another size
)

// ProfileRequest asks for one profiling run.
type ProfileRequest struct {
	Purpose  Purpose
	ID       string // deterministic: the same request adopts a run already under way
	Job      Job
	Workload Workload
	Node     Node
	Sources  []interference.Source // empty: performance in isolation only
	Further  []interference.Source // measured only where the Reviewer says so
	// Size is what the sized task of the copy gets; a zero field is as the job says.
	Size     Resources
	Scales   bool // the run is one of several sizes of the workload
	Seconds  int
	Sweep    bool // the whole curve of each source, as training rows have it
	Deadline time.Time
	// OnResult, if set, is called at most once, before Profile returns, as soon
	// as the result is known: cleaning up after a run takes a while, and the
	// placement need not wait for it.
	OnResult func(profile.Profile)
	// Reviewer, if set, is asked while the run goes on. A run that cannot be told what it
	// says goes on as it was asked to.
	Reviewer Reviewer
}

// Reviewer follows one profiling run.
type Reviewer interface {
	// Review is shown what the run has measured so far, and says what to measure next.
	Review(now profile.SoFar) profile.Advice
	// Ended says why the run ended before its time where that was the last word of Review,
	// and is empty else.
	Ended() string
}

// Laboratory runs workloads next to interference kernels.
type Laboratory interface {
	// Profile runs the request to its end. Where the run was cut short it
	// returns what was measured (Complete false) together with the error.
	Profile(ctx context.Context, r ProfileRequest) (profile.Profile, error)
	// Runs lists the profiling runs that exist, ended or not: the node of each, by the id
	// of its request.
	Runs(ctx context.Context) (map[string]NodeID, error)
	// Sweep removes profiling runs that no live request owns: those whose id
	// is not in keep.
	Sweep(ctx context.Context, keep map[string]bool) error
}

// Observation is one allocation's measured performance.
type Observation struct {
	Allocation  string              `json:"allocation"`
	Node        NodeID              `json:"node"`
	At          time.Time           `json:"at"`
	Window      time.Duration       `json:"window"`
	Measure     performance.Measure `json:"measure"`
	FinishedIn  time.Duration       `json:"finished_in,omitempty"` // completed batch work
	Started     time.Time           `json:"started,omitzero"`      // of the task that is measured; zero unknown
	Work        *float64            `json:"work,omitempty"`        // units done since it started; nil unknown
	Unavailable string              `json:"unavailable,omitempty"` // why there is no number
	Use         *Use                `json:"use,omitempty"`         // nil: unknown
}

// Observer measures running workloads.
type Observer interface {
	Observe(ctx context.Context, w Workload, window time.Duration) ([]Observation, error)
}

// World is everything the engine needs from a live or simulated cluster.
type World interface {
	State
	Planner
	Laboratory
	Observer
}
