package provisioning

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// runsEvery bounds how often runs are written, and what is lost of them with a leader (chosen by us).
const runsEvery = time.Minute

// workloadsIn are those that have allocations, sorted. What runs on every node whatever is decided, and
// what the placer itself runs, is none.
func workloadsIn(s *cluster.Snapshot) []cluster.WorkloadID {
	seen := map[cluster.WorkloadID]bool{}
	for _, n := range s.Nodes {
		for _, a := range s.Allocations[n.ID] {
			if !a.System && !a.Profiling {
				seen[a.Workload] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), cluster.WorkloadID.Compare)
}

// presentIn are the workloads on record that have allocations, with what is known of them.
func presentIn(s *cluster.Snapshot, decided func(cluster.WorkloadID) (cluster.Decision, bool), columns []interference.Source) []provision.Present {
	perCore := megahertzPerCore(s)
	var out []provision.Present
	for _, w := range workloadsIn(s) {
		if d, ok := decided(w); ok {
			out = append(out, presentOf(d, perCore, columns))
		}
	}
	return out
}

func presentOf(d cluster.Decision, perCore int, columns []interference.Source) provision.Present {
	return provision.Present{
		Workload: d.Workload, Service: serves(d), Submitted: d.SubmittedAt, Count: d.Count,
		Cores: float64(d.Resources.Megahertz(perCore)) / float64(perCore), MemoryMB: d.Resources.MemoryMB,
		Program: d.ProfileKey, Scores: provision.NewScores(d.Sensitivity, columns),
	}
}

// serves reports whether a workload runs until it is stopped. Older records do not say of what type
// their job is.
func serves(d cluster.Decision) bool {
	if d.JobType == "" {
		return d.Target.Kind != performance.FinishWithin
	}
	return d.JobType != "batch" && d.JobType != "sysbatch"
}

// keepRuns writes what is new of them now and then.
func (r *Room) keepRuns(ctx context.Context) error {
	now := r.cfg.Clock.Now()
	r.mu.Lock()
	if now.Sub(r.runsKept) < runsEvery {
		r.mu.Unlock()
		return nil
	}
	r.runsKept = now
	pages, deleted := r.runs.Written(now)
	r.mu.Unlock()
	var errs []error
	for _, p := range pages {
		if err := r.cfg.Book.PutRuns(ctx, p); err != nil {
			errs = append(errs, err)
			r.lockedly(func() { r.runs.NotWritten(p.Number) })
		}
	}
	for _, n := range deleted {
		if err := r.cfg.Book.DeleteRuns(ctx, n); err != nil {
			errs = append(errs, err)
			r.lockedly(func() { r.runs.NotDeleted(n) })
		}
	}
	return errors.Join(errs...)
}

func (r *Room) lockedly(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}
