package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/placement"
	"github.com/nomad-placer/nomad-placer/profiler/store"
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

// ahead is a job that is not registered yet, as the proxy asks about it.
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
		if e, err := b.engine.Book().Evaluation(t.Context(), webJob); !errors.Is(err, cluster.ErrNoRecord) {
			t.Errorf("a job that waited for nothing has an evaluation: %+v, %v", e, err)
		}
		if plan, err = b.engine.Admit(t.Context(), ahead("web")); err != nil {
			t.Fatal(err)
		}
		b.world.registered(plan)
		settle(3 * time.Second)
		e, err := b.engine.Book().Evaluation(t.Context(), webJob)
		if err != nil || e.Stage != cluster.StageObserve || e.Released != 1 {
			t.Errorf("evaluation of the next version %+v, %v", e, err)
		}
	})
}

// unplacedAre sets how much Nomad has yet to place.
func (w *memWorld) unplacedAre(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unplaced = n
}

// Who asks waits while Nomad places what came before, and no longer.
func TestAdmissionsKeepPaceWithNomad(t *testing.T) {
	t.Parallel()
	const many, each = 200, 50 * time.Millisecond
	for name, c := range map[string]struct {
		begin, perStep int
		from, to       time.Duration
	}{
		"few":               {60, 0, 0, 150 * time.Millisecond},
		"it places them":    {many, 20, 300 * time.Millisecond, 700 * time.Millisecond},
		"it is stuck":       {many, 0, 200 * time.Millisecond, 500 * time.Millisecond},
		"it is very slow":   {many, 1, time.Second, 1300 * time.Millisecond},
		"it places at once": {many, many, 50 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				b := start(t, twoNodes(), mem.New())
				b.profiled()
				b.world.unplacedAre(c.begin)
				if _, err := b.engine.Admit(t.Context(), ahead("first")); err != nil { // it sees how many there are
					t.Fatal(err)
				}
				settle(time.Second)
				done := make(chan struct{})
				defer close(done)
				go func() {
					for left := c.begin - c.perStep; ; left -= c.perStep {
						select {
						case <-done:
							return
						case <-time.After(each):
							b.world.unplacedAre(max(0, left))
						}
					}
				}()
				began := time.Now()
				if _, err := b.engine.Admit(t.Context(), ahead("web")); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < c.from || took > c.to {
					t.Errorf("it waited %v, want %v to %v", took, c.from, c.to)
				}
			})
		})
	}
}

// readingStore counts how often a profile is read.
type readingStore struct {
	store.Store
	reads atomic.Int64
}

func (s *readingStore) Get(ctx context.Context, path string) (store.Document, error) {
	if strings.HasPrefix(path, "profile/") {
		s.reads.Add(1)
	}
	return s.Store.Get(ctx, path)
}

// Jobs of one kind that come together have their profile read once.
func TestAdmissionsReadAProfileOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		counted := &readingStore{Store: mem.New()}
		b := start(t, twoNodes(), counted)
		b.profiled()
		admit := func(name string) int64 {
			t.Helper()
			before := counted.reads.Load()
			if _, err := b.engine.Admit(t.Context(), ahead(name)); err != nil {
				t.Fatal(err)
			}
			return counted.reads.Load() - before
		}
		if got := [2]int64{admit("a"), admit("b")}; got != [2]int64{1, 0} {
			t.Errorf("read %v times", got)
		}
		settle(3 * time.Second)
		if n := admit("c"); n != 1 {
			t.Errorf("after a while read %d times", n)
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
		if _, err := b.engine.Admit(t.Context(), ahead("a")); !errors.Is(err, placement.ErrMustBeHeld) || !strings.Contains(err.Error(), "not registered yet") {
			t.Errorf("the same job is admitted twice: %v", err)
		}
		if _, err := b.engine.Admit(t.Context(), ahead("c", wholeNode)); !errors.Is(err, placement.ErrMustBeHeld) || !strings.Contains(err.Error(), "waits for room") {
			t.Errorf("a third is admitted: %v", err)
		}
		settle(20 * time.Second) // none was registered
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
			if _, err := b.engine.Admit(t.Context(), job); !errors.Is(err, placement.ErrMustBeHeld) || !strings.Contains(err.Error(), reason) {
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
