package main

import (
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

func ptr[T any](v T) *T { return &v }

// jobOf is a version of a job as Nomad has it after its release.
func jobOf(mark, count int, version uint64) *api.Job {
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/bash")
	task.Meta = map[string]string{"mark": string(rune('0' + mark))}
	job := api.NewServiceJob("web", "web", "global", 50).AddTaskGroup(api.NewTaskGroup("main", count).AddTask(task))
	job.NodePool, job.Stop, job.Version, job.Status = ptr("default"), ptr(false), ptr(version), ptr("running")
	return job
}

func allocOf(id string, version uint64) *api.AllocationListStub {
	return &api.AllocationListStub{ID: id + strings.Repeat("0", 8), JobVersion: version, DesiredStatus: api.AllocDesiredStatusRun, ClientStatus: api.AllocClientStatusRunning}
}

func TestTheLedgerSeesWhatIsNotAsAsked(t *testing.T) {
	t.Parallel()
	one, two := allocOf("a", 3), allocOf("b", 3)
	both := map[string]int{one.ID: 1, two.ID: 1}
	for name, c := range map[string]struct {
		change func(*entry, *seen)
		want   string // "" is nothing
	}{
		"as asked":                     {func(*entry, *seen) {}, ""},
		"lost":                         {func(_ *entry, s *seen) { s.job = nil }, "it is lost"},
		"held":                         {func(_ *entry, s *seen) { s.job.NodePool = ptr("placer") }, "it is held"},
		"older":                        {func(_ *entry, s *seen) { s.job = jobOf(1, 2, 3) }, "it is version 1"},
		"stopped":                      {func(_ *entry, s *seen) { s.job.Stop = ptr(true) }, "nobody asked"},
		"changed":                      {func(_ *entry, s *seen) { s.job.TaskGroups[0].Tasks[0].Config["command"] = "/bin/sh" }, "configuration of main/main"},
		"too few":                      {func(_ *entry, s *seen) { s.allocs = s.allocs[:1] }, "1 allocations run"},
		"twice":                        {func(_ *entry, s *seen) { s.processes = map[string]int{one.ID: 2, two.ID: 1} }, "2 processes"},
		"old alloc":                    {func(_ *entry, s *seen) { s.allocs[0].JobVersion = 2 }, "of version 2"},
		"resurrected":                  {func(e *entry, _ *seen) { e.Wish = stopped }, "it was stopped and is not"},
		"not purged":                   {func(e *entry, _ *seen) { e.Wish = purged }, "it was purged and is there"},
		"a batch job that did not end": {func(e *entry, _ *seen) { e.Spec.Kind = batch }, "0 of 2 have completed"},
		"a child too many": {func(e *entry, s *seen) {
			e.Spec.Kind = parameterized
			s.kids = []*api.Job{{ID: ptr("web/dispatch-1"), Status: ptr("dead"), Stop: ptr(false)}}
		}, "nobody dispatched"},
		"a child that was dispatched again": {func(e *entry, s *seen) {
			e.Spec.Kind, e.Kids = parameterized, []dispatched{{"order-1", "web/dispatch-1"}}
			s.kids = []*api.Job{heldKid(), kidOf("web/dispatch-2", "order-1", "placer:web/dispatch-1")}
		}, ""},
		"a child that was dispatched again twice": {func(e *entry, s *seen) {
			e.Spec.Kind, e.Kids = parameterized, []dispatched{{"order-1", "web/dispatch-1"}}
			s.kids = []*api.Job{
				heldKid(), kidOf("web/dispatch-2", "order-1", "placer:web/dispatch-1"), kidOf("web/dispatch-3", "order-1", "placer:web/dispatch-1"),
			}
		}, "nobody dispatched"},
		"a held child that was stopped": {func(e *entry, s *seen) {
			e.Spec.Kind, e.Kids = parameterized, []dispatched{{"order-1", "web/dispatch-1"}}
			s.kids = []*api.Job{heldKid()}
		}, "none in its place"},
		"a child of another dispatch": {func(e *entry, s *seen) {
			e.Spec.Kind, e.Kids = parameterized, []dispatched{{"order-1", "web/dispatch-1"}}
			s.kids = []*api.Job{kidOf("web/dispatch-1", "order-2", "")}
		}, "of dispatch order-2"},
		"a dispatch without a child": {func(e *entry, _ *seen) {
			e.Spec.Kind, e.Kids = parameterized, []dispatched{{"order-1", "web/dispatch-1"}}
		}, "has no child"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := *one, *two
			e := entry{Spec: spec{ID: "web", Kind: service, Mark: 2, Count: 2}, Wish: runs, sent: jobOf(2, 2, 0)}
			s := seen{job: jobOf(2, 2, 3), allocs: []*api.AllocationListStub{&a, &b}, processes: both}
			c.change(&e, &s)
			got := strings.Join(e.faults(s), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// kidOf is a job that was dispatched, and has ended.
func kidOf(id, order, token string) *api.Job {
	return &api.Job{
		ID: ptr(id), Status: ptr("dead"), Stop: ptr(false), NodePool: ptr("default"),
		Meta: map[string]string{"order": order}, DispatchIdempotencyToken: ptr(token),
	}
}

// heldKid was dispatched while its parent was held, and then stopped.
func heldKid() *api.Job {
	kid := kidOf("web/dispatch-1", "order-1", "")
	kid.Stop, kid.NodePool = ptr(true), ptr("placer")
	return kid
}
