package main

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
)

func TestPlanPairs(t *testing.T) {
	t.Parallel()
	all, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	plan := planPairs(all, 1)
	partners, count := map[string]int{}, map[string]int{}
	seen := map[pairs.Choice]bool{}
	for _, z := range plan {
		memory := 0
		for _, a := range z.apps {
			memory += a.MemoryMB
		}
		if memory > 8<<10 {
			t.Errorf("a set of %d MB", memory)
		}
		for _, c := range z.pairs {
			if seen[c] || seen[pairs.Choice{A: c.B, B: c.A, Placement: c.Placement}] || c.A == c.B {
				t.Errorf("%v again", c)
			}
			seen[c] = true
			count[c.Placement]++
			partners[c.A]++
			partners[c.B]++
		}
	}
	for _, p := range []string{pairs.Same, pairs.Beside} {
		if count[p] < 150 {
			t.Errorf("%d pairs %s, want 150", count[p], p)
		}
	}
	for _, a := range all {
		if partners[a.ID] < 2*5 { // in both placements
			t.Errorf("%s is in %d pairs, want 5 a placement", a.ID, partners[a.ID]/2)
		}
	}
	if !reflect.DeepEqual(plan, planPairs(all, 1)) {
		t.Error("the plan does not follow from its arguments")
	}
	// With all but one pair measured, that one is left, with its two sides.
	last := plan[0].pairs[0]
	delete(seen, last)
	left := plan[0].without(seen)
	if len(left.pairs) != 1 || left.pairs[0] != last || len(left.apps) != 2 {
		t.Errorf("left: %v", left)
	}
}

func TestPlanOfFew(t *testing.T) {
	t.Parallel()
	for n, want := range []int{0, 0, 2, 6, 12} { // both placements of all pairs
		var apps []catalogue.Application
		for i := range n {
			apps = append(apps, catalogue.Application{ID: fmt.Sprint(i)})
		}
		got := 0
		for _, z := range planPairs(apps, 1) {
			got += len(z.pairs)
		}
		if got != want {
			t.Errorf("%d applications: %d pairs, want %d", n, got, want)
		}
	}
}
