package journal_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
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
