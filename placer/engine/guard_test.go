package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A replica that does not lead releases a job within 5 s of its deadline, whenever it looks.
func TestAReplicaReleasesWithinFiveSecondsOfTheDeadline(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) { eachIsReleased(t, 20, 5*time.Second) })
}

// It begins as soon as the leader has had its time, 2 s after the deadline: the rest is for
// Nomad, which may be slow.
func TestAReplicaLooksAtEachDeadline(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) { eachIsReleased(t, 10, 2100*time.Millisecond) })
}

// eachIsReleased submits jobs one after the other, and looks at each so long after its deadline.
func eachIsReleased(t *testing.T, count int, after time.Duration) {
	t.Helper()
	world := twoNodes()
	stop := watchDeadlines(t, engine.Config{World: world, Store: mem.New(), Clock: wallClock{}})
	const apart = 300 * time.Millisecond // no divisor of the time between two looks
	var jobs []cluster.JobID
	for i := range count {
		jobs = append(jobs, world.submit(testJob(fmt.Sprintf("job-%d", i), heldFor(time.Minute))).ID)
		settle(apart)
	}
	settle(time.Minute + after - time.Duration(len(jobs))*apart)
	for i, id := range jobs {
		if world.get(id).job.Held {
			t.Errorf("job %d is held %s after its deadline", i, after)
		}
		settle(apart)
	}
	stop()
}

// A Nomad under heavy load takes seconds for each request, and for some jobs longer than for
// others. A release that takes long comes about all the same, and jobs that become due
// meanwhile do not wait for it.
func TestASlowReleaseKeepsNoOtherJobHeld(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		slow := cluster.JobID{Namespace: "default", ID: "slow"}
		stop := watchDeadlines(t, engine.Config{World: lateWorld{world, slow}, Store: mem.New(), Clock: wallClock{}})
		world.submit(testJob("slow", heldFor(time.Minute)))
		settle(3 * time.Second)
		other := world.submit(testJob("other", heldFor(time.Minute))).ID
		settle(time.Minute + 5*time.Second)
		if world.get(other).job.Held {
			t.Error("a job is held 5 s after its deadline: it waits for the release of another one")
		}
		settle(10 * time.Second)
		if world.get(slow).job.Held {
			t.Error("the job whose release takes 15 s is held 18 s after its deadline")
		}
		stop()
	})
}

// watchDeadlines runs the deadline guard of a replica that does not lead, until it is stopped.
func watchDeadlines(t *testing.T, cfg engine.Config) (stop func()) {
	t.Helper()
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.WatchDeadlines(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// lateWorld takes 15 s for each write of one job, and gives it up where its context ends.
type lateWorld struct {
	*memWorld
	slow cluster.JobID
}

func (w lateWorld) Apply(ctx context.Context, p cluster.Plan) (cluster.PlanResult, error) {
	if p.Job.ID == w.slow {
		select {
		case <-ctx.Done():
			return cluster.PlanResult{}, ctx.Err()
		case <-time.After(15 * time.Second):
		}
	}
	return w.memWorld.Apply(ctx, p)
}
