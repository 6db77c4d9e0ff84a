package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// What a run needed of the disk is by what was served meanwhile.
func TestUseOf(t *testing.T) {
	t.Parallel()
	got := useOf(disk.Served{Reads: 20, Writes: 10, Bytes: 30 << 12, BusySeconds: 0.5, WaitSeconds: 3, ActiveSeconds: 1.5, ReadsAt: []int64{0, 20}, WritesAt: []int64{0, 5, 5}}, 2)
	want := diskUse{IOPS: 15, ReadShare: 2. / 3, BytesPerSec: 15 << 12, MeanMilliseconds: 100, Share: 0.25, Outstanding: 2, MostReads: 1, MostWrites: 2}
	if got != want {
		t.Errorf("%+v and not %+v", got, want)
	}
	if got := useOf(disk.Served{}, 2); got != (diskUse{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestWhatWorkloadsTell(t *testing.T) {
	t.Parallel()
	if got, ok := tellsPgbench("progress: 5.0 s, 150.0 tps, lat 6.500 ms stddev 2.400, 0 failed, lag 0.900 ms"); !ok || got != (told{150, 975}) {
		t.Errorf("%+v", got)
	}
	if got, ok := tellsStore("2026/11/27-12:20:00  ... thread 0: (2600,7800) ops and (2599.1,2599.9) ops/second in (1.0,3.0) seconds"); !ok || got != (told{2600, 0}) {
		t.Errorf("%+v", got)
	}
	for name, tells := range map[string]func(string) (told, bool){"pgbench": tellsPgbench, "db_bench": tellsStore, "asked": tellsAsked} {
		for _, line := range []string{"", "pgbench: warning", "progress: 5.0 s", askedMark, askedMark + "x", "thread 0: none"} {
			if got, ok := tells(line); ok {
				t.Errorf("%s says %+v by %q", name, got, line)
			}
		}
	}
	all := &tellings{tells: func(line string) (told, bool) { return told{1, float64(len(line))}, line != "" }}
	out := &lines{to: all.line}
	begun := time.Now()
	for _, part := range []string{"ab", "c\n\nde", "f", "g\nrest"} {
		if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	got := all.between(begun, begun.Add(time.Hour))
	if got == nil || got.MeanMilliseconds != 3.5 || math.Abs(got.PerSec-2/3600.) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if got := all.between(begun.Add(time.Hour), begun.Add(2*time.Hour)); got != nil {
		t.Errorf("%+v", got)
	}
}

func runOf(f form, round int, members ...measured) *pairRun {
	r := &pairRun{Form: f, Round: round, Machine: "a machine", Members: members, IdleShare: 0.5}
	for _, m := range members {
		r.Names = append(r.Names, m.Name)
	}
	return r
}

func at(name string, share, ms, bytesPerSec float64) measured {
	return measured{Name: name, Disk: diskUse{IOPS: 100, MeanMilliseconds: ms, BytesPerSec: bytesPerSec, Share: share, Outstanding: 1.5, MostReads: 3, MostWrites: 7}}
}

// A log and SQLite, which the disk can do both of, and a backup, which is too much with either.
func pairRuns() []*pairRun {
	told := at("sqlite", 0.3, 1, 0)
	told.Own = &own{PerSec: 60, MeanMilliseconds: 4}
	return []*pairRun{
		runOf(formReal, 1, told), runOf(formReal, 1, at("log", 0.4, 1, 0)), runOf(formReal, 1, at("backup", 0.7, 8, 80e6)),
		runOf(formReal, 1, at("sqlite", 0, 2, 0), at("log", 0, 1.25, 0)),
		runOf(formReal, 1, at("sqlite", 0, 4, 0), at("backup", 0, 9, 60e6)),
		runOf(formReal, 2, at("sqlite", 0.3, 1.2, 0)), runOf(formReal, 2, at("log", 0.4, 1, 0)), runOf(formReal, 2, at("backup", 0.7, 8, 80e6)),
		runOf(formTwin, 1, at("sqlite", 0, 1.1, 0)), runOf(formTwin, 1, at("log", 0, 1, 0)), runOf(formTwin, 1, at("backup", 0, 8, 80e6)),
		runOf(formTwin, 1, at("sqlite", 0, 1.1/0.5, 0), at("log", 0, 2, 0)),
		runOf(formTwin, 1, at("sqlite", 0, 11, 0), at("backup", 0, 9, 70e6)),
	}
}

func TestLosses(t *testing.T) {
	t.Parallel()
	got := directions(pairRuns())
	want := []direction{
		{"sqlite", "log", 0.7, false, 0.45, 0.1, map[form]float64{formTwin: 0.5}},
		{"log", "sqlite", 0.7, false, 0.2, 0, map[form]float64{formTwin: 0.5}},
		{"sqlite", "backup", 1, false, 0.725, 0.05, map[form]float64{formTwin: 0.9}},
		{"backup", "sqlite", 1, false, 0.25, 0, map[form]float64{formTwin: 0.125}},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !slices.EqualFunc(got, want, func(a, b direction) bool {
		return a.name == b.name && a.with == b.with && a.trimmed == b.trimmed && near(a.use, b.use) && near(a.real, b.real) && near(a.repeated, b.repeated) &&
			len(a.predicted) == len(b.predicted) && near(a.predicted[formTwin], b.predicted[formTwin])
	}) {
		t.Errorf("%+v", got)
	}
}

func TestPairPart(t *testing.T) {
	t.Parallel()
	all := pairRuns()
	for _, r := range all {
		if len(r.Names) == 1 && r.Form == formReal && r.Names[0] == "backup" {
			r.Members[0].Disk.Share = 0.8 // with either, above all that the disk has
		}
	}
	text := pairPart(all)
	for _, want := range []string{
		pairTitle, "3000 I/Os and 125 MiB a second", "Measured on: a machine.", "for batch jobs (backup, small-files)",
		"| sqlite | 30 % | 100 | 1.5 | 3, 7 | 1.100 | 18.2 | 100 | 1.100 | +0.0 | – | – | – |",
		"- twin: 0.0 % off on average, 0.0 % at worst.",
		"| sqlite | log | 70 | 45.0 | 10.0 | 50.0 | +5.0 | – | – | – |",
		"| log | sqlite | 70 | 20.0 | 0.0 | 50.0 | **+30.0** | – | – | – |",
		"| backup | sqlite † | 110 | 25.0 | 0.0 | 12.5 | −12.5 | – | – | – |",
		"| twin | what the disk can do | 2 | **17.5** | **30.0** | +17.5 | 1 |",
		"| twin | too much for it † | 2 | **15.0** | **17.5** | +2.5 | 0 |",
		"| sqlite | – | 60.0 | 4.00 | 1.000 | 100 | 50 % |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// Each command writes its part of the page, and leaves the other one.
func TestPartsOfThePage(t *testing.T) {
	t.Parallel()
	page := replacePart("# Twins\n\none\n", pairTitle+"\npairs\n")
	if page != "# Twins\n\none\n\n"+pairTitle+"\npairs\n" {
		t.Errorf("%q", page)
	}
	if again := replacePart(page, pairTitle+"\npairs\n"); again != page {
		t.Errorf("%q", again)
	}
	if got := keepPart(page, "# Twins\n\ntwo\n"); got != "# Twins\n\ntwo\n\n"+pairTitle+"\npairs\n" {
		t.Errorf("%q", got)
	}
	if got := keepPart("", "# Twins\n"); got != "# Twins\n" {
		t.Errorf("%q", got)
	}
}

// What is measured is in isolation first and again at the end, and what the disk cannot do is
// not replayed.
func TestPlan(t *testing.T) {
	t.Parallel()
	s := settings{work: t.TempDir(), only: []string{"sqlite", "log", "backup"}}
	said := func(runs []*pairRun) string {
		var out []string
		for _, r := range runs {
			out = append(out, strings.Join(r.Names, "+"))
		}
		return strings.Join(out, " ")
	}
	if got, want := said(s.plan(formReal, nil)), "sqlite log backup sqlite+log sqlite+backup log+backup sqlite log backup"; got != want {
		t.Errorf("%s", got)
	}
	all := pairRuns()
	if got, want := said(s.plan(formReplay, all)), "sqlite log backup sqlite+log sqlite+backup"; got != want { // the log and the backup: 110 %
		t.Errorf("%s", got)
	}
	for most, counts := range map[int][]int64{0: nil, 1: {0, 1}, 2: {0, 98, 1, 0, 1}, 4: {0, 98, 0, 0, 2}} {
		if got := mostAt(counts); got != most {
			t.Errorf("%d and not %d of %v", got, most, counts)
		}
	}
	if got := loopOf(all, formClosed, "backup"); got != (model.Loop{Reads: 3, Writes: 7, Waits: true}) || loopOf(all, formThreads, "log").Waits {
		t.Errorf("%+v", got)
	}
	if err := os.MkdirAll(s.pairFolder(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := keep(all[0].file(s.pairFolder()), all[0]); err != nil {
		t.Fatal(err)
	}
	if _, missing := s.readPairs(); len(missing) != 9+6+6+6+6-1 {
		t.Errorf("%d are missing", len(missing))
	}
}
