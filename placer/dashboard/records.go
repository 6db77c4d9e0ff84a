package dashboard

import (
	"context"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Records is what the dashboard shows. The lists are the reader's own; every
// method must be safe for concurrent use and honour its context.
type Records interface {
	// Decisions returns the newest decision of every workload, in any order.
	Decisions(ctx context.Context) ([]cluster.Decision, error)
	// Decision returns the newest decision of one workload, or
	// cluster.ErrNoRecord.
	Decision(ctx context.Context, w cluster.WorkloadID) (cluster.Decision, error)
	// Evaluations returns the evaluations under way and the ones that ended
	// in the last minutes, in any order.
	Evaluations(ctx context.Context) ([]cluster.Evaluation, error)
	// Profiles returns the keys of all stored profiles.
	Profiles(ctx context.Context) ([]string, error)
	// Profile returns the profile of that key, or cluster.ErrNoRecord.
	Profile(ctx context.Context, key string) (profile.Profile, error)
	// Productions returns the keys of the workloads of which production says something.
	Productions(ctx context.Context) ([]string, error)
	// Production returns what it says of that key's workload, or cluster.ErrNoRecord.
	Production(ctx context.Context, key string) (profile.Production, error)
	// Nodes returns every node, in any order.
	Nodes(ctx context.Context) ([]cluster.NodeRecord, error)
	// Observations returns what was measured of a workload, oldest first; none
	// is not an error.
	Observations(ctx context.Context, w cluster.WorkloadID) ([]cluster.Observation, error)
	// DiskLimits returns how a workload's use of disks is bounded, by node; none is not an
	// error.
	DiskLimits(ctx context.Context, w cluster.WorkloadID) ([]cluster.DiskLimit, error)
}

// Provisioning is an optional part of Records: nodes that are rented; cluster.ErrNoRecord
// where none are.
type Provisioning interface {
	Provision(ctx context.Context) (provision.Report, error)
	// Capacity is what there was in the last hours, oldest first.
	Capacity(ctx context.Context) (provision.Capacities, error)
	// Runs are those on record, whoever's; none is not an error.
	Runs(ctx context.Context) (provision.Runs, error)
}

// Comparing is an optional part of Records: what each strategy of owned and rented nodes would have
// reached and cost with the jobs on record; cluster.ErrNoRecord where no nodes are rented.
type Comparing interface {
	// Compare answers, or says how far the answer is.
	Compare(ctx context.Context, q CompareQuestion) (provision.Answering, error)
}

// CompareQuestion is which jobs are replayed, and what an owned node is and costs; of rented ones that is
// known.
type CompareQuestion struct {
	Since        time.Duration // before now
	Cores        int
	MemoryMB     int
	PricePerHour float64
	TermWeeks    int
}

// TrafficRecords is an optional part of Records: captured network traffic;
// cluster.ErrNoRecord where there is none.
type TrafficRecords interface {
	Traffic(ctx context.Context) (traffic.Report, error)
}

// WhatIf is an optional part of Records: what would be decided of a workload
// now. Nothing is profiled, written or recorded.
type WhatIf interface {
	// Policies returns the names a question may hold, sorted.
	Policies() []string
	// WhatIf answers for one group of a running or held job: cluster.ErrGone
	// or cluster.ErrNoRecord where there is none.
	WhatIf(ctx context.Context, w cluster.WorkloadID, q Question) (Answer, error)
}

// Question is what to assume; what is zero is as the job says.
type Question struct {
	Policy string             `json:"policy,omitempty"`
	Target performance.Target `json:"target,omitzero"`
}

// Answer is the decision that would be taken.
type Answer struct {
	Decision   cluster.Decision `json:"decision"`
	Unprofiled bool             `json:"unprofiled"` // it would be profiled first, which may change the decision
}

// ActionRecords is an optional part of Records: what was done to a running
// workload, oldest first; none is not an error.
type ActionRecords interface {
	Actions(ctx context.Context, w cluster.WorkloadID) ([]cluster.ActionRecord, error)
}
