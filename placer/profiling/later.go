package profiling

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// A cluster is quiet where less than this share of its CPU time is reserved, and nothing that
// runs has a target that a wrong place could break (decision 0045: chosen in the simulator).
const quietShare = 0.3

// placedFirst begins the warning of a workload that is placed before it is profiled.
const placedFirst = "it is placed before it is profiled, by what is known of other workloads, and profiled while it runs: "

// when a workload is profiled.
func (l *Lab) when(w cluster.Workload) performance.When {
	return cmp.Or(w.Spec.Profile.When, l.cfg.When, performance.WhenBefore)
}

// Postpone leaves the profile of a workload of which nothing is known for later, where its
// author or the agent's configuration wants that and, if only on a quiet cluster, it is one.
func (l *Lab) Postpone(ctx context.Context, job cluster.Job, k KnownBefore) (KnownBefore, error) {
	when := l.when(k.workload)
	if !k.ToMeasure || k.profile != nil || when == performance.WhenBefore {
		return k, nil
	}
	why := `when = "after" in its profile block, or the agent's`
	if when == performance.WhenQuiet {
		quiet, found, err := l.quiet(ctx, job)
		if err != nil {
			return k, fmt.Errorf("is the cluster quiet: %w", err)
		}
		if why = found; !quiet {
			k.Warnings = append(k.Warnings, "it was profiled before it was placed, since "+found)
			return k, nil
		}
	}
	k.ToMeasure, k.Warnings = false, append(k.Warnings, placedFirst+why)
	return k, nil
}

// quiet reports whether a job could do little harm wherever it is placed, and why.
func (l *Lab) quiet(ctx context.Context, job cluster.Job) (quiet bool, why string, err error) {
	jobs, err := l.cfg.World.Jobs(ctx)
	if err != nil {
		return false, "", err
	}
	for _, other := range jobs {
		if other.ID == job.ID || other.Held || other.Stopped || other.Complete {
			continue
		}
		if slices.ContainsFunc(other.Workloads, func(w cluster.Workload) bool { return w.Spec.Target.Kind != performance.BestEffort }) {
			return false, fmt.Sprintf("job %s, which runs, has a target", other.ID), nil
		}
	}
	s, err := l.cfg.World.Snapshot(ctx)
	if err != nil {
		return false, "", err
	}
	share := reservedShare(s, job.RunPool)
	why = fmt.Sprintf("%.0f %% of the CPU time of node pool %s is reserved", 100*share, job.RunPool)
	if share < quietShare {
		return true, why + " and nothing that runs has a target", nil
	}
	return false, why, nil
}

// reservedShare of the CPU time of the nodes of a pool that take work; 1 where there are none.
func reservedShare(s *cluster.Snapshot, pool string) float64 {
	used, total := 0, 0
	for _, n := range s.Nodes {
		if !n.Ready || pool != cluster.PoolAll && n.Pool != pool {
			continue
		}
		total += n.Total.CPUMHz
		used += cluster.Used(s.Residents(n.ID, cluster.WorkloadID{})).Megahertz(n.CoreMHz)
	}
	if total <= 0 {
		return 1
	}
	return min(1, float64(used)/float64(total))
}

// ProfileRunning profiles a workload that was placed before, and is not profiled yet; p is nil
// where it is not to be. Its copy runs like any, until limit at the latest.
func (l *Lab) ProfileRunning(ctx context.Context, job cluster.Job, w cluster.Workload, limit time.Time) (p *profile.Profile, warnings []string, err error) {
	if l.when(w) == performance.WhenBefore {
		return nil, nil, nil
	}
	desc, err := policy.Lookup(cmp.Or(w.Spec.Policy, l.cfg.Policy))
	if err != nil {
		return nil, nil, err
	}
	stored, err := l.Stored(ctx, w.ID, w.ProfileKey)
	if err != nil {
		return nil, nil, err
	}
	k := l.Judge(desc, w, stored, nil)
	if !k.ToMeasure || stored != nil {
		return nil, nil, nil
	}
	t := journal.NewUnrecordedTracker(l.cfg.Clock, l.cfg.Log, job)
	return l.profile(ctx, job, w, nil, k.missing, limit, t)
}

// ProfiledLater are the warnings of a decision once its workload was profiled while it ran.
func ProfiledLater(warnings, more []string) []string {
	out := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return strings.HasPrefix(w, placedFirst) })
	return append(append(out, "it was placed before it was profiled; what is said of it here was measured while it ran, and its place was chosen without it"), more...)
}
