package journal_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// Snapshot implements cluster.State.
func (emptyCluster) Snapshot(context.Context) (*cluster.Snapshot, error) {
	return &cluster.Snapshot{}, nil
}

// A snapshot says of a workload what its newest decision does, and nothing once the job is gone;
// what is written to one snapshot is not in the next.
func TestSnapshotsSayWhatTheNewestDecisionsDo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := journal.NewDecisions(journal.Book{Store: mem.New()}, slog.New(slog.DiscardHandler))
	w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
	columns := clustertest.Columns(1)
	decided := func(tolerated float64, disk *cluster.DiskSaid) {
		d.Record(ctx, []cluster.Decision{{Workload: w, Sensitivity: clustertest.Sensitivity(columns, []float64{tolerated}, []float64{5}), Disk: disk}}, nil)
	}
	says := func(tolerated float64, promised bool) {
		t.Helper()
		s, err := d.Snapshot(ctx, emptyCluster{})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := s.Known[w].Tolerated[columns[0]].Score.Percent()
		if _, ok := s.Disk[w]; got != tolerated || ok != promised {
			t.Errorf("it tolerates %g, want %g; something is promised to it: %t", got, tolerated, ok)
		}
		delete(s.Known, w)
		s.Disk[w] = performance.DiskSpec{BandwidthMBPerSec: 1}
	}
	decided(30, &cluster.DiskSaid{Promise: performance.DiskSpec{BandwidthMBPerSec: 50}})
	says(30, true)
	says(30, true)
	decided(70, nil)
	says(70, false)
	if err := d.Amend(ctx, w, func(d *cluster.Decision) {
		d.Sensitivity = clustertest.Sensitivity(columns, []float64{80}, []float64{5})
	}); err != nil {
		t.Fatal(err)
	}
	says(80, false)
	d.ForgetGone(ctx, emptyCluster{}, time.Unix(0, 0), nil)
	s, err := d.Snapshot(ctx, emptyCluster{})
	if err != nil || len(s.Known)+len(s.Disk) > 0 {
		t.Errorf("%v: of a job that is gone %v and %v are left", err, s.Known, s.Disk)
	}
}
