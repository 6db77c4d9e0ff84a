package nomadapi

import (
	"fmt"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// A group is stranded if Nomad has no node for it and none is left that it was bound to:
// also where an old version of its job came back. One that was told to wait is not.
func TestStranded(t *testing.T) {
	t.Parallel()
	w, server, ctx, job := runningJob(t)
	id := job.Workloads[0].ID
	want := func(when, want string) {
		t.Helper()
		if got, err := w.Stranded(ctx); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: stranded %v, %v, want %s", when, got, err, want)
		}
	}
	bind := func(nodes ...cluster.Candidate) {
		t.Helper()
		now, err := w.Job(ctx, job.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Adjust(ctx, cluster.Change{Workload: id, ModifyIndex: now.ModifyIndex, Rebind: true, Nodes: nodes}); err != nil {
			t.Fatal(err)
		}
	}
	bind(cluster.Candidate{Node: "gone"}, cluster.Candidate{Node: "gone-too"})
	want("nothing is blocked", "[]")
	server.Blocked = []nomadtest.Object{
		{"JobID": "web", "Namespace": "default", "FailedTGAllocs": nomadtest.Object{id.Group: nomadtest.Object{"NodePool": "prod"}}},
		{"JobID": "of somebody else", "Namespace": "default", "FailedTGAllocs": nomadtest.Object{"g": nomadtest.Object{}}},
	}
	want("its nodes are gone", fmt.Sprintf("[%s]", id))
	bind(cluster.Candidate{Node: "gone"}, cluster.Candidate{Node: "n2"})
	want("one is left", "[]")
	bind()
	want("it was told to wait", "[]")
}
