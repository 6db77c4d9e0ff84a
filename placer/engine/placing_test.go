package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// wholeNode makes a job that fills a node and needs no profile.
func wholeNode(j *cluster.Job) {
	j.Workloads[0].Ask = cluster.Resources{CPUMHz: 2000, MemoryMB: 3000}
	j.Workloads[0].Spec.Profile.Skip = true
}

// TestWritesUnderWayAreSeen holds back every write: each job has been decided on
// by then, and none on a node that another one's plan has taken.
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

// TestAFailedWriteGivesItsNodeBack: an in-flight plan ends with its write, however that
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

// TestWhatIsSentTogetherIsDecidedTogether: a best-effort job comes first and a service
// moments later, with room for one of them.
func TestWhatIsSentTogetherIsDecidedTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := newWorld(testNode("only", "fast"))
		start(t, world, mem.New())
		filler := world.submit(testJob("filler", wholeNode, func(j *cluster.Job) {
			j.Workloads[0].Spec.Target = performance.Target{Kind: performance.BestEffort}
		}))
		time.Sleep(50 * time.Millisecond)
		service := world.submit(testJob("service", wholeNode, func(j *cluster.Job) {
			j.Workloads[0].Spec.Target.Latency = &performance.Latency{Percentile: 99, Max: 10 * time.Millisecond}
		}))
		settle(time.Second)
		if got := world.get(service.ID); got.job.Held || len(got.allocs) != 1 {
			t.Errorf("the service: held %v, allocations %v", got.job.Held, got.allocs)
		}
		if got := world.get(filler.ID); len(got.allocs) != 0 {
			t.Errorf("best effort has the room of the service: %v", got.allocs)
		}
	})
}
