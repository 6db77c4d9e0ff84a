package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
)

func row(name string, difference, limit float64, cause string) compare.Row {
	met := difference <= limit
	return compare.Row{Name: name, Difference: &difference, Limit: limit, Met: &met, Cause: cause}
}

func made() []result {
	walk := compare.Stream{Name: "walk", Rows: []compare.Row{
		row("reads, % of the I/Os", 40, 5, "the trace changed: an exact replay of the fitted part differs by 39 %"),
		row("misses of a cache of 1/32 of what is touched, %", 2, 5, ""), row("misses of a cache of all of what is touched, %", 7.44, 5, "no range remembers; an exact replay of the fitted part differs by 1 points"),
		row("64 ranges of addresses", 1.234, 5, ""), {Name: "mean gap, ms"},
	}}
	replay := compare.Stream{Name: "replay", Rows: []compare.Row{row("reads, % of the I/Os", 39, 5, ""), row("misses of a cache of all of what is touched, %", 1, 5, "")}}
	weight := 0.0123
	whole := compare.Report{Original: compare.Measured{Features: compare.Features{ReadShare: 0.5, RandomShare: 0.25, MeanBytes: 8192, IOPS: 100}}, Streams: []compare.Stream{{Name: "walk"}}}
	return []result{{
		Name: "store", What: "a store", Captured: captured{Captured: blockio.Captured{IOs: 12_000, Seconds: 120}, MeantSeconds: 120, Machine: "a machine"},
		Half:  compare.Report{Chosen: 3, ModelBytes: 2048, Streams: []compare.Stream{walk, replay}, Weights: compare.Row{Difference: &weight}},
		Whole: whole,
	}}
}

func TestPage(t *testing.T) {
	t.Parallel()
	text := page(made())
	for _, want := range []string{
		"Captured on: a machine;", "| store | a store | 12000 | 120 | 100 | 50.0 % | 25.0 % | 8.0 | 3 | 2 |",
		"| store | **40** (39) | not known | not known | not known | not known | 1.2 | not known | **7.4** (1) | not known | not known |",
		"- store: reads, % of the I/Os. The trace changed.", "- store: misses of a cache of all of what is touched, %. No range remembers.",
		"| workload | walk | replay | largest", "| store | 2 of 4 | 1 of 2 | 123 ppm |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	s, err := parse([]string{"-only", "log,sqlite", "-for", "30s"})
	if err != nil || len(s.only) != 2 || s.length != 30*time.Second {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]string{{"-only", "oracle"}, {"-for", "1s"}, {"more"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	_, err = parse([]string{"-only", "oracle"})
	if !strings.Contains(err.Error(), "postgresql, sqlite, rocksdb, log, backup, small-files") {
		t.Error(err)
	}
}

// What was judged before the trace was captured again is judged again.
func TestOlder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	trace, kept := filepath.Join(folder, "trace"), filepath.Join(folder, "kept")
	if older(trace, kept) {
		t.Error("neither is there")
	}
	for i, path := range []string{trace, kept} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if !older(trace, kept) || older(kept, trace) {
		t.Error("the trace is older than what was judged")
	}
}

// What is missing is named, with how to get it.
func TestMissingPrograms(t *testing.T) {
	t.Parallel()
	err := needs(workload{name: "x", packages: []string{"no-package"}, programs: []string{"no-program-of-this-name"}})
	if err == nil || !strings.Contains(err.Error(), "no-program-of-this-name is not there: apt-get install") || !strings.Contains(err.Error(), "no-package") {
		t.Error(err)
	}
}
