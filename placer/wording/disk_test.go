package wording_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// How a disk's use is bounded is said once for each node, as an operator would say it.
func TestDiskLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	asks, promises := performance.DiskSpec{BandwidthMBPerSec: 40, Limit: true}, performance.DiskSpec{BandwidthMBPerSec: 40}
	on := func(node string, tasks int, change func(*cluster.DiskLimit)) cluster.DiskLimit {
		l := cluster.DiskLimit{Node: node, MBPerSec: 40, Tasks: tasks, At: now.Add(-time.Minute)}
		if change != nil {
			change(&l)
		}
		return l
	}
	got := wording.DiskLimits(asks, []cluster.DiskLimit{
		on("x", 1, nil), on("x", 1, nil), on("y", 2, func(l *cluster.DiskLimit) { l.OnlyDirect = true }),
		on("z", 0, func(l *cluster.DiskLimit) { l.Problem = "no right" }), on("w", 0, nil),
		on("gone", 1, func(l *cluster.DiskLimit) { l.At = now.Add(-time.Hour) }),
	}, now)
	want := []string{
		"Its reads and writes are limited to 40 MB/s each on x, as its promise says",
		"Its reads and writes are limited to 40 MB/s each on y, for each of its 2 tasks, as its promise says; what goes through the page cache is not, for that node has control groups of version 1",
		"Its reads and writes are not limited to its promise on z: no right",
		"Its reads and writes will be limited on w once its tasks run",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := wording.DiskLimits(asks, nil, now); len(got) != 1 || !strings.Contains(got[0], "no agent has recorded that it is") {
		t.Errorf("where nobody says anything: %v", got)
	}
	if got := wording.DiskLimits(promises, nil, now); got != nil {
		t.Errorf("where nobody asked: %v", got)
	}
	if got := wording.DiskPromise(asks); got != "40 MB/s per allocation, and no more" {
		t.Error(got)
	}
}
