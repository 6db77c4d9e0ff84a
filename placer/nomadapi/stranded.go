package nomadapi

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var _ cluster.Waiter = (*World)(nil)

// blockedEvaluation is the part of a blocked evaluation that is looked at.
type blockedEvaluation struct {
	JobID, Namespace string
	FailedTGAllocs   map[string]struct {
		NodePool           string
		DimensionExhausted map[string]int
	}
}

// blocked are the blocked evaluations. The first part of a long queue is enough.
func (w *World) blocked(ctx context.Context) ([]blockedEvaluation, error) {
	var evals []blockedEvaluation
	q := api.QueryOptions{Namespace: allNamespaces, PerPage: blockedLooked, Params: map[string]string{"status": "blocked"}}
	_, err := w.nomad.get(ctx, "/v1/evaluations", q, &evals)
	return evals, wrap(err, "blocked evaluations")
}

// Stranded implements cluster.Waiter. A group that is bound to no node at all waits
// because it was told to.
func (w *World) Stranded(ctx context.Context) ([]cluster.WorkloadID, error) {
	evals, err := w.blocked(ctx)
	if err != nil || len(evals) == 0 {
		return nil, err
	}
	nodes, _, err := w.listNodes(ctx)
	if err != nil {
		return nil, err
	}
	bound, err := w.boundJobs(ctx)
	if err != nil {
		return nil, err
	}
	ready := map[cluster.NodeID]bool{}
	for _, n := range nodes {
		ready[n.ID] = n.Ready
	}
	var out []cluster.WorkloadID
	for _, e := range evals {
		id := cluster.JobID{Namespace: e.Namespace, ID: e.JobID}
		if !bound[id] {
			continue
		}
		raw, err := w.rawJob(ctx, id)
		if errors.Is(err, cluster.ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(e.FailedTGAllocs)) {
			group := findGroup(raw, name)
			if group == nil {
				continue
			}
			list, _ := ShortlistOf(group)
			if len(list) > 0 && !slices.ContainsFunc(list, func(n cluster.NodeID) bool { return ready[n] }) {
				out = append(out, cluster.WorkloadID{Namespace: e.Namespace, Job: e.JobID, Group: name})
			}
		}
	}
	return out, nil
}

// boundJobs are the jobs that are not held and have a shortlist of ours.
func (w *World) boundJobs(ctx context.Context) (map[cluster.JobID]bool, error) {
	jobs, err := w.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	out := map[cluster.JobID]bool{}
	for _, job := range jobs {
		out[job.ID] = !job.Held && slices.ContainsFunc(job.Workloads, func(wl cluster.Workload) bool { return wl.Bound != 0 })
	}
	return out, nil
}
