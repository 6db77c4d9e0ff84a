package journal_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// What agents bound is kept by node and read by workload; it goes with its agent, or a day after
// a node went.
func TestDiskLimits(t *testing.T) {
	t.Parallel()
	ctx, book := t.Context(), journal.Book{Store: mem.New()}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	web, db := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}, cluster.WorkloadID{Namespace: "default", Job: "db", Group: "main"}
	limit := func(w cluster.WorkloadID, allocation, node string) cluster.DiskLimit {
		return cluster.DiskLimit{Workload: w, Allocation: allocation, Node: node, MBPerSec: 40, Tasks: 1}
	}
	put := func(l cluster.DiskLimits) {
		t.Helper()
		if err := book.PutDiskLimits(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	read := func(w cluster.WorkloadID, want int) []cluster.DiskLimit {
		t.Helper()
		got, err := book.DiskLimits(ctx, w)
		if err != nil || len(got) != want {
			t.Fatalf("%s: %+v, %v", w, got, err)
		}
		return got
	}
	put(cluster.DiskLimits{Node: "n2", Name: "right", At: now, Limits: []cluster.DiskLimit{limit(web, "a2", "right"), limit(db, "a3", "right")}})
	put(cluster.DiskLimits{Node: "n1", Name: "left", At: now.Add(-48 * time.Hour), Limits: []cluster.DiskLimit{limit(web, "a1", "left")}})
	got := read(web, 2)
	if got[0].Node != "left" || got[1].Allocation != "a2" || !got[1].At.Equal(now) {
		t.Errorf("%+v", got)
	}
	if err := book.ForgetDiskLimits(ctx, now.Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	read(web, 1)
	put(cluster.DiskLimits{Node: "n2", Name: "right", At: now})
	read(web, 0)
	read(db, 0)

	// More than a document takes is not an error.
	large := cluster.DiskLimits{Node: "n1", Name: "left", At: now}
	for range 1000 {
		large.Limits = append(large.Limits, limit(db, "5f0c9d5e-1b2c-4d3e-8f90-000000000001", "left"))
	}
	put(large)
	if got, err := book.DiskLimits(ctx, db); err != nil || len(got) < 100 || len(got) >= 1000 {
		t.Errorf("%d, %v", len(got), err)
	}
}
