package trace_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// dataVariable names the folder with the published traces; they are too large
// for the repository.
const dataVariable = "NOMAD_PLACER_TRACES"

func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(dataVariable)
	if folder == "" {
		t.Skipf("%s is not set: the published traces are not in the repository; the fixtures in testdata stand in", dataVariable)
	}
	return folder
}

// drain reads all jobs and checks what holds of every reader.
func drain(t *testing.T, r trace.Reader) []trace.Job {
	t.Helper()
	defer r.Close()
	var jobs []trace.Job
	var last time.Duration
	for {
		j, err := r.Next()
		if errors.Is(err, io.EOF) {
			return jobs
		}
		if err != nil {
			t.Fatalf("after %d jobs: %v", len(jobs), err)
		}
		switch {
		case j.Submit < last:
			t.Fatalf("job %d (%s) is submitted at %s, after one at %s", len(jobs), j.ID, j.Submit, last)
		case j.Sequence != int64(len(jobs)):
			t.Fatalf("job %s has sequence %d, want %d", j.ID, j.Sequence, len(jobs))
		case j.ID == "":
			t.Fatalf("job %d has no id", len(jobs))
		case j.Duration < 0 && j.Duration != trace.Unknown, j.Tasks < 1 && j.Tasks != trace.Unknown:
			t.Fatalf("job %s: duration %d, tasks %d", j.ID, j.Duration, j.Tasks)
		case j.Cores < 0 || j.MemoryBytes < 0 || j.GPUs < 0:
			t.Fatalf("job %s has a negative size: %+v", j.ID, j)
		}
		last = j.Submit
		jobs = append(jobs, j)
	}
}

// TestPublishedTraces reads every trace whole; rows are those of the READMEs of
// the data, so jobs and skips together must be as many.
func TestPublishedTraces(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	cases := []struct {
		path, format string
		rows         int
		skips        map[string]int
	}{
		{"alibaba-2017", "alibaba-2017", 53695, nil},
		{"alibaba-gpu-2023", "alibaba-gpu-2023", 5434, nil},
		{"azure-vm-2017", "azure-vm-2017", 259159, nil},
		{"philly-jobs", "philly", 54831, nil},
		{"facebook-swim/fb2009_0.csv.gz", "facebook-swim", 5894, nil},
		{"facebook-swim/fb2010_first_12_h.csv.gz", "facebook-swim", 13225, nil},
		{"hpc-swf/hpc2n_2002_head.csv.gz", "swf", 3170, map[string]int{"it has no tasks": -1}},
		{"hpc-swf/metacentrum_wagap_2013_first.csv.gz", "swf", 11933, nil},
		{"google-2011", "google-2011", 22118 + 45731, map[string]int{"its tasks are among those at the start": -1, "the same id again": -1}},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			r, err := trace.Open(filepath.Join(folder, c.path), "", trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			jobs := drain(t, r)
			skipped := 0
			for reason, n := range r.Skips() {
				skipped += n
				if c.skips[reason] == 0 {
					t.Errorf("%d rows are left out: %s", n, reason)
				}
			}
			if len(jobs)+skipped != c.rows {
				t.Errorf("%d jobs and %d skips of %d rows", len(jobs), skipped, c.rows)
			}
			t.Logf("%s: %d jobs, first %+v", c.format, len(jobs), jobs[0])
			t.Logf("last %+v", jobs[len(jobs)-1])
			t.Logf("skips %v", r.Skips())
		})
	}
}

func TestPublishedMachines(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	for path, want := range map[string]int{
		"google-2011": 12580, "alibaba-2018": 4102, "alibaba-gpu-2023": 1523,
		"hpc-swf/metacentrum_wagap_2013_machines.csv.gz": 68,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r, err := trace.OpenNodes(filepath.Join(folder, path), "", trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for {
				_, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			skipped := 0
			for _, reason := range slices.Sorted(maps.Keys(r.Skips())) {
				t.Logf("%d: %s", r.Skips()[reason], reason)
				skipped += r.Skips()[reason]
			}
			if n+skipped != want {
				t.Errorf("%d events and %d skips of %d rows", n, skipped, want)
			}
		})
	}
}
