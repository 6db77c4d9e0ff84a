package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// dispatchedHeld is what is said first of a job that waits in the hold pool because it was
// dispatched while its parent did.
const dispatchedHeld = "it was dispatched while its parent was held, and Nomad does not let a dispatched job be changed"

// forLeader is an error of a write that only the leader makes.
type forLeader string

func (e forLeader) Error() string        { return string(e) }
func (e forLeader) Is(target error) bool { return target == cluster.ErrNotLeading }

// dispatchAgain releases a held job that was dispatched. Nomad's API loses the mark that a
// job was dispatched, and then takes every registration for an attempt to change that (1.10
// to 2.0, ApiJobToStructJob). So its parent is dispatched once more, with the same payload
// and meta, and the held job is stopped, which has never run. A token of the held job's name
// makes a second attempt the same dispatch; Nomad looks for the token before it writes, so
// that two at once may both find none, and only the leader dispatches.
func (w *World) dispatchAgain(ctx context.Context, held object) (cluster.PlanResult, error) {
	id := jobIDOf(held)
	if cluster.LeaseOf(ctx) == nil {
		return cluster.PlanResult{}, forLeader(fmt.Sprintf("job %s: %s: the leading agent dispatches it again once its parent is released", id, dispatchedHeld))
	}
	parent, err := w.parentOf(ctx, held)
	if err != nil {
		return cluster.PlanResult{}, fmt.Errorf("job %s: %s: %w", id, dispatchedHeld, err)
	}
	if err := w.neverRan(ctx, id); err != nil {
		return cluster.PlanResult{}, fmt.Errorf("job %s: %s: %w", id, dispatchedHeld, err)
	}
	next, err := w.dispatch(ctx, parent, held)
	if err != nil {
		return cluster.PlanResult{}, fmt.Errorf("job %s: %s: dispatching it again: %w", id, dispatchedHeld, err)
	}
	// Who stopped the held job meanwhile did not want the other one either.
	if _, err := w.rawJob(ctx, id); errors.Is(err, cluster.ErrGone) {
		return cluster.PlanResult{}, errors.Join(err, w.deregister(ctx, next, false))
	}
	w.noteDispatched(ctx, held, next)
	if err := w.deregister(ctx, id, false); err != nil {
		return cluster.PlanResult{}, err
	}
	return cluster.PlanResult{Version: held.index("Version"), ModifyIndex: held.index("JobModifyIndex"), DispatchedAs: next.ID}, nil
}

// parentOf is the job that a held one was dispatched from, where it can be dispatched again.
func (w *World) parentOf(ctx context.Context, held object) (object, error) {
	id := cluster.JobID{Namespace: held.text("Namespace"), ID: held.text("ParentID")}
	parent, err := w.rawJob(ctx, id)
	switch {
	case errors.Is(err, cluster.ErrGone):
		return nil, fmt.Errorf("its parent is stopped or purged, so it cannot be dispatched again: stop it and register it as a job of its own: %w", cluster.ErrRefused)
	case err != nil:
		return nil, err
	case parent.text("NodePool") == w.opts.HoldPool:
		return nil, errors.New("it is dispatched again when its parent is released")
	}
	return parent, nil
}

// neverRan makes sure that nothing is started twice: a node in the hold pool runs what is
// held.
func (w *World) neverRan(ctx context.Context, id cluster.JobID) error {
	var allocs []struct{ ID string }
	if _, err := w.nomad.get(ctx, jobPath(id, "/allocations"), api.QueryOptions{Namespace: id.Namespace}, &allocs); err != nil {
		return err
	}
	if len(allocs) > 0 {
		return fmt.Errorf("it runs in the hold pool: remove the nodes from pool %q: %w", w.opts.HoldPool, cluster.ErrRefused)
	}
	return nil
}

func (w *World) dispatch(ctx context.Context, parent, held object) (cluster.JobID, error) {
	id, of := jobIDOf(held), jobIDOf(parent)
	body := object{"Meta": dispatchedMeta(parent, held), "Priority": held["Priority"]}
	if payload := held.text("Payload"); payload != "" {
		body["Payload"] = payload
	}
	var answer struct{ DispatchedJobID string }
	path := jobPath(of, "/dispatch") + "?idempotency_token=" + url.QueryEscape(RedispatchToken(id.ID))
	if err := w.nomad.writeSafe(ctx, path, of.Namespace, body, &answer); err != nil {
		if isFinal(err) {
			return cluster.JobID{}, fmt.Errorf("%w: %w", cluster.ErrRefused, err)
		}
		return cluster.JobID{}, err
	}
	return cluster.JobID{Namespace: of.Namespace, ID: answer.DispatchedJobID}, nil
}

// noteDispatched says at the held job, whose record goes as it is stopped, what became of it.
func (w *World) noteDispatched(ctx context.Context, held object, next cluster.JobID) {
	id := jobIDOf(held)
	message := fmt.Sprintf("dispatched again as %s and stopped: %s; the other job runs as their parent was placed", next.ID, dispatchedHeld)
	for _, group := range held.objects("TaskGroups") {
		of := cluster.WorkloadID{Namespace: id.Namespace, Job: id.ID, Group: group.text("Name")}
		if err := w.note(ctx, of, held.text("Type"), message, false, nil); err != nil {
			w.log.Warn("no scaling event left", "workload", of.String(), "error", err)
		}
	}
}

// RedispatchToken makes all attempts at one held job the same dispatch, and tells which job
// another one is in the place of.
func RedispatchToken(held string) string { return "placer:" + held }

// dispatchedMeta are the keys of a dispatched job's meta that its parent lets a dispatch set;
// the others are the parent's own.
func dispatchedMeta(parent, held object) map[string]string {
	out := map[string]string{}
	rules, meta := parent.object("ParameterizedJob"), held.object("Meta")
	for _, list := range [][]string{rules.texts("MetaRequired"), rules.texts("MetaOptional")} {
		for _, key := range list {
			if value, ok := meta[key].(string); ok {
				out[key] = value
			}
		}
	}
	return out
}
