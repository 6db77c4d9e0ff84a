package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// profiled leaves the profile of the test jobs in the store, and no job.
func (b *bench) profiled() {
	b.t.Helper()
	settle(time.Second) // Run has begun
	job := b.world.submit(testJob("first"))
	settle(time.Minute)
	b.world.purge(job.ID)
	settle(5 * time.Second)
}

// ahead is a job that is not registered yet, as a front door asks about it.
func ahead(name string, change ...func(*cluster.Job)) cluster.Job {
	known := func(j *cluster.Job) { j.Workloads[0].ProfileKey = "keyfirst" }
	return testJob(name, append([]func(*cluster.Job){known}, change...)...)
}

// registered registers an admitted job as its plan says.
func (w *memWorld) registered(p cluster.Plan) cluster.Job {
	job := p.Job
	job.Held = false
	job.Workloads = append([]cluster.Workload(nil), job.Workloads...)
	for i, wl := range job.Workloads {
		job.Workloads[i].Bound = boundBy(p, wl)
	}
	return w.submit(job)
}

func TestAnAdmittedJobIsRecordedOnceItIsRegistered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.profiled()
		applied := len(b.world.applied)
		plan, err := b.engine.Admit(t.Context(), ahead("web"))
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Decisions) != 1 || plan.Decisions[0].Outcome != cluster.Placed || plan.Message == "" || plan.Page == "" {
			t.Fatalf("plan %+v", plan)
		}
		if _, err := b.engine.Book().Decision(t.Context(), webGroup); !errors.Is(err, cluster.ErrNoRecord) {
			t.Errorf("a decision is on record before the job is: %v", err)
		}
		job := b.world.registered(plan)
		settle(3 * time.Second)
		d := b.decision(webGroup)
		if d.Outcome != cluster.Placed || d.JobVersion != job.Version || d.ModifyIndex != job.ModifyIndex || len(d.Steps) == 0 {
			t.Errorf("decision %s of version %d at %d, steps %v", d.Outcome, d.JobVersion, d.ModifyIndex, d.Steps)
		}
		if len(b.world.applied) != applied || len(b.world.adopted) != 1 {
			t.Errorf("%d plans were written, %d adopted", len(b.world.applied)-applied, len(b.world.adopted))
		}
		e, err := b.engine.Book().Evaluation(t.Context(), webJob)
		if err != nil || e.Stage != cluster.StageObserve || e.Released != job.Version {
			t.Errorf("evaluation %+v, %v", e, err)
		}
	})
}

// Two jobs of a whole node each are asked about; neither is registered yet.
func TestAdmittedJobsSeeEachOther(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, twoNodes(), mem.New())
		b.profiled()
		nodes := map[cluster.NodeID]bool{}
		for _, name := range []string{"a", "b"} {
			plan, err := b.engine.Admit(t.Context(), ahead(name, wholeNode))
			if err != nil {
				t.Fatal(err)
			}
			nodes[plan.Decisions[0].Candidates[0].Node] = true
		}
		if len(nodes) != 2 {
			t.Errorf("both on %v", nodes)
		}
		if _, err := b.engine.Admit(t.Context(), ahead("a")); !errors.Is(err, engine.ErrMustBeHeld) || !strings.Contains(err.Error(), "not registered yet") {
			t.Errorf("the same job is admitted twice: %v", err)
		}
		if _, err := b.engine.Admit(t.Context(), ahead("c", wholeNode)); !errors.Is(err, engine.ErrMustBeHeld) || !strings.Contains(err.Error(), "waits for room") {
			t.Errorf("a third is admitted: %v", err)
		}
		settle(20 * time.Second) // nobody registered them
		if _, err := b.engine.Admit(t.Context(), ahead("c", wholeNode)); err != nil {
			t.Errorf("what nobody registered still takes room: %v", err)
		}
	})
}

// Somebody else's version came in between: it was not decided on.
func TestAnotherVersionThanTheAdmittedOneIsAdvised(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cluster.Job){
		"not bound":         func(j *cluster.Job) { j.Workloads[0].Bound = 0 },
		"bound differently": func(j *cluster.Job) { j.Workloads[0].Bound++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				b := start(t, twoNodes(), mem.New())
				b.profiled()
				plan, err := b.engine.Admit(t.Context(), ahead("web"))
				if err != nil {
					t.Fatal(err)
				}
				job := plan.Job
				job.Held = false
				job.Workloads = append([]cluster.Workload(nil), job.Workloads...)
				job.Workloads[0].Bound = plan.Decisions[0].ShortlistDigest(job.Type)
				change(&job)
				b.world.submit(job)
				settle(3 * time.Second)
				if d := b.decision(webGroup); d.Outcome != cluster.Stock || !strings.Contains(d.Reason, "advice only") {
					t.Errorf("decision %s: %s", d.Outcome, d.Reason)
				}
			})
		})
	}
}

func TestWhatIsNotAdmitted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		store := mem.New()
		b := start(t, twoNodes(), store)
		refused := func(job cluster.Job, reason string) {
			t.Helper()
			if _, err := b.engine.Admit(t.Context(), job); !errors.Is(err, engine.ErrMustBeHeld) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want %q", job.ID, err, reason)
			}
		}
		settle(time.Second)
		refused(ahead("web"), "no complete profile")
		b.profiled()
		refused(ahead("web", func(j *cluster.Job) { j.Type = "system" }), "its type")
		refused(ahead("web", func(j *cluster.Job) { j.Workloads = nil }), "no performance block")
		refused(ahead("web", func(j *cluster.Job) { j.Problems = []string{"line 3"} }), "no performance block")

		b.world.submit(testJob("web"))
		refused(ahead("web"), "is held")
		settle(time.Minute)
		b.stop()
		refused(ahead("web"), "does not lead")
	})
}

func TestAnAdmissionEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		b := start(t, newWorld(testNode("only", "fast")), mem.New())
		b.profiled()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.engine.Admit(ctx, ahead("gone", wholeNode)); err == nil {
			t.Error("somebody who left was admitted")
		}
		if _, err := b.engine.Admit(t.Context(), ahead("next", wholeNode)); err != nil {
			t.Errorf("who left still takes room: %v", err)
		}
	})
}
