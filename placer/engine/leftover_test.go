package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// A job that nothing was decided on has a record of its evaluation, which goes with it, also
// under another leader.
func TestAnEvaluationWithoutADecisionGoesWithItsJob(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			world, s := twoNodes(), mem.New()
			b := start(t, world, s)
			job := world.submit(testJob("plain", func(j *cluster.Job) { j.Workloads = nil }))
			settle(time.Minute)
			if _, err := b.engine.Book().Evaluation(t.Context(), job.ID); err != nil {
				t.Fatal(err)
			}
			if again {
				b.stop()
				b = start(t, world, s)
			}
			world.purge(job.ID)
			settle(time.Minute)
			if e, err := b.engine.Book().Evaluation(t.Context(), job.ID); !errors.Is(err, cluster.ErrNoRecord) {
				t.Errorf("another leader %v: %+v, %v, want no record", again, e, err)
			}
		})
	}
}

// What another replica has written of a job goes with the job, too: the leader has decided
// nothing on one that was released at its deadline without it.
func TestRecordsOfAnotherReplicaGoWithTheJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		world, s := twoNodes(), mem.New()
		b := start(t, world, s)
		job := world.submit(testJob("late", func(j *cluster.Job) { j.Held, j.Complete = false, true }))
		settle(time.Minute)
		w := job.Workloads[0].ID
		if err := b.engine.Book().PutDecision(t.Context(), cluster.Decision{Workload: w, Outcome: cluster.Stock}); err != nil {
			t.Fatal(err)
		}
		world.purge(job.ID)
		settle(time.Minute)
		if d, err := b.engine.Book().Decision(t.Context(), w); !errors.Is(err, cluster.ErrNoRecord) {
			t.Errorf("%+v, %v, want no record", d, err)
		}
	})
}
