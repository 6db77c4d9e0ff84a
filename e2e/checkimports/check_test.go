package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestBadModule runs the check on a module that breaks the rules on purpose.
func TestBadModule(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), "testdata/bad", &out, nil)
	if !errors.Is(err, errViolations) {
		t.Fatalf("error %v, want violations", err)
	}
	want := []string{
		"placer/engine/a.go:6: time.Now: time is an argument in pure layers",
		"placer/policy (deciding) imports placer/sim/truth (worlds): policies, classifiers and models are pure",
		"placer/policy imports placer/clustertest: test support is imported by tests only",
		"placer/policy/a.go:13: time.Sleep: time is an argument in pure layers",
		"placer/policy/a.go:15: rand.IntN: randomness is an argument in pure layers",
		"placer/policy/a.go:15: time.Since: time is an argument in pure layers",
		"placer/surprise is in no layer",
		"profiler/interference (words) imports placer/cluster (words): interference is the vocabulary",
		"profiler/stat (arithmetic) imports profiler/interference (words): arithmetic works on floats",
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(lines)
	if len(lines) != len(want) {
		t.Fatalf("%d violations, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("violation %q, want %q…", line, want[i])
		}
	}
}

func TestClusterProgramsLinkNoResearch(t *testing.T) {
	t.Parallel()
	c := checker{module: "example.org/m"}
	deps := []string{"example.org/m/placer/policy", "example.org/m/placer/sim", "example.org/m/placer/sim/scenario", "example.org/m/placer/sim/admission/admissiontest", "example.org/m/e2e/load", "example.org/m/placer/similar"}
	found := c.checkProducts([]listed{
		{ImportPath: "example.org/m/placer/cmd/nomad-placer", Deps: deps},
		{ImportPath: "example.org/m/placer/cmd/nomad-placer-sim", Deps: deps},
	})
	if len(found) != 3 || !strings.Contains(found[0], "nomad-placer links placer/sim/scenario,") || !strings.Contains(found[2], "e2e/load") {
		t.Errorf("found %q, want placer/sim/scenario, admissiontest and e2e/load of nomad-placer: it may replay, and nothing else", found)
	}
	found = c.checkProducts([]listed{{ImportPath: "example.org/m/driver/cmd/nomad-driver-ibench", Deps: deps}})
	if len(found) != 4 || !strings.Contains(found[0], "nomad-driver-ibench links placer/sim,") {
		t.Errorf("found %q, want placer/sim and others of the driver, which replays nothing", found)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/...", "a", true},
		{"a/...", "a/b/c", true},
		{"a/...", "ab", false},
		{"...", "x/y", true},
		{".../*test", "placer/policy/policytest", true},
		{".../*test", "placer/policy", false},
		{"*/cmd/...", "driver/cmd/x", true},
		{"*/cmd/...", "cmd/x", false},
		{"*/cmd/...", "placer/engine/cmd", false},
	} {
		if got := matches(c.pattern, c.path); got != c.want {
			t.Errorf("%q covers %q: %t, want %t", c.pattern, c.path, got, c.want)
		}
	}
}

// TestExternal checks that only the standard library is free.
func TestExternal(t *testing.T) {
	t.Parallel()
	c := checker{module: "example.org/m"}
	r, ok := ruleFor("placer/numeric/pq")
	if !ok {
		t.Fatal("no rule for arithmetic")
	}
	for imported, allowed := range map[string]bool{
		"math": true, "gonum.org/v1/gonum/mat": true, "gonum.org/v1/gonumother": false, "go.etcd.io/bbolt": false,
	} {
		if got := c.checkImport("placer/numeric/pq", r, imported) == ""; got != allowed {
			t.Errorf("arithmetic imports %s: allowed %t, want %t", imported, got, allowed)
		}
	}
}
