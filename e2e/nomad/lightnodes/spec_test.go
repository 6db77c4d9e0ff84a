package main

import (
	"testing"

	"github.com/hashicorp/nomad/helper/uuid"
	"github.com/hashicorp/nomad/nomad/mock"
	"github.com/hashicorp/nomad/nomad/structs"
	"github.com/hashicorp/nomad/scheduler"
	"github.com/hashicorp/nomad/scheduler/tests"
)

// TestSchedulerTakesLightNodes: Nomad's own scheduler finds a light node good
// enough for a job, so that what the rig measures is placing and not waiting.
func TestSchedulerTakesLightNodes(t *testing.T) {
	s := spec{Seed: 1, Templates: []template{{
		Count: 3, Name: "light", Datacenter: "dc1", Class: "c", Pool: "default", Cores: 8, CoreMHz: 2000, MemoryMB: 8192, DiskMB: 100_000,
		Attributes: map[string]string{"kernel.name": "linux"}, Drivers: []string{"exec"},
	}}}
	nodes, err := s.nodes()
	if err != nil {
		t.Fatal(err)
	}
	h := tests.NewHarness(t)
	for _, n := range nodes {
		n.Status = structs.NodeStatusReady
		if err := h.State.UpsertNode(structs.MsgTypeTestSetup, h.NextIndex(), n); err != nil {
			t.Fatal(err)
		}
	}
	job := mock.MinJob()
	job.TaskGroups[0].Tasks[0].Driver = "exec"
	job.TaskGroups[0].Tasks[0].Resources = &structs.Resources{CPU: 800, MemoryMB: 400}
	job.Canonicalize()
	if err := h.State.UpsertJob(structs.MsgTypeTestSetup, h.NextIndex(), nil, job); err != nil {
		t.Fatal(err)
	}
	evaluation := &structs.Evaluation{
		Namespace: structs.DefaultNamespace, ID: uuid.Generate(), Priority: 50, TriggeredBy: structs.EvalTriggerJobRegister,
		JobID: job.ID, Status: structs.EvalStatusPending, Type: job.Type,
	}
	if err := h.State.UpsertEvals(structs.MsgTypeTestSetup, h.NextIndex(), []*structs.Evaluation{evaluation}); err != nil {
		t.Fatal(err)
	}
	if err := h.Process(scheduler.NewServiceScheduler, evaluation); err != nil {
		t.Fatal(err)
	}
	allocs, err := h.State.AllocsByJob(nil, structs.DefaultNamespace, job.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Evals {
		for group, m := range e.FailedTGAllocs {
			t.Errorf("group %s: %+v", group, m)
		}
	}
	if len(allocs) != 1 {
		t.Errorf("%d allocations", len(allocs))
	}
}

func TestTheSameSpecMakesTheSameNodes(t *testing.T) {
	s := spec{Seed: 7, Templates: []template{{Count: 4, Name: "a"}, {Count: 2, Name: "b"}}}
	first, err := s.nodes()
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.nodes()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range first {
		if first[i].ID != second[i].ID || first[i].Name != second[i].Name {
			t.Errorf("node %d: %s and %s", i, first[i].ID, second[i].ID)
		}
		seen[first[i].ID] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d different IDs of 6", len(seen))
	}
}
