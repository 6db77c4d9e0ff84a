package main

import (
	"maps"
	"testing"
	"time"
)

// An agent counts from when it was able itself: three that die in turn are never able for
// as long as one that lives.
func TestAbilityIsOfOneAgent(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	able := abilities{}
	for _, step := range []struct {
		second int
		able   map[string]int // processes by client
		since  int            // -1: nobody is able
	}{
		{0, map[string]int{}, -1},
		{1, map[string]int{"one": 11}, 1},
		{5, map[string]int{"one": 11, "two": 21}, 1},
		{6, map[string]int{"two": 21}, 5},            // one is hampered
		{8, map[string]int{"one": 11, "two": 21}, 5}, // and begins anew
		{9, map[string]int{"one": 11, "two": 22}, 8}, // two was killed and is another process
		{10, map[string]int{}, -1},
		{11, map[string]int{"two": 22}, 11},
	} {
		at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
		since, ok := able.at(at(step.second), maps.Clone(step.able))
		if ok != (step.since >= 0) || ok && !since.Equal(at(step.since)) {
			t.Errorf("second %d: able since %v (%v), want second %d", step.second, since, ok, step.since)
		}
	}
}
