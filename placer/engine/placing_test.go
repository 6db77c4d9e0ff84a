package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// wholeNode makes a job that fills a node and needs no profile.
func wholeNode(j *cluster.Job) {
	j.Workloads[0].Ask = cluster.Resources{CPUMHz: 2000, MemoryMB: 3000}
	j.Workloads[0].Spec.Profile.Skip = true
}

// TestWritesUnderWayAreSeen holds back every write: each job has been decided on
// by then, and none on a node that was promised to another one.
func TestWritesUnderWayAreSeen(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		const jobs = 4
		var nodes []*cluster.Node
		for i := range jobs {
			nodes = append(nodes, testNode(fmt.Sprint("n", i), "fast"))
		}
		world := newWorld(nodes...)
		chosen := make(chan cluster.NodeID, jobs)
		write := make(chan struct{})
		world.beforeApply = func(p cluster.Plan) error {
			chosen <- p.Decisions[0].Candidates[0].Node
			<-write
			return nil
		}
		start(t, world, mem.New())
		for i := range jobs {
			world.submit(testJob(fmt.Sprint("job", i), wholeNode))
		}
		settle(time.Second)
		if len(chosen) != jobs {
			t.Fatalf("%d of %d jobs are being written", len(chosen), jobs)
		}
		seen := map[cluster.NodeID]bool{}
		for range jobs {
			seen[<-chosen] = true
		}
		if len(seen) != jobs {
			t.Errorf("%d jobs that fill a node each were given %d nodes", jobs, len(seen))
		}
		close(write)
		settle(time.Second)
		for i := range jobs {
			if world.get(cluster.JobID{Namespace: "default", ID: fmt.Sprint("job", i)}).job.Held {
				t.Errorf("job %d is held", i)
			}
		}
	})
}

// TestAFailedWriteGivesItsNodeBack: a promise ends with its write, however that
// ended.
func TestAFailedWriteGivesItsNodeBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := newWorld(testNode("only", "fast"))
		world.beforeApply = func(p cluster.Plan) error {
			if p.Job.ID.ID == "first" {
				return cluster.ErrStale
			}
			return nil
		}
		b := start(t, world, mem.New())
		first := world.submit(testJob("first", wholeNode))
		settle(100 * time.Millisecond)
		world.stop(first.ID)
		world.submit(testJob("second", wholeNode))
		settle(5 * time.Second)
		second := world.get(cluster.JobID{Namespace: "default", ID: "second"})
		if second.job.Held || len(second.allocs) != 1 {
			t.Errorf("held %v, allocations %v", second.job.Held, second.allocs)
		}
		if d := b.decision(second.job.Workloads[0].ID); d.Outcome != cluster.Placed {
			t.Errorf("outcome %s: %s", d.Outcome, d.Reason)
		}
	})
}
