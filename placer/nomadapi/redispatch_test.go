package nomadapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// heldDispatch is a job that was dispatched while its parent was held.
func heldDispatch(server *nomadtest.Server) {
	parent := testJob("parent", "ok")
	parent["Type"] = "batch"
	parent["ParameterizedJob"] = nomadtest.Object{"Payload": "optional", "MetaRequired": []any{"order"}, "MetaOptional": []any{"color"}}
	parent["Meta"] = nomadtest.Object{"team": "a", "color": "red"}
	server.Submit(parent, "")
	child := server.Job("default", "parent")
	child["ID"], child["ParentID"], child["Dispatched"], child["Payload"] = "parent/dispatch-1", "parent", true, "aGk="
	child["Meta"] = nomadtest.Object{"team": "a", "color": "blue", "order": "7"}
	server.Submit(child, "")
}

func leading(ctx context.Context) context.Context {
	return cluster.WithLease(ctx, func() error { return nil })
}

// childrenOf are the jobs that were dispatched and are not stopped.
func childrenOf(server *nomadtest.Server, parent string) (ids []string) {
	for _, id := range server.JobIDs() {
		if job := server.Job("default", id); strings.HasPrefix(id, parent+"/") && job["Stop"] != true {
			ids = append(ids, id)
		}
	}
	return ids
}

// Nomad lets nobody change a dispatched job. One that is held is dispatched again, with its
// payload and meta, once its parent is released, and then it is stopped.
func TestAHeldDispatchIsDispatchedAgain(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	heldDispatch(server)
	job := mustJob(t, w, ctx, "parent/dispatch-1")
	if !job.Held || len(job.Workloads)+len(job.Problems) > 0 {
		t.Errorf("read as %+v", job)
	}
	plan := cluster.Plan{Job: job}
	if _, err := w.Apply(leading(ctx), plan); err == nil || errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "when its parent is released") {
		t.Errorf("while its parent is held: %v", err)
	}
	if _, err := w.ReleaseJob(ctx, cluster.JobID{Namespace: "default", ID: "parent"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(ctx, plan); !errors.Is(err, cluster.ErrNotLeading) {
		t.Errorf("by an agent that does not lead: %v", err)
	}
	result, err := w.Apply(leading(ctx), plan)
	if err != nil {
		t.Fatal(err)
	}
	next := server.Job("default", result.DispatchedAs)
	meta, _ := next["Meta"].(nomadtest.Object)
	if next["NodePool"] == w.opts.HoldPool || next["Payload"] != "aGk=" || meta["order"] != "7" || meta["color"] != "blue" || meta["team"] != "a" {
		t.Errorf("dispatched again as %v", next)
	}
	if old := server.Job("default", "parent/dispatch-1"); old["Stop"] != true {
		t.Error("the held job is not stopped")
	}
	if notes := server.Notes(); len(notes) != 1 || notes[0].Job != "parent/dispatch-1" || !strings.Contains(notes[0].Message, "dispatched again as "+result.DispatchedAs) {
		t.Errorf("scaling events %+v", notes)
	}
}

// An agent that dies after the dispatch, or whose answer is lost, leaves no second one.
func TestAHeldDispatchIsDispatchedOnce(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	heldDispatch(server)
	plan := cluster.Plan{Job: mustJob(t, w, ctx, "parent/dispatch-1")}
	if _, err := w.ReleaseJob(ctx, cluster.JobID{Namespace: "default", ID: "parent"}); err != nil {
		t.Fatal(err)
	}
	server.Fail(http.MethodDelete, "/v1/job/parent/dispatch-1", http.StatusForbidden, 1, "Permission denied")
	if _, err := w.Apply(leading(ctx), plan); err == nil {
		t.Fatal("the held job was stopped although Nomad refused that")
	}
	result, err := w.Apply(leading(ctx), plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := childrenOf(server, "parent"); len(got) != 1 || got[0] != result.DispatchedAs {
		t.Errorf("children %v after two attempts, the second of which made %q", got, result.DispatchedAs)
	}
}

// What cannot be dispatched again stays as it is, and its user is told what to do.
func TestAHeldDispatchWithoutAParent(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	heldDispatch(server)
	plan := cluster.Plan{Job: mustJob(t, w, ctx, "parent/dispatch-1")}
	server.Stop("default", "parent")
	if _, err := w.Apply(leading(ctx), plan); !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "register it as a job of its own") {
		t.Errorf("%v", err)
	}
	if got := childrenOf(server, "parent"); len(got) != 1 {
		t.Errorf("children %v", got)
	}
}

// A dispatched job that runs is not changed: nothing is sent that Nomad would refuse.
func TestARunningDispatchIsNotChanged(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	heldDispatch(server)
	running := server.Job("default", "parent/dispatch-1")
	running["NodePool"], running["ID"] = "default", "parent/dispatch-2"
	server.Submit(running, "")
	job := mustJob(t, w, ctx, "parent/dispatch-2")
	if _, err := w.Apply(leading(ctx), placedOn(job, "n1")); !errors.Is(err, cluster.ErrRefused) {
		t.Errorf("%v", err)
	}
}
