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
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		e, err := engine.New(engine.Config{World: world, Store: mem.New(), Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.WatchDeadlines(ctx) }()
		const apart = 300 * time.Millisecond // no divisor of the time between two looks
		var jobs []cluster.JobID
		for i := range 20 {
			jobs = append(jobs, world.submit(testJob(fmt.Sprintf("job-%d", i), heldFor(time.Minute))).ID)
			settle(apart)
		}
		settle(time.Minute + 5*time.Second - time.Duration(len(jobs))*apart)
		for i, id := range jobs {
			if world.get(id).job.Held {
				t.Errorf("job %d is held 5 s after its deadline", i)
			}
			settle(apart)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// It begins as soon as the leader has had its time, 2 s after the deadline: the rest is for
// Nomad, which may be slow.
func TestAReplicaLooksAtEachDeadline(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		e, err := engine.New(engine.Config{World: world, Store: mem.New(), Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.WatchDeadlines(ctx) }()
		const apart = 300 * time.Millisecond // no divisor of the time between two looks
		var jobs []cluster.JobID
		for i := range 10 {
			jobs = append(jobs, world.submit(testJob(fmt.Sprintf("job-%d", i), heldFor(time.Minute))).ID)
			settle(apart)
		}
		settle(time.Minute + 2*time.Second + apart/3 - time.Duration(len(jobs))*apart)
		for i, id := range jobs {
			if world.get(id).job.Held {
				t.Errorf("job %d is held 2.1 s after its deadline", i)
			}
			settle(apart)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A Nomad under heavy load takes seconds for each request, and for some jobs longer than for
// others. A release that takes long comes about all the same, and jobs that become due
// meanwhile do not wait for it.
func TestASlowReleaseKeepsNoOtherJobHeld(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		slow := cluster.JobID{Namespace: "default", ID: "slow"}
		e, err := engine.New(engine.Config{World: lateWorld{world, slow}, Store: mem.New(), Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.WatchDeadlines(ctx) }()
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
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
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
