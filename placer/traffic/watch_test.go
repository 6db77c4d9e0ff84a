package traffic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

const header = "unix_s,source,destination,bytes,direction,source_group,destination_group\n"

// begin is a Tuesday, 12:00 UTC.
const begin = 1_767_700_800

// folderOf writes tables into a folder.
func folderOf(t *testing.T, tables map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range tables {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(header+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func row(at int, from, to string, bytes int, groups ...string) string {
	return fmt.Sprintf("%d,%s,%s,%d,write,%s,%s\n", begin+at, from, to, bytes, append(groups, "", "")[0], append(groups, "", "")[1])
}

func watchOf(t *testing.T, folder string) *Watch {
	t.Helper()
	w := New(folder, 1000, slog.New(slog.DiscardHandler))
	if err := w.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestReport(t *testing.T) {
	t.Parallel()
	w := watchOf(t, folderOf(t, map[string]string{
		"a.csv": row(0, "dc1/r1/a", "dc1/r1/b", 3000, "default/web/front", "default/cache/main") +
			row(10, "dc1/r1/a", "dc1/r2/c", 6000, "default/web/front", "default/db/main") +
			row(20, "dc1/r1/a", "cloud", 300, "default/web/front"),
		"c.csv": row(600, "dc1/r2/c", "dc1/r1/a", 9000, "default/db/main", "default/web/front"),
	}))
	r, err := w.Traffic(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.From.Unix() != begin || r.To.Sub(r.From) != 15*time.Minute || r.CapturedSeconds != 600 {
		t.Errorf("from %s to %s, %g s captured; want 12:00 to 12:15 with one bin missing", r.From, r.To, r.CapturedSeconds)
	}
	wantNodes := []Flow{{"dc1/r2/c", "dc1/r1/a", 9000}, {"dc1/r1/a", "dc1/r2/c", 6000}, {"dc1/r1/a", "dc1/r1/b", 3000}, {"dc1/r1/a", Outside, 300}}
	if !slices.Equal(r.Nodes, wantNodes) {
		t.Errorf("nodes %+v, want %+v", r.Nodes, wantNodes)
	}
	wantJobs := []Flow{{"default/db", "default/web", 9000}, {"default/web", "default/db", 6000}, {"default/web", "default/cache", 3000}, {"default/web", Outside, 300}}
	if !slices.Equal(r.Jobs, wantJobs) {
		t.Errorf("jobs %+v, want %+v", r.Jobs, wantJobs)
	}
	if len(r.Load) != 3 || r.Load[0].SameRack != 10 || r.Load[0].OtherRack != 20 || r.Load[0].Outside != 1 || r.Load[1].Captured || r.Load[2].OtherRack != 30 {
		t.Errorf("load %+v", r.Load)
	}
	if len(r.Uplinks) != 2 || r.Uplinks[0].Rack != "dc1/r1" || math.Abs(r.Uplinks[0].BytesPerSec-15300.0/600) > 1e-9 || r.Uplinks[1].BytesPerSec != 25 ||
		r.Uplinks[0].NextBytesPerSec != nil || !strings.Contains(r.Uplinks[0].Basis, "less than a day") {
		t.Errorf("uplinks %+v", r.Uplinks)
	}
	if _, known := w.NextUplink("r1"); known {
		t.Error("a forecast is known by a quarter of an hour")
	}
}

// What is seen of other namespaces, of oneself, or long ago makes nobody a peer; nor does a
// small part.
func TestPeers(t *testing.T) {
	t.Parallel()
	const long = 3 * 86400
	w := watchOf(t, folderOf(t, map[string]string{
		"a.csv": row(0, "dc1/r1/a", "dc1/r2/c", 1_000_000, "default/web/front", "default/old/main") +
			row(long, "dc1/r1/a", "dc1/r2/c", 6000, "default/web/front", "default/db/main") +
			row(long, "dc1/r1/a", "dc1/r1/b", 4000, "default/web/front", "default/team%2Fcache/main") +
			row(long, "dc1/r1/a", "dc1/r1/b", 900, "default/web/front", "default/log/main") +
			row(long, "dc1/r1/a", "dc1/r1/b", 90000, "default/web/front", "tenant/web/front"),
	}))
	got := w.Peers(cluster.WorkloadID{Namespace: "default", Job: "web/periodic-17", Group: "front"})
	if len(got) != 2 || got[0].Name != "db/main" || got[0].BytesPerSec != 20 || got[1].Name != "team/cache/main" {
		t.Errorf("peers %+v, want db and the cache", got)
	}
	if got := w.Peers(cluster.WorkloadID{Namespace: "tenant", Job: "web", Group: "front"}); len(got) != 0 {
		t.Errorf("peers in another namespace: %+v", got)
	}
	if got := w.Peers(cluster.WorkloadID{Namespace: "default", Job: "team/cache", Group: "main"}); len(got) != 1 || got[0].Name != "web/front" {
		t.Errorf("peers of a job with a slash: %+v", got)
	}
}

// The next hour of an uplink is as the same hour before: a week ago, else a day ago.
func TestUplinksAreForecast(t *testing.T) {
	t.Parallel()
	const hour, day = 3600, 86400
	yesterday := row(0, "dc1/r1/a", "dc1/r2/c", 36_000) + row(hour, "dc1/r1/a", "dc1/r2/c", 999) + row(day-300, "dc1/r1/a", "dc1/r2/c", 5)
	w := watchOf(t, folderOf(t, map[string]string{"a.csv": yesterday}))
	// Of that hour five minutes were captured.
	if got, known := w.NextUplink("r2"); !known || got != 36_000/300.0 {
		t.Errorf("by the day before %g, %v; want 120", got, known)
	}
	lastWeek := row(0, "dc1/r1/a", "dc1/r2/c", 600) + row(6*day, "dc1/r1/a", "dc1/r2/c", 36_000) + row(7*day-300, "dc1/r1/a", "dc1/r2/c", 5)
	w = watchOf(t, folderOf(t, map[string]string{"a.csv": lastWeek}))
	if got, known := w.NextUplink("r2"); !known || got != 2 {
		t.Errorf("by the week before %g, %v; want 2", got, known)
	}
	if _, known := w.NextUplink("r3"); known {
		t.Error("a rack that there is not has a forecast")
	}
}

// What a group is expected to exchange is of the same hour before, else the mean of the last day;
// its instances count together, and without a link nothing is told.
func TestExchanged(t *testing.T) {
	t.Parallel()
	const day = 86400
	today := row(0, "dc1/r1/a", "dc1/r2/c", 36_000, "default/web/front", "default/db/main") + row(300, "dc1/r1/a", "cloud", 6_000, "default/web/front")
	later := row(day-300, "dc1/r1/a", "dc1/r2/c", 5, "default/web/front", "default/db/main")
	web := cluster.WorkloadID{Namespace: "default", Job: "web/periodic-17", Group: "front"}
	for text, want := range map[string]cluster.Exchanged{
		today:         {SentBytesPerSec: 42_000.0 / 600, Basis: "on the mean of the last day that was captured", LinkMbitPerSec: 1000},
		today + later: {SentBytesPerSec: 42_000.0 / 600, Basis: "in the same hour a day before", LinkMbitPerSec: 1000},
	} {
		w := watchOf(t, folderOf(t, map[string]string{"a.csv": text}))
		if got, known := w.Exchanged(web); !known || got != want {
			t.Errorf("%+v, %v; want %+v", got, known, want)
		}
		db := cluster.WorkloadID{Namespace: "default", Job: "db", Group: "main"}
		if got, known := w.Exchanged(db); !known || got.ReceivedBytesPerSec != 60 || got.SentBytesPerSec != 0 {
			t.Errorf("the other end: %+v, %v; want 60 bytes/s received", got, known)
		}
		if got, known := w.Exchanged(cluster.WorkloadID{Namespace: "tenant", Job: "web", Group: "front"}); known {
			t.Errorf("a job that was never seen: %+v", got)
		}
		w.link = 0
		if got, known := w.Exchanged(web); known {
			t.Errorf("without a link: %+v", got)
		}
	}
}

// What cannot be read changes nothing of what is known, and is said.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "none")
	w := New(folder, 1000, slog.New(slog.DiscardHandler))
	if _, err := w.Traffic(t.Context()); !errors.Is(err, cluster.ErrNoRecord) {
		t.Errorf("before anything was read: %v", err)
	}
	if err := w.Read(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that there is not: %v", err)
	}
	if _, err := w.Traffic(t.Context()); !errors.Is(err, cluster.ErrNoRecord) || !strings.Contains(err.Error(), "none") {
		t.Errorf("after that: %v", err)
	}
	folder = folderOf(t, map[string]string{"a.csv": row(0, "dc1/r1/a", "dc1/r1/b", 3000)})
	w = watchOf(t, folder)
	r, err := w.Traffic(t.Context())
	if err != nil || len(r.Nodes) != 1 || len(r.Jobs) != 0 || !strings.Contains(r.Problem, "traffic of jobs") {
		t.Errorf("nodes without jobs: %+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "b.csv"), []byte("what is this\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Read(t.Context()); err == nil {
		t.Error("a table of something else was read")
	}
	if r, err := w.Traffic(t.Context()); err != nil || len(r.Nodes) != 1 || !strings.Contains(r.Problem, "b.csv") {
		t.Errorf("after that: %+v, %v", r, err)
	}
}

// Tables are read again when they have changed.
func TestRunReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, map[string]string{"a.csv": row(0, "dc1/r1/a", "dc1/r1/b", 3000)})
	w, tick := New(folder, 1000, slog.New(slog.DiscardHandler)), make(chan time.Time)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, func(time.Duration) <-chan time.Time { return tick }) }()
	tick <- time.Time{} // the first look is over
	if err := os.WriteFile(filepath.Join(folder, "b.csv"), []byte(header+row(300, "dc1/r1/b", "dc1/r1/a", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	tick <- time.Time{} // the second may have been before that
	tick <- time.Time{}
	if r, err := w.Traffic(ctx); err != nil || len(r.Nodes) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
