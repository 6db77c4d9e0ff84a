package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// threeNodes have a shortlist of three for a group of one.
func threeNodes() *memWorld {
	return newWorld(testNode("alpha", "fast"), testNode("beta", "fast"), testNode("gamma", "fast"))
}

func isAdvice(d cluster.Decision) bool { return strings.Contains(d.Reason, "advice only") }

// What a leader learns of a running workload leaves its record whole, so that the next
// leader knows the decision that the job is bound by.
func TestTheRecordOfAMeasuredJobSurvivesARestart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := newLiveWorld(threeNodes().nodes...), mem.New()
		world.perform = steadily(50) // below the target, so that the adapter looks at it again
		b := startLive(t, world, s)
		world.submit(testJob("web", rated))
		settle(5 * time.Minute)
		if world.get(webJob).job.Held || len(world.changes) > 0 {
			t.Fatalf("held %v, changes %v: want it measured, and as it was placed", world.get(webJob).job.Held, world.changes)
		}
		b.stop()
		b = startLive(t, world, s)
		settle(time.Minute)
		if d := b.decision(webGroup); isAdvice(d) || d.Outcome != cluster.Placed {
			t.Errorf("after a restart: %s: %s", d.Outcome, d.Reason)
		}
	})
}

// A job that has completed needs no decision, and keeps what is on record, or nothing.
func TestACompleteJobGetsNoNewDecision(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := threeNodes(), mem.New()
		b := start(t, world, s)
		world.submit(testJob("web", func(j *cluster.Job) { j.Type = "batch" }))
		settle(time.Minute)
		world.complete(webJob)
		b.stop()
		if err := b.engine.Book().Forget(t.Context(), webJob, []cluster.WorkloadID{webGroup}); err != nil {
			t.Fatal(err)
		}
		b = start(t, world, s)
		settle(time.Minute)
		if _, err := b.engine.Book().Decision(t.Context(), webGroup); !errors.Is(err, cluster.ErrNoRecord) {
			t.Errorf("a decision on a job that has completed: %v", err)
		}
	})
}

// A replica that sees an old list does not write its own record over the one that the job
// was released by.
func TestAReleaseThatCameTooLateLeavesTheRecord(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := threeNodes(), mem.New()
		b := start(t, world, s)
		world.submit(testJob("web", heldFor(2*time.Minute)))
		held := world.get(webJob).job
		settle(time.Minute)
		if world.get(webJob).job.Held {
			t.Fatal("not released")
		}
		late, err := engine.New(engine.Config{World: staleList{world, []cluster.Job{held}}, Store: s, Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err := late.WatchDeadlines(ctx); err != nil {
			t.Fatal(err)
		}
		if d := b.decision(webGroup); d.Outcome != cluster.Placed {
			t.Errorf("the record says %s: %s", d.Outcome, d.Reason)
		}
	})
}

// staleList answers with a list from before.
type staleList struct {
	*memWorld
	jobs []cluster.Job
}

func (w staleList) Jobs(context.Context) ([]cluster.Job, error) { return w.jobs, nil }

// A list that got shorter, as when the agent's token lost a namespace, deletes nothing;
// jobs that are gone are forgotten, some at each pass.
func TestAShorterListDeletesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := threeNodes(), mem.New()
		b := start(t, world, s)
		world.submit(testJob("web"))
		var others []cluster.JobID
		for i := range 40 {
			job := testJob(fmt.Sprintf("other-%02d", i), func(j *cluster.Job) {
				j.Workloads[0].Ask = cluster.Resources{CPUMHz: 10, MemoryMB: 10}
				j.Workloads[0].ProfileKey = "same"
			})
			world.submit(job)
			others = append(others, job.ID)
		}
		settle(5 * time.Minute)
		world.hide(webJob)
		for _, id := range others {
			world.purge(id)
		}
		asked := world.asked(webJob)
		settle(30 * time.Minute)
		if n := world.asked(webJob) - asked; n > 10 {
			t.Errorf("asked for the hidden job %d times in half an hour", n)
		}
		decisions, err := b.engine.Book().Decisions(t.Context())
		if err != nil || len(decisions) != 1 || decisions[0].Workload != webGroup {
			t.Errorf("%d records are left, %v: want that of the hidden job alone", len(decisions), err)
		}
		b.stop()
		world.hidden = nil
		b = start(t, world, s)
		settle(time.Minute)
		if d := b.decision(webGroup); isAdvice(d) {
			t.Errorf("after the list is whole again: %s", d.Reason)
		}
	})
}

// A release after the deadline names the steps that it made, and none without a name.
func TestALateReleaseHasNoNamelessStep(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world := threeNodes()
		e, err := engine.New(engine.Config{World: world, Store: mem.New(), Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		world.submit(testJob("web", heldFor(time.Minute)))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := e.WatchDeadlines(ctx); err != nil {
			t.Fatal(err)
		}
		d, err := e.Book().Decision(t.Context(), webGroup)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(d.Steps, func(s cluster.Step) bool { return s.Name == "" }) {
			t.Errorf("steps %+v", d.Steps)
		}
	})
}

// A replica whose clock is ahead asks for the servers' time before it releases a job, and
// waits for the deadline by that.
func TestAClockThatIsAheadReleasesNothingEarly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		clock := &aheadClock{by: 5 * time.Minute}
		world := threeNodes()
		stop := watchDeadlines(t, engine.Config{World: askedWorld{world, clock, 0}, Store: mem.New(), Clock: clock})
		world.submit(testJob("web", heldFor(2*time.Minute)))
		settle(2*time.Minute - time.Second)
		if !world.get(webJob).job.Held {
			t.Error("released before its deadline")
		}
		settle(15 * time.Second)
		if world.get(webJob).job.Held {
			t.Error("still held 14 s after its deadline")
		}
		stop()
	})
}

// aheadClock is ahead until the servers were asked.
type aheadClock struct {
	wallClock
	mu sync.Mutex
	by time.Duration
}

func (c *aheadClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.by)
}

// askedWorld sets the clock to what the servers say when they are asked.
type askedWorld struct {
	*memWorld
	clock   *aheadClock
	servers time.Duration
}

func (w askedWorld) AskTime(context.Context) error {
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	w.clock.by = w.servers
	return nil
}

func (askedWorld) Steady() time.Time { return time.Now() }

// Where the servers' clock was set back a job is not held for longer than it asked for.
func TestServersThatAreSetBackHoldNoJobLonger(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		clock := &aheadClock{}
		world := threeNodes()
		stop := watchDeadlines(t, engine.Config{World: askedWorld{world, clock, -10 * time.Minute}, Store: mem.New(), Clock: clock})
		world.submit(testJob("web", heldFor(2*time.Minute)))
		settle(2*time.Minute - time.Second)
		if !world.get(webJob).job.Held {
			t.Error("released before its deadline")
		}
		settle(6 * time.Second)
		if world.get(webJob).job.Held {
			t.Error("still held 5 s after its deadline")
		}
		stop()
	})
}
