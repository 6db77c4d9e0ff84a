package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// What was read stays known when the folder cannot be read again.
func TestRecordedUsesAreWatched(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	w := &diskWatch{folder: folder, now: func() time.Time { return at }, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if err := w.read(); err == nil || !strings.Contains(err.Error(), "no tables") || w.expected() != nil {
		t.Errorf("an empty folder: %v, %v", err, w.expected())
	}
	write := func(name, rows string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(consolidate.UsesHeader()+"\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("alpha.csv", "2026-03-01T12:30:00Z,default,web,front,a1,40\n")
	write("omega.csv", "2026-03-01T12:30:00Z,default,web,front,a2,60\n2026-03-01T12:30:00Z,default,log,main,a3,5\n")
	write("notes.txt", "no table\n")
	if err := w.read(); err != nil {
		t.Fatal(err)
	}
	web := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "front"}
	log := cluster.WorkloadID{Namespace: "default", Job: "log", Group: "main"}
	want := func(when string) {
		t.Helper()
		if got := w.expected(); len(got) != 2 || got[web] != 50 || got[log] != 5 {
			t.Errorf("%s: %v", when, got)
		}
	}
	want("two tables")
	write("omega.csv", "2026-03-01T12:30:00Z,default,web,front,a2,much\n")
	if err := w.read(); err == nil || !strings.Contains(err.Error(), "omega.csv:2") {
		t.Errorf("a bad table: %v", err)
	}
	want("after a bad table")
}

// Twins lie by workload, and no name leads out of their folder.
func TestTwinsByWorkload(t *testing.T) {
	t.Parallel()
	m, err := model.FromTotals([]model.Totals{
		{Interval: 0, IOs: [storage.Ops]int64{1000}, Bytes: [storage.Ops]int64{1800 * 1e6 * 2}},
		{Interval: 1, IOs: [storage.Ops]int64{3000}, Bytes: [storage.Ops]int64{1800 * 1e6 * 6}},
	}, 1e9/512*512, "test")
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	folder := filepath.Join(top, "twins")
	write := func(parts ...string) {
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := m.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	write("twins", "default", "etl%2Fday", "main.twin")
	write("x", "main.twin")
	for _, job := range []string{"etl/day", "etl/day/periodic-1700000000"} {
		twin, err := twinIn(folder, cluster.WorkloadID{Namespace: "default", Job: job, Group: "main"})
		if err != nil || twin == nil || twin.BandwidthMBPerSec < 5.9 || twin.BandwidthMBPerSec > 6.1 || twin.SpreadMB < 999 || twin.SpreadMB > 1000 || !strings.HasPrefix(twin.Source, "4,000 I/Os in 1h 00m (test)") {
			t.Errorf("%s: %+v, %v", job, twin, err)
		}
	}
	for _, w := range []cluster.WorkloadID{
		{Namespace: "..", Job: "x", Group: "main"}, {Namespace: "default", Job: "etl", Group: "main"}, {Namespace: "a/../..", Job: "x", Group: "main"}, {Namespace: "default", Job: "..", Group: "../x/main"},
	} {
		if twin, err := twinIn(folder, w); twin != nil || err != nil {
			t.Errorf("%s has %+v, %v", w, twin, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "default", "etl%2Fday", "main.twin"), []byte(`{"version": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if twin, err := twinIn(folder, cluster.WorkloadID{Namespace: "default", Job: "etl/day", Group: "main"}); twin != nil || err == nil {
		t.Errorf("cut short: %+v, %v", twin, err)
	}
}

// TestExplainTellsTheDisk: the forecast, and the twin's scores next to those of the profile.
func TestExplainTellsTheDisk(t *testing.T) {
	t.Parallel()
	caused, score := 25.0, interference.Percent(31)
	d := cluster.Decision{
		Outcome: cluster.Placed, Candidates: []cluster.Candidate{{Name: "alpha"}},
		Disk: &cluster.DiskSaid{
			Promise: performance.DiskSpec{BandwidthMBPerSec: 20}, Said: "the ledger",
			Forecast: &cluster.DiskForecast{Name: "alpha", ExpectedMBPerSec: 62, MostMBPerSec: 98, Unknown: 1},
		},
		Sensitivity: interference.Sensitivity{Caused: interference.Scores{interference.StorageBandwidth: {Score: score, Low: score, High: score, Origin: interference.Measured}}},
		Twin:        &cluster.TwinSaid{Source: "4,000 I/Os in 1 h (blkparse)", Caused: &caused, SpreadMB: 512, Why: "25 of the 100 MB/s of the disk of alpha"},
	}
	page := func() string {
		p := &command.Page{}
		explainPage(p, explanation{Decision: d}, time.Now())
		return strings.Join(strings.Fields(p.String()), " ")
	}
	text := page()
	for _, want := range []string{
		"Forecast alpha: at least 62 MB/s are expected in the next 30 minutes, of 98 that may be used; of 1 allocation nothing is known",
		"storage_bw unknown unknown 31 25", "storage_cap unknown unknown unknown unknown", "twin of 4,000 I/Os in 1 h (blkparse): 25 of the 100 MB/s of the disk of alpha", "at most 512 MB",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	d.Twin = &cluster.TwinSaid{Problem: "web.twin is cut short"}
	if text := page(); !strings.Contains(text, "The twin cannot be read: web.twin is cut short") {
		t.Error(text)
	}
}

// TestAgentSaysTheDisk: an agent that knows recorded uses and twins says both in the record of a
// job, which is explained by it.
func TestAgentSaysTheDisk(t *testing.T) {
	t.Parallel()
	c := twoNodes(t)
	folder := t.TempDir()
	config := filepath.Join(folder, "agent.hcl")
	m, err := model.FromTotals([]model.Totals{{IOs: [storage.Ops]int64{1000}, Bytes: [storage.Ops]int64{1800 * 1e6 * 25}}}, 1e9/512*512, "test")
	if err != nil {
		t.Fatal(err)
	}
	var twin strings.Builder
	if err := m.Write(&twin); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"agent.hcl":                    "disk {\n  uses  = \"" + filepath.Join(folder, "uses") + "\"\n  twins = \"" + filepath.Join(folder, "twins") + "\"\n}\n",
		"uses/alpha.csv":               consolidate.UsesHeader() + "\n" + c.now().UTC().Format(time.RFC3339) + ",default,web,front,a1,120\n",
		"twins/default/web/front.twin": twin.String(),
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c.agent("-config", config)
	if out, code := c.run("job", "run", c.jobFile(movable)); code != command.ExitDone {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	out, code := c.run("job", "explain", "web")
	text := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"120 MB/s are expected in the next 30 minutes, of 100 that may be used", "is expected to be short", "twin of 1,000 I/Os in 30m 00s (test): 25 of the 100 MB/s of the disk of ",
	} {
		if code != command.ExitDone || !strings.Contains(text, want) {
			t.Errorf("exit %d, it lacks %q:\n%s", code, want, out)
		}
	}
}
