package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// refuse makes the world refuse writes of jobs whose name begins with "refused", for
// good, and returns how many it refused.
func refuse(world *memWorld) (attempts func() int) {
	var mu sync.Mutex
	n := 0
	world.beforeApply = func(p cluster.Plan) error {
		if !strings.HasPrefix(p.Job.ID.ID, "refused") {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Errorf("permission denied: %w", cluster.ErrRefused)
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func heldFor(hold time.Duration) func(*cluster.Job) {
	return func(j *cluster.Job) { j.Workloads[0].Spec.Hold = hold }
}

// A replica that does not lead releases every job at its deadline, whatever Nomad says
// of others.
func TestARefusedJobDoesNotStopTheDeadlineGuard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		attempts := refuse(world)
		stop := watchDeadlines(t, engine.Config{World: world, Store: mem.New(), Clock: wallClock{}})
		world.submit(testJob("refused", heldFor(time.Minute)))
		innocent := world.submit(testJob("innocent", heldFor(time.Minute)))
		settle(time.Minute + 10*time.Second)
		if world.get(innocent.ID).job.Held {
			t.Error("still held 10 s after its deadline")
		}
		settle(time.Hour)
		// Eight attempts until they are a minute apart, then one a minute.
		if n := attempts(); n < 55 || n > 70 {
			t.Errorf("%d attempts at the refused job in an hour, want about one a minute", n)
		}
		stop()
	})
}

// Jobs that are refused for good take no place in the queue: with as many as are placed
// at once, and more, another job is placed at once all the same.
func TestRefusedJobsTakeNoPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		refuse(world)
		start(t, world, mem.New())
		for i := range 40 {
			world.submit(testJob(fmt.Sprint("refused-", i), heldFor(24*time.Hour), func(j *cluster.Job) {
				j.Workloads[0].Ask = cluster.Resources{CPUMHz: 10, MemoryMB: 10}
				j.Workloads[0].ProfileKey = "same"
			}))
		}
		settle(2 * time.Hour)
		innocent := world.submit(testJob("innocent", heldFor(10*time.Minute), func(j *cluster.Job) { j.Workloads[0].ProfileKey = "same" }))
		settle(time.Minute)
		if j := world.get(innocent.ID); j.job.Held || len(j.plan.Decisions) != 1 {
			t.Errorf("held %v, plan %+v: want it placed by a decision within a minute", j.job.Held, j.plan)
		}
	})
}

// The user of a job that stays held is told so, once, and a version that is accepted is
// tried at once.
func TestARefusalIsSaidOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		refuse(world)
		start(t, world, mem.New())
		job := testJob("refused", heldFor(time.Minute))
		world.submit(job)
		settle(time.Hour)
		said := 0
		for _, note := range world.notes {
			if strings.Contains(note, "cannot be released") && strings.Contains(note, "permission denied") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("said %d times, want once: %q", said, world.notes)
		}
		world.beforeApply = nil
		world.submit(job)
		settle(30 * time.Second)
		if world.get(job.ID).job.Held {
			t.Error("the new version waits for the back-off of the old one")
		}
	})
}

// What stays held is counted, for as long as it is refused.
func TestRefusedReleasesAreCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := twoNodes()
		refuse(world)
		b := start(t, world, mem.New())
		job := testJob("refused", heldFor(time.Minute))
		world.submit(job)
		world.submit(testJob("innocent", heldFor(time.Minute)))
		settle(5 * time.Minute)
		if n := b.engine.RefusedReleases(); n != 1 {
			t.Errorf("%d refused, want 1", n)
		}
		world.mu.Lock()
		world.beforeApply = nil
		world.mu.Unlock()
		settle(2 * time.Minute)
		if n := b.engine.RefusedReleases(); n != 0 {
			t.Errorf("%d refused after it was released", n)
		}
	})
}
