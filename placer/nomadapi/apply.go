package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// registration is the body of a job registration. The job stays raw.
type registration struct {
	Job            object
	EnforceIndex   bool
	JobModifyIndex uint64
	Submission     object `json:",omitempty"`
}

// Apply releases the job with the plan's rewrite, compare-and-set on the version
// the plan was made for.
func (w *World) Apply(ctx context.Context, p cluster.Plan) (cluster.PlanResult, error) {
	raw, err := w.rawJob(ctx, p.Job.ID)
	if err != nil {
		w.reservations.drop(p.Job.ID)
		return cluster.PlanResult{}, err
	}
	if now := raw.index("JobModifyIndex"); now != p.Job.ModifyIndex {
		return cluster.PlanResult{}, fmt.Errorf("job %s is at index %d, but the plan was made for index %d: %w", p.Job.ID, now, p.Job.ModifyIndex, cluster.ErrStale)
	}
	next, err := Rewrite(raw, p, w.opts.HoldPool)
	if err != nil {
		return cluster.PlanResult{}, err
	}
	result := cluster.PlanResult{Version: raw.index("Version"), ModifyIndex: p.Job.ModifyIndex, Unchanged: true}
	if !sameContent(raw, next) {
		if result, err = w.register(ctx, raw, next); err != nil {
			return cluster.PlanResult{}, err
		}
	}
	w.afterApply(ctx, raw, p, result)
	return result, nil
}

// Adopt implements cluster.Planner. The job itself says where it was placed and why, since it
// was registered so: a scaling event would be one more write for each job of a burst.
func (w *World) Adopt(p cluster.Plan) { w.reserve(p, p.Job.Version) }

// reserve keeps room for what was decided, until it is seen to run.
func (w *World) reserve(p cluster.Plan, version uint64) {
	for _, d := range p.Decisions {
		w.reservations.reserve(d, version, w.clock.Now())
	}
}

// afterApply keeps the books and tells the user; the job is released already, so
// a message that cannot be left is logged and no more.
func (w *World) afterApply(ctx context.Context, raw object, p cluster.Plan, result cluster.PlanResult) {
	w.reserve(p, result.Version)
	if p.Message == "" || result.Unchanged {
		return
	}
	for id, meta := range noteTargets(raw, p) {
		// The type is the raw job's: see note.
		if err := w.note(ctx, id, raw.text("Type"), p.Message, false, meta); err != nil {
			w.log.Warn("no scaling event left", "workload", id.String(), "error", err)
		}
	}
}

// noteTargets are the groups a plan's message is left at: those decided on, or,
// where the job was released without a decision, those with a performance block.
func noteTargets(raw object, p cluster.Plan) map[cluster.WorkloadID]map[string]any {
	out := map[cluster.WorkloadID]map[string]any{}
	for _, d := range p.Decisions {
		out[d.Workload] = noteMeta(d)
	}
	if len(out) > 0 {
		return out
	}
	for _, group := range raw.objects("TaskGroups") {
		if _, ok := group.object("Meta")[MetaKey]; ok {
			id := cluster.WorkloadID{Namespace: p.Job.ID.Namespace, Job: p.Job.ID.ID, Group: group.text("Name")}
			out[id] = nil
		}
	}
	return out
}

// ReleaseJob frees a job from the hold pool as it is now, without a plan:
// what `nomad-placer job release` does.
func (w *World) ReleaseJob(ctx context.Context, id cluster.JobID) (cluster.PlanResult, error) {
	return w.edit(ctx, id, w.releaseHeld)
}

// ReleaseVersion is ReleaseJob where the version with that JobModifyIndex is the newest;
// else ErrStale: who asks knows nothing of a newer one.
func (w *World) ReleaseVersion(ctx context.Context, id cluster.JobID, index uint64) (cluster.PlanResult, error) {
	raw, err := w.rawJob(ctx, id)
	if err != nil {
		return cluster.PlanResult{}, err
	}
	if now := raw.index("JobModifyIndex"); now != index {
		return cluster.PlanResult{}, fmt.Errorf("job %s is at index %d, not %d: %w", id, now, index, cluster.ErrStale)
	}
	return w.editRaw(ctx, raw, w.releaseHeld)
}

func (w *World) releaseHeld(raw map[string]any) map[string]any {
	if object(raw).text("NodePool") != w.opts.HoldPool {
		return raw // placed, perhaps by us: it keeps its nodes
	}
	return Release(raw, w.opts.HoldPool, w.opts.RunPool)
}

// StripJob removes everything ever added to a job: `nomad-placer job strip`.
func (w *World) StripJob(ctx context.Context, id cluster.JobID) (cluster.PlanResult, error) {
	return w.edit(ctx, id, Strip)
}

func (w *World) edit(ctx context.Context, id cluster.JobID, change func(map[string]any) map[string]any) (cluster.PlanResult, error) {
	raw, err := w.rawJob(ctx, id)
	if err != nil {
		return cluster.PlanResult{}, err
	}
	return w.editRaw(ctx, raw, change)
}

func (w *World) editRaw(ctx context.Context, raw object, change func(map[string]any) map[string]any) (cluster.PlanResult, error) {
	next := object(change(raw))
	if sameContent(raw, next) {
		return cluster.PlanResult{Version: raw.index("Version"), ModifyIndex: raw.index("JobModifyIndex"), Unchanged: true}, nil
	}
	return w.register(ctx, raw, next)
}

// register writes next where raw is still the newest version.
func (w *World) register(ctx context.Context, raw, next object) (cluster.PlanResult, error) {
	id := jobIDOf(raw)
	switch dispatched := raw.boolean("Dispatched"); {
	case dispatched && raw.text("NodePool") == w.opts.HoldPool:
		return w.dispatchAgain(ctx, raw)
	case dispatched:
		return cluster.PlanResult{}, fmt.Errorf("job %s: Nomad does not let a dispatched job be changed: change its parent: %w", id, cluster.ErrRefused)
	}
	submission, err := w.submission(ctx, id, raw.index("Version"))
	if err != nil {
		return cluster.PlanResult{}, err
	}
	index, unknown, err := w.registerOver(ctx, raw, next, submission)
	if err != nil && !unknown {
		return cluster.PlanResult{}, err
	}
	if looked := w.lookAt(ctx, written{raw, next, index}); err == nil {
		err = looked
	}
	if err != nil {
		return cluster.PlanResult{}, err
	}
	return cluster.PlanResult{Version: raw.index("Version") + 1, ModifyIndex: index}, nil
}

// explainRefusal turns Nomad's answer to a lost compare-and-set into the world's
// words: gone where the job was stopped or purged meanwhile, else stale.
func (w *World) explainRefusal(ctx context.Context, id cluster.JobID, refusal error) error {
	if isFinal(refusal) {
		return fmt.Errorf("register job %s: %w: %w", id, cluster.ErrRefused, refusal)
	}
	if !isConflict(refusal) {
		return fmt.Errorf("register job %s: %w", id, refusal)
	}
	if _, err := w.rawJob(ctx, id); errors.Is(err, cluster.ErrGone) {
		w.reservations.drop(id)
		return err
	}
	return fmt.Errorf("register job %s: %s: %w", id, bodyOf(refusal), cluster.ErrStale)
}

// submission is the source text the user submitted a version with, nil where
// none was kept (a job sent as JSON by an API client, or one too large).
func (w *World) submission(ctx context.Context, id cluster.JobID, version uint64) (object, error) {
	var s object
	_, err := w.nomad.get(ctx, jobPath(id, "/submission"), api.QueryOptions{
		Namespace: id.Namespace,
		Params:    map[string]string{"version": strconv.FormatUint(version, 10)},
	}, &s)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return pick(s, []string{"Source", "Format", "VariableFlags", "Variables"}), nil
}

// Note leaves a message in the group's list of scaling events: a timestamped
// line on its page, no new job version, no evaluation. System jobs have no such
// list; for them Note does nothing.
func (w *World) Note(ctx context.Context, id cluster.WorkloadID, message string, failed bool) error {
	raw, err := w.rawJob(ctx, id.JobID())
	if err != nil {
		return err
	}
	return w.note(ctx, id, raw.text("Type"), message, failed, nil)
}

func noteMeta(d cluster.Decision) map[string]any {
	meta := map[string]any{"policy": d.Policy, "outcome": string(d.Outcome), "considered": d.Considered}
	if len(d.Candidates) > 0 {
		meta["best_node"] = d.Candidates[0].Name
	}
	return meta
}

// note must never be sent for a system job: Nomad 1.11.2 reads a count there that
// a note does not carry and panics, and where the request was forwarded from
// another agent the panic takes the server down (Job.Scale in job_endpoint.go).
func (w *World) note(ctx context.Context, id cluster.WorkloadID, jobType, message string, failed bool, meta map[string]any) error {
	if jobType == "system" {
		return nil
	}
	body := map[string]any{
		"Target":  map[string]string{"Group": id.Group},
		"Message": message,
		"Error":   failed,
		"Meta":    meta,
	}
	err := w.nomad.write(ctx, jobPath(id.JobID(), "/scale"), id.Namespace, body, nil)
	if isNotFound(err) {
		return fmt.Errorf("note on %s: %w", id, cluster.ErrGone)
	}
	return wrap(err, "note on %s", id)
}
