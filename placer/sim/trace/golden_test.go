package trace_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const csvMap = "submit=when,duration=took,id=name,tasks=width,cores=cpus,memory=ram,kind=what,time=ms,memory_unit=MiB,separator=semicolon"

// fixtures are the folders of testdata by format; the test fails for a listed
// format without one.
var fixtures = map[string][]string{
	"alibaba-2017":     {"alibaba-2017"},
	"alibaba-2018":     {"alibaba-2018"},
	"alibaba-gpu-2023": {"alibaba-gpu-2023"},
	"azure-vm-2017":    {"azure-vm-2017", "azure-vm-2017-bins"},
	"csv":              {"csv"},
	"facebook-swim":    {"facebook-swim", "facebook-swim-table"},
	"google-2011":      {"google-2011", "google-2011-tables", "google-2011-jobs"},
	"philly":           {"philly"},
	"swf":              {"swf", "swf-table"},
}

// optionsOf are the options a format's fixtures need.
func optionsOf(t testing.TB, format string) trace.Options {
	t.Helper()
	if format != "csv" {
		return trace.Options{}
	}
	m, err := trace.ParseColumnMap(csvMap)
	if err != nil {
		t.Fatal(err)
	}
	return trace.Options{Map: m}
}

func TestEveryFormatReadsItsFixture(t *testing.T) {
	t.Parallel()
	for _, d := range trace.Readers() {
		if len(fixtures[d.Name]) == 0 {
			t.Errorf("%s has no fixture", d.Name)
		}
		for _, fixture := range fixtures[d.Name] {
			t.Run(fixture, func(t *testing.T) {
				t.Parallel()
				text := dump(t, d.Name, filepath.Join("testdata", fixture))
				if again := dump(t, d.Name, filepath.Join("testdata", fixture)); again != text {
					t.Error("a second reading differs")
				}
				golden := filepath.Join("testdata", fixture+".golden")
				if *update {
					if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if text != string(want) {
					t.Errorf("got\n%s\nwant\n%s", text, want)
				}
			})
		}
	}
}

// dump reads a fixture: jobs, machines, skips.
func dump(t *testing.T, format, path string) string {
	t.Helper()
	var b strings.Builder
	r, err := trace.Open(path, format, optionsOf(t, format))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range drain(t, r) {
		fmt.Fprintf(&b, "job %+v\n", j)
	}
	fmt.Fprintf(&b, "origin %s\n", r.Origin())
	dumpSkips(&b, r.Skips())
	if n, err := trace.OpenNodes(path, format, trace.Options{}); err == nil {
		for {
			e, err := n.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "node %+v\n", e)
		}
		dumpSkips(&b, n.Skips())
	}
	return b.String()
}

func dumpSkips(b *strings.Builder, skips map[string]int) {
	for _, reason := range slices.Sorted(maps.Keys(skips)) {
		fmt.Fprintf(b, "left out %d: %s\n", skips[reason], reason)
	}
}

// TestFormatsAreDetected: every fixture is recognised as its own format, and by
// no other.
func TestFormatsAreDetected(t *testing.T) {
	t.Parallel()
	for format, folders := range fixtures {
		for _, folder := range folders {
			r, err := trace.Open(filepath.Join("testdata", folder), "", trace.Options{})
			if format == "csv" {
				if !errors.Is(err, trace.ErrFormat) || !strings.Contains(err.Error(), "column map") {
					t.Errorf("%s: %v; any table could be csv, so it must be asked for", folder, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", folder, err)
				continue
			}
			if got, want := len(drain(t, r)), countJobs(t, format, folder); got != want {
				t.Errorf("%s: %d jobs detected, %d by name", folder, got, want)
			}
		}
	}
}

func countJobs(t *testing.T, format, folder string) int {
	t.Helper()
	r, err := trace.Open(filepath.Join("testdata", folder), format, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return len(drain(t, r))
}

func TestTheListIsSorted(t *testing.T) {
	t.Parallel()
	names := trace.Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names %v must ascend", names)
	}
	for _, d := range trace.Readers() {
		if d.Summary == "" || d.Source == "" || d.Order == "" {
			t.Errorf("%s has no summary, source or order", d.Name)
		}
	}
	if _, err := trace.Lookup("google"); err == nil || !strings.Contains(err.Error(), "google-2011") {
		t.Errorf("an unknown format must list the known ones: %v", err)
	}
}
