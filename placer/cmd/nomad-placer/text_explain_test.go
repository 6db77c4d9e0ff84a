package main

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// TestExplainTellsTheSizing: what was considered, what was taken, and why.
func TestExplainTellsTheSizing(t *testing.T) {
	t.Parallel()
	rate := func(v float64) cluster.Prediction {
		return cluster.Prediction{Known: true, RatePerSec: v, Low: v, High: v, Unit: "frames/s"}
	}
	d := cluster.Decision{
		Workload: cluster.WorkloadID{Namespace: "default", Job: "encode", Group: "main"}, Outcome: cluster.Placed, Count: 2,
		Target:     performance.Target{Kind: performance.Rate, Rate: 70, Unit: "frames"},
		Candidates: []cluster.Candidate{{Name: "alpha"}}, Predicted: rate(76), Resources: cluster.Resources{Cores: 1, MemoryMB: 64},
		Sizing: &cluster.Sizing{
			Chosen: true, CountWas: 1, OwnWas: cluster.Resources{Cores: 1, MemoryMB: 256}, Own: cluster.Resources{Cores: 1, MemoryMB: 64},
			Reaches: true, Why: "2 × (1 core, 64 MB) is the least that reaches 70 frames/s", NotTried: 3,
			Tried: []cluster.Tried{
				{Count: 1, Own: cluster.Resources{Cores: 1, MemoryMB: 64}, Predicted: rate(38)},
				{Count: 1, Own: cluster.Resources{Cores: 2, MemoryMB: 64}, Note: "no node has room now"},
				{Count: 2, Own: cluster.Resources{Cores: 1, MemoryMB: 64}, Predicted: rate(76), Reaches: true},
			},
		},
	}
	explained, planned := &command.Page{}, &command.Page{}
	explainPage(explained, explanation{Decision: d}, time.Now())
	planDecision(planned, d, false)
	for name, p := range map[string]*command.Page{"explain": explained, "plan": planned} {
		text := strings.Join(strings.Fields(p.String()), " ")
		for _, want := range []string{
			"Instead of 1 × 1 core, 256 MiB memory", "is the least that reaches 70 frames/s", "too little", "no node has room now", "enough", "3 with more resources were not needed",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("job %s lacks %q:\n%s", name, want, p.String())
			}
		}
	}
}
