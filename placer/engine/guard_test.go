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
