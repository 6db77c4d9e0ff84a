package dashboard

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
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
	// lately, in any order.
	Evaluations(ctx context.Context) ([]cluster.Evaluation, error)
	// Profiles returns the keys of all stored profiles.
	Profiles(ctx context.Context) ([]string, error)
	// Profile returns the profile of that key, or cluster.ErrNoRecord.
	Profile(ctx context.Context, key string) (profile.Profile, error)
	// Nodes returns every node, in any order.
	Nodes(ctx context.Context) ([]cluster.NodeRecord, error)
	// Observations returns what was measured of a workload, oldest first; none
	// is not an error.
	Observations(ctx context.Context, w cluster.WorkloadID) ([]cluster.Observation, error)
}
