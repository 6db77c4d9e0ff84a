package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

const output = `goos: linux
pkg: example.org/m/policy
BenchmarkSelect/paragon-greedy-2 	 10	 90 ns/op
BenchmarkSelect/paragon-2        	500	 2000000 ns/op	 3.25 p99-ms	 12 B/op
BenchmarkSelect/random           	500	 1000 ns/op
PASS
ok  	example.org/m/policy	2.1s
`

func TestTable(t *testing.T) {
	t.Parallel()
	rows := []target{
		{name: "kept", benchmark: "Select/paragon", metric: "p99-ms", scale: 1, unit: "ms", most: 10},
		{name: "scaled and missed", benchmark: "Select/paragon", metric: "ns/op", scale: 1e-6, unit: "ms", most: 2},
		{name: "one CPU", benchmark: "Select/random", metric: "ns/op", scale: 1, unit: "ns", most: 2000},
		{name: "no such metric", benchmark: "Select/random", metric: "p99-ms", scale: 1, unit: "ms", most: 10},
		{name: "did not run", benchmark: "Select/quasar", metric: "ns/op", scale: 1, unit: "ms", most: 10},
		{name: "broken", benchmark: "Broken", unit: "ms", most: 10},
	}
	var out strings.Builder
	err := run(t.Context(), &out, rows, func(_ context.Context, t target) (string, error) {
		if t.benchmark == "Broken" {
			return "", errors.New("exit status 2")
		}
		return output, nil
	})
	want := "kept\t3.25\tms\t< 10\tok\n" +
		"scaled and missed\t2\tms\t< 2\tMISS\n" +
		"one CPU\t1000\tns\t< 2000\tok\n" +
		"no such metric\t-\tms\t< 10\tMISS\n" +
		"did not run\t-\tms\t< 10\tMISS\n" +
		"broken\t-\tms\t< 10\tMISS\n"
	if out.String() != want {
		t.Errorf("table:\n%s\nwant:\n%s", out.String(), want)
	}
	for _, part := range []string{"want less than 2", "no p99-ms", "no benchmark Select/quasar ran", "exit status 2"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
}

// TestTargetsAreWhole checks the table itself.
func TestTargetsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range targets {
		if row.name == "" || row.pkg == "" || row.benchmark == "" || row.metric == "" || row.unit == "" || row.scale <= 0 || row.most <= 0 {
			t.Errorf("incomplete target %+v", row)
		}
		if seen[row.name] {
			t.Errorf("two targets are called %q", row.name)
		}
		seen[row.name] = true
	}
}
