package main

import (
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// sound is a cluster in which all is as it was asked.
func sound() (map[string]request, seen) {
	jobs := map[string]request{
		"service": {jobType: api.JobTypeService, count: 2},
		"batch":   {jobType: api.JobTypeBatch},
		"updated": {jobType: api.JobTypeService, mark: 3},
	}
	stub := func(id, job, node string, version uint64) *api.AllocationListStub {
		return &api.AllocationListStub{
			ID: id, JobID: job, NodeID: node, JobVersion: version,
			DesiredStatus: api.AllocDesiredStatusRun, ClientStatus: api.AllocClientStatusRunning,
		}
	}
	return jobs, seen{
		live: []*api.AllocationListStub{
			stub("s1", "service", "n1", 0), stub("s2", "service", "n2", 0), stub("b", "batch", "n1", 0), stub("u", "updated", "n1", 4),
			stub("e", "everywhere", "n1", 0),
		},
		versions: map[string]version{"updated": {4, 3}},
		running: map[string]place{
			"s1": {"service", "n1"}, "s2": {"service", "n2"}, "b": {"batch", "n1"}, "u": {"updated", "n1"},
			"older": {"service", "failed"}, "e": {"everywhere", "n1"},
		},
		held: map[string]bool{}, ended: map[string]bool{}, gone: map[string]bool{"failed": true},
	}
}

func TestNothingIsWrongWithASoundCluster(t *testing.T) {
	t.Parallel()
	if v := judge(sound()); len(v.faults) > 0 || v.allocations != 4 || v.ended != 0 {
		t.Errorf("%+v", v)
	}
}

// A fault, and one that an evaluation mends.
func TestWhatWaitsForAFailedNodeIsMissed(t *testing.T) {
	t.Parallel()
	jobs, s := sound()
	s.live[2].ClientStatus, s.live[2].NodeID = api.AllocClientStatusPending, "failed"
	if v := judge(jobs, s); len(v.missed) != 1 || v.missed["batch"] != "failed" || v.faults["batch"] == "" {
		t.Errorf("%+v", v)
	}
}

func TestEveryFaultIsSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(s *seen)
		job   string
		says  string
	}{
		"lost":             {func(s *seen) { s.live = s.live[:2] }, "batch", "0 of it run"},
		"one of two lost":  {func(s *seen) { s.live = s.live[1:] }, "service", "1 of it run"},
		"doubled":          {func(s *seen) { s.live = append(s.live, s.live[2]) }, "batch", "2 of it run"},
		"held":             {func(s *seen) { s.held["service"] = true }, "service", "hold pool"},
		"of an old one":    {func(s *seen) { s.live[3].JobVersion = 3 }, "updated", "version 3 of 4"},
		"update lost":      {func(s *seen) { s.versions["updated"] = version{4, 2} }, "updated", "mark 2"},
		"never started":    {func(s *seen) { s.live[2].ClientStatus = api.AllocClientStatusPending }, "batch", "pending"},
		"being stopped":    {func(s *seen) { s.live[2].DesiredStatus = api.AllocDesiredStatusStop }, "batch", "is to stop"},
		"on a failed node": {func(s *seen) { s.gone["n2"] = true }, "service", "node that failed"},
		"not on its node":  {func(s *seen) { delete(s.running, "b") }, "batch", "nothing of it"},
		"elsewhere":        {func(s *seen) { s.running["b"] = place{"batch", "n2"} }, "batch", "runs on n2"},
		"never stopped":    {func(s *seen) { s.running["x"] = place{"batch", "n2"} }, "batch", "says it has ended"},
		"service drained":  {func(s *seen) { s.live = s.live[1:]; s.ended["service"] = true }, "service", "1 of it run"},
	} {
		jobs, s := sound()
		c.spoil(&s)
		if v := judge(jobs, s); !strings.Contains(v.faults[c.job], c.says) {
			t.Errorf("%s: %v, want %q of %s", name, v.faults, c.says, c.job)
		}
	}
}

func TestBatchJobsEndedByADrainAreCountedApart(t *testing.T) {
	t.Parallel()
	jobs, s := sound()
	s.live = append(s.live[:2:2], s.live[3:]...)
	delete(s.running, "b")
	s.ended["batch"] = true
	if v := judge(jobs, s); len(v.faults) > 0 || v.ended != 1 || v.allocations != 3 {
		t.Errorf("%+v", v)
	}
}
