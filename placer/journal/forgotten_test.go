package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// emptyCluster has no job any more.
type emptyCluster struct{ cluster.State }

func (emptyCluster) Job(context.Context, cluster.JobID) (cluster.Job, error) {
	return cluster.Job{}, cluster.ErrGone
}

// A job that is purged while it is measured leaves no readings.
func TestReadingsOfAForgottenJobAreNotKept(t *testing.T) {
	t.Parallel()
	ctx, book := t.Context(), journal.Book{Store: mem.New()}
	d := journal.NewDecisions(book, slog.New(slog.DiscardHandler))
	w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
	d.Record(ctx, []cluster.Decision{{Workload: w}}, nil)
	readings := []cluster.Observation{{Allocation: "a"}}
	if err := d.AddObservations(ctx, w, readings); err != nil {
		t.Fatal(err)
	}
	if kept, err := book.Observations(ctx, w); err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v, want the reading of a job that is there", kept, err)
	}
	d.ForgetGone(ctx, emptyCluster{}, time.Unix(0, 0), nil)
	if err := d.AddObservations(ctx, w, readings); err != nil {
		t.Fatal(err)
	}
	if kept, err := book.Observations(ctx, w); err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v of a job that is gone", kept, err)
	}
}

// dead is a store that removes nothing.
type dead struct{ store.Store }

func (dead) Delete(context.Context, string) error { return errors.New("no answer") }

// lagging is a cluster whose list is older than its answers: the job is there once more.
type lagging struct {
	emptyCluster
	answers int
}

func (l *lagging) Job(ctx context.Context, id cluster.JobID) (cluster.Job, error) {
	if l.answers++; l.answers == 1 {
		return cluster.Job{ID: id, Workloads: []cluster.Workload{{}}}, nil
	}
	return l.emptyCluster.Job(ctx, id)
}

// The records of a job that is gone are removed soon, also where the list was ahead of the
// job, or the store did not answer.
func TestRecordsAreForgottenAtASecondTry(t *testing.T) {
	t.Parallel()
	w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
	for name, world := range map[string]cluster.State{"the list was ahead": &lagging{}, "the store was dead": emptyCluster{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, memory := t.Context(), mem.New()
			flaky := &swapped{memory}
			d := journal.NewDecisions(journal.Book{Store: flaky}, slog.New(slog.DiscardHandler))
			d.Record(ctx, []cluster.Decision{{Workload: w}}, nil)
			flaky.Store = dead{memory}
			d.ForgetGone(ctx, world, time.Unix(0, 0), nil)
			flaky.Store = memory
			d.ForgetGone(ctx, world, time.Unix(1, 0), nil)
			if _, err := (journal.Book{Store: memory}).Decision(ctx, w); err != nil {
				t.Errorf("a second later it is asked for again: %v", err)
			}
			d.ForgetGone(ctx, world, time.Unix(20, 0), nil)
			if _, err := (journal.Book{Store: memory}).Decision(ctx, w); !errors.Is(err, cluster.ErrNoRecord) {
				t.Errorf("after 20 s the decision is left: %v", err)
			}
		})
	}
}

// silent is a cluster that gives no answer until a time.
type silent struct {
	emptyCluster
	until time.Time
}

func (s silent) Job(ctx context.Context, id cluster.JobID) (cluster.Job, error) {
	if time.Now().Before(s.until) {
		<-ctx.Done()
		return cluster.Job{}, ctx.Err()
	}
	return s.emptyCluster.Job(ctx, id)
}

// An answer that does not come keeps the records of other jobs that are gone no longer than
// its own.
func TestRecordsAreForgottenSoonAfterNomadWasSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, book := t.Context(), journal.Book{Store: mem.New()}
		d := journal.NewDecisions(book, slog.New(slog.DiscardHandler))
		for i := range 10 {
			d.Record(ctx, []cluster.Decision{{Workload: cluster.WorkloadID{Namespace: "default", Job: fmt.Sprint(i), Group: "main"}}}, nil)
		}
		began := time.Now()
		for world := (silent{until: began.Add(5 * time.Second)}); time.Since(began) < time.Minute; time.Sleep(2 * time.Second) {
			d.ForgetGone(ctx, world, time.Now(), nil)
		}
		if left, err := book.Decisions(ctx); err != nil || len(left) > 0 {
			t.Errorf("%d decisions are left after a minute, %v", len(left), err)
		}
	})
}

// swapped is a store that can be replaced.
type swapped struct{ store.Store }

// What an agent left that was killed while it forgot a job, or that wrote when another one had
// forgotten it already, is found by the agents that lead later.
func TestRecordsThatNobodyKnowsOfAreForgotten(t *testing.T) {
	t.Parallel()
	ctx, memory := t.Context(), mem.New()
	book := journal.Book{Store: memory}
	w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
	d := journal.NewDecisions(book, slog.New(slog.DiscardHandler))
	if err := d.Load(ctx); err != nil {
		t.Fatal(err)
	}
	readings := []cluster.Observation{{Allocation: "a"}}
	if err := book.AddObservations(ctx, w, readings); err != nil {
		t.Fatal(err)
	}
	d.ForgetGone(ctx, emptyCluster{}, time.Unix(1000, 0), nil)
	if kept, err := book.Observations(ctx, w); err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v, left by an earlier leader", kept, err)
	}
	if err := book.AddObservations(ctx, w, readings); err != nil {
		t.Fatal(err)
	}
	d.ForgetGone(ctx, emptyCluster{}, time.Unix(1500, 0), nil)
	if kept, err := book.Observations(ctx, w); err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v, written by an agent that was paused", kept, err)
	}
	if err := book.PutEvaluation(ctx, cluster.Evaluation{Job: w.JobID()}); err != nil {
		t.Fatal(err)
	}
	d.ForgetGone(ctx, emptyCluster{}, time.Unix(1700, 0), nil)
	if _, err := book.Evaluation(ctx, w.JobID()); !errors.Is(err, cluster.ErrNoRecord) {
		t.Errorf("the evaluation of a job that is gone: %v", err)
	}
	there := &lagging{} // Nomad has the job
	if err := book.AddObservations(ctx, w, readings); err != nil {
		t.Fatal(err)
	}
	d.ForgetGone(ctx, there, time.Unix(2000, 0), nil)
	if kept, err := book.Observations(ctx, w); err != nil || len(kept) != 1 || there.answers != 1 {
		t.Errorf("kept %v, %v of a job that is there, asked for %d times", kept, err, there.answers)
	}
}

// A document that is no record keeps nobody from those that are.
func TestDamagedRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	ctx, memory := t.Context(), mem.New()
	book := journal.Book{Store: memory}
	if err := book.PutDecision(ctx, cluster.Decision{Workload: cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}}); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"decision/0": "nonsense", "decision/1": `{"format":99}`, "evaluation/0": `{"format":1,"job":7}`} {
		if _, err := memory.Put(ctx, path, []byte(text), store.Any); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.NewDecisions(book, slog.New(slog.DiscardHandler)).Load(ctx); err != nil {
		t.Errorf("a leader cannot begin: %v", err)
	}
	if found, err := book.Decisions(ctx); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}
