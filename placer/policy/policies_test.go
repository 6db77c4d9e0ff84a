package policy_test

import (
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

func TestPoliciesAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range policy.Policies() {
		names = append(names, d.Name)
		if d.Summary == "" || d.New == nil {
			t.Errorf("%s lacks a summary or a constructor", d.Name)
		}
	}
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
	if err == nil || !strings.Contains(err.Error(), "least-loaded, nomad, paragon, random") {
		t.Errorf("error lists no names: %v", err)
	}
}
