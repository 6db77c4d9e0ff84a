//go:build e2e

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// TestBurst sends a burst of jobs of known workloads at a cluster of light nodes:
// all are placed, on the nodes decided on, registered once where they pass the proxy
// and twice where they are held, and without a storm of evaluations; nothing is left.
func TestBurst(t *testing.T) {
	for _, c := range []struct {
		name   string
		pool   bool
		writes int // the user's included
	}{{"through the proxy", false, 1}, {"into the hold pool", true, 2}} {
		t.Run(c.name, func(t *testing.T) { burst(t, c.pool, c.writes) })
	}
}

func burst(t *testing.T, pool bool, writes int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const jobs = 50
	o := options{bin: filepath.Join("..", "..", "bin"), port: 23500, nodes: 200, allocations: 400, jobs: jobs, rounds: 1, writers: 8, seed: 1, pool: pool}
	result, err := measureOnce(ctx, o, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	if result.Wanted.Jobs != jobs || result.Wanted.Stock != 0 {
		t.Errorf("%d of %d jobs have a decision, %d were left to stock Nomad", result.Wanted.Jobs, jobs, result.Wanted.Stock)
	}
	if result.Wanted.FirstShare() < 99 || result.Wanted.ShortlistShare() < 100 {
		t.Errorf("%.0f %% run on the node decided on, %.0f %% inside the shortlist", result.Wanted.FirstShare(), result.Wanted.ShortlistShare())
	}
	if result.Writes.Most != writes {
		t.Errorf("a job was written %d times, not %d", result.Writes.Most, writes)
	}
	// A held job has its own evaluation, the blocked one it leaves, and the one of
	// its release; allocations that get healthy and ended deployments make no more.
	const mostPerJob = 8
	if per := result.Evaluations[placed].PerJob; per > mostPerJob {
		t.Errorf("%.1f evaluations per job", per)
	}
	for _, x := range result.of(placed) {
		for _, s := range x.Samples {
			if s.Blocked > jobs || s.Ready+s.Pending+s.Unacked > 2*jobs {
				t.Errorf("after %.0f s %d evaluations are blocked and %d wait", s.AfterSeconds, s.Blocked, s.Ready+s.Pending+s.Unacked)
			}
		}
	}
	if result.Problems > 0 {
		t.Errorf("light nodes had %d problems, the first: %s", result.Problems, result.Problem)
	}
}
