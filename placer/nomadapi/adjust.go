package nomadapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var _ cluster.Adjuster = (*World)(nil)

// Bounds reads what may be changed of a running group.
func (w *World) Bounds(ctx context.Context, id cluster.WorkloadID) (cluster.Bounds, error) {
	raw, err := w.rawJob(ctx, id.JobID())
	if err != nil {
		return cluster.Bounds{}, err
	}
	group := findGroup(raw, id.Group)
	if group == nil {
		return cluster.Bounds{}, fmt.Errorf("job %s has no group %q any more: %w", id.JobID(), id.Group, cluster.ErrGone)
	}
	b := cluster.Bounds{ModifyIndex: raw.index("JobModifyIndex"), Count: int(group.number("Count")), Scaled: scales(group)}
	b.Shortlist, b.Bound = ShortlistOf(group)
	return b, nil
}

// scales: an autoscaler acts on the group. A block that is switched off does not act.
func scales(group object) bool {
	block := group.object("Scaling")
	if block == nil {
		return false
	}
	enabled, given := block["Enabled"].(bool)
	return enabled || !given
}

// Adjust writes a change of one group, compare-and-set, and leaves its message. The
// job's other groups and everything the user wrote stay as they are.
func (w *World) Adjust(ctx context.Context, c cluster.Change) (cluster.PlanResult, error) {
	id := c.Workload.JobID()
	raw, err := w.rawJob(ctx, id)
	if err != nil {
		return cluster.PlanResult{}, err
	}
	if now := raw.index("JobModifyIndex"); now != c.ModifyIndex {
		return cluster.PlanResult{}, fmt.Errorf("job %s is at index %d, but the change was decided for index %d: %w", id, now, c.ModifyIndex, cluster.ErrStale)
	}
	if raw.text("NodePool") == w.opts.HoldPool {
		return cluster.PlanResult{}, fmt.Errorf("job %s is held: %w", id, cluster.ErrStale)
	}
	next := raw.clone()
	group := findGroup(next, c.Workload.Group)
	if group == nil {
		return cluster.PlanResult{}, fmt.Errorf("job %s has no group %q any more: %w", id, c.Workload.Group, cluster.ErrGone)
	}
	meta := map[string]any{}
	if c.Count > 0 {
		if scales(group) {
			return cluster.PlanResult{}, fmt.Errorf("%s: %w", c.Workload, cluster.ErrYields)
		}
		meta["count_before"], meta["count"] = group.number("Count"), c.Count
		group["Count"] = c.Count
	}
	if c.Rebind {
		rebind(group, c.Nodes, next.text("Type"))
		prefilter(next)
	}
	if !c.Anyway {
		if err := w.notDeploying(ctx, id); err != nil {
			return cluster.PlanResult{}, err
		}
	}
	if sameContent(raw, next) {
		return cluster.PlanResult{Version: raw.index("Version"), ModifyIndex: c.ModifyIndex, Unchanged: true}, nil
	}
	result, err := w.register(ctx, raw, next)
	if err != nil {
		return cluster.PlanResult{}, err
	}
	if err := w.note(ctx, c.Workload, raw.text("Type"), c.Message, false, meta); err != nil {
		w.log.Warn("no scaling event left", "workload", c.Workload.String(), "error", err)
	}
	return result, nil
}

// rebind replaces the shortlist of a group. One without nodes lets no node pass:
// the mark alone is no node's id.
func rebind(group object, nodes []cluster.Candidate, jobType string) {
	dropLines(group, isPlacement)
	nodes = nodes[:min(len(nodes), cluster.MaxRebound)]
	constrain(group, listedOperator, nodeList(nodes))
	prefer(group, nodes, jobType)
}

// settled are the states of a deployment that is over.
var settled = []string{"successful", "failed", "cancelled"}

// notDeploying: while a deployment rolls, what is measured is of two versions, and
// another version would cut it short.
func (w *World) notDeploying(ctx context.Context, id cluster.JobID) error {
	var newest *struct{ Status string }
	_, err := w.nomad.get(ctx, jobPath(id, "/deployment"), api.QueryOptions{Namespace: id.Namespace}, &newest)
	if err != nil && !isNotFound(err) {
		return err
	}
	if newest != nil && !slices.Contains(settled, newest.Status) {
		return fmt.Errorf("job %s: %w", id, cluster.ErrBusy)
	}
	return nil
}

// StopAllocation ends one allocation; Nomad starts another one where it may.
func (w *World) StopAllocation(ctx context.Context, id cluster.WorkloadID, allocation string) error {
	err := w.nomad.writeSafe(ctx, "/v1/allocation/"+url.PathEscape(allocation)+"/stop", id.Namespace, nil, nil)
	if isNotFound(err) {
		return fmt.Errorf("allocation %s: %w", allocation, cluster.ErrGone)
	}
	return wrap(err, "stop allocation %s", allocation)
}
