package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, d := range policy.Policies() {
		t.Run(d.Name, func(t *testing.T) { t.Parallel(); policytest.Run(t, d) })
	}
}

func TestConformanceOfSelectors(t *testing.T) {
	t.Parallel()
	for _, d := range policy.Selectors() {
		t.Run(d.Name, func(t *testing.T) { t.Parallel(); policytest.RunSelector(t, d) })
	}
}

func TestPoliciesAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range policy.Policies() {
		names = append(names, d.Name)
		if d.Summary == "" || d.New == nil {
			t.Errorf("%s lacks a summary or a constructor", d.Name)
		}
	}
	sortedAndUnique(t, names)
}

// Every selector drives a live cluster under the same name.
func TestSelectorsAreSortedAndLive(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range policy.Selectors() {
		names = append(names, d.Name)
		p, err := policy.Lookup(d.Name)
		if err != nil || p.Summary != d.Summary || p.NeedsProfile != d.NeedsProfile {
			t.Errorf("%s: live %+v, %v", d.Name, p, err)
		}
		for _, x := range d.Parameters {
			if x.Name == "" || x.Default == "" || x.Summary == "" {
				t.Errorf("%s: parameter %+v is not described", d.Name, x)
			}
		}
	}
	sortedAndUnique(t, names)
}

func sortedAndUnique(t *testing.T, names []string) {
	t.Helper()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted or not unique: %v", names)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	if d, err := policy.Lookup(policy.Default); err != nil || d.Name != policy.Default {
		t.Errorf("default: %v, %v", d.Name, err)
	}
	_, err := policy.Lookup("paragn")
	if err == nil || !strings.Contains(err.Error(), "nomad-spread, obfit, paragon, paragon-statistical, pp-rtte, quasar") {
		t.Errorf("error lists no names: %v", err)
	}
	if _, err := policy.LookupSelector("nomad"); err == nil || !strings.Contains(err.Error(), "sparrow, tarcil") {
		t.Errorf("error lists no names: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	d, err := policy.LookupSelector("tarcil")
	if err != nil {
		t.Fatal(err)
	}
	o, err := d.Options(map[string]string{"candidates": "16", "failure": "0.01", "locality": "near", "tolerated": "measured"})
	if err != nil || o.Candidates != 16 || o.FailureShare != 0.01 || o.Locality != policy.Near || !o.MeasuredBound {
		t.Errorf("%+v, %v", o, err)
	}
	for name, c := range map[string]struct {
		values map[string]string
		want   string
	}{
		"unknown name":  {map[string]string{"candidate": "8"}, `no parameter "candidate"; known: candidates, candidates_max`},
		"no number":     {map[string]string{"candidates": "many"}, `candidates = "many": a whole number`},
		"out of range":  {map[string]string{"failure": "1.5"}, "between 0 and 1"},
		"not a choice":  {map[string]string{"locality": "far"}, "one of anywhere, apart, near"},
		"not a timeout": {map[string]string{"timeout": "2s"}, "no parameter"},
	} {
		if _, err := d.Options(c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestTheTableNamesEveryPolicy: a policy that no reader can find is not listed.
func TestTheTableNamesEveryPolicy(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range policy.Policies() {
		if !strings.Contains(string(readme), "`"+d.Name+"`") {
			t.Errorf("placer/README.md does not name %s", d.Name)
		}
	}
}
