package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/foreign"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The folder of the public data sets, where it lies next to the repository, and
// the page that says what is taken of them.
var (
	publicData = filepath.Join("..", "..", "..", "..", "shared", "data")
	importPage = filepath.Join("..", "..", "docs", "import.md")
	toyData    = filepath.Join("..", "..", "..", "profiler", "foreign", "testdata")
)

// Foreign rows teach what they know and nothing else: an unknown score is a
// missing cell, an unmeasured configuration too.
func TestForeignRowsTrain(t *testing.T) {
	t.Parallel()
	var rows []profile.Profile
	for _, format := range []string{"lumos-cloud-perf", "spec-llc-sensitivity", "eth-ibench-parsec-memcached"} {
		r, err := foreign.Read(t.Context(), filepath.Join(toyData, format), foreign.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r.Profiles...)
	}
	m := classify.TrainingFrom(rows)
	if got := strings.Join(m.Tolerated.Columns, " "); got != "llc_cap l1i" {
		t.Errorf("tolerated columns %s", got)
	}
	if len(m.Caused.Columns) != len(m.Tolerated.Columns) {
		t.Errorf("caused columns %v", m.Caused.Columns)
	}
	known := 0
	for i := range m.Caused.Rows {
		for j := range m.Caused.Rows[i] {
			if !math.IsNaN(m.Caused.Rows[i][j]) {
				t.Errorf("%s caused a score that was not measured", rows[i].Workload)
			}
			if !math.IsNaN(m.Tolerated.Rows[i][j]) {
				known++
			}
		}
	}
	if known != 3 { // two curves of the cut cache, one kernel that costs nothing
		t.Errorf("%d tolerated scores", known)
	}
	for i, row := range m.Speed.Rows {
		if n := finite(row); n != len(rows[i].Isolated) {
			t.Errorf("%s: %d speeds of %d", rows[i].Workload, n, len(rows[i].Isolated))
		}
	}
}

func finite(row []float64) int {
	n := 0
	for _, v := range row {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// The counts on the page are those of the command.
func TestImportPageTellsTheCounts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(importPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range foreign.Formats() {
		if !strings.Contains(string(page), "| "+f.Name+" | ") {
			t.Errorf("%s is not on the page", f.Name)
		}
		folder := filepath.Join(publicData, f.Name)
		if _, err := os.Stat(folder); err != nil {
			t.Logf("%s does not lie next to the repository: its counts are not compared", f.Name)
			continue
		}
		r, err := foreign.Read(t.Context(), folder, foreign.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if want := countsRow(r); !strings.Contains(string(page), want) {
			t.Errorf("the page lacks\n%s", want)
		}
	}
}

func countsRow(r foreign.Result) string {
	c := (&importRun{}).reportOf(r)
	read, taken := 0, 0
	for _, f := range r.Files {
		read, taken = read+f.Measurements, taken+f.Taken
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d |", r.Format, c.Profiles, c.Speeds, c.Levels, c.Scores, c.Sizes, c.Pairs, taken, read-taken)
}

func TestImportProgressIsSilentForTwoSeconds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var out strings.Builder
	tell := slowProgress(&command.Shell{Err: &out, Now: func() time.Time { return now }})
	for _, fraction := range []float64{0.1, 0.2, 0.3, 0.4, 0.5} {
		tell(fraction, "runs.csv.gz")
		now = now.Add(time.Second)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || lines[0] != "reading runs.csv.gz  ██████░░░░░░░░░░░░░░  30 %  about 5 s left" {
		t.Errorf("%q", lines)
	}
}
