package main

import (
	"cmp"
	"fmt"
	"slices"
)

// candidate is a node that may be ended.
type candidate struct {
	name        string
	id          string // Nomad's; empty: Nomad does not know it yet
	allocations int    // of jobs that are not on every node
	leaving     bool   // takes no jobs any more
}

// choose says which nodes are ended. Where some are named it is these, whatever runs there, and no
// others: one that is named and gone is no mistake, for who names it may not know yet. Otherwise it
// is those on which nothing runs; without any it is an error, for which nothing is done.
func choose(all []candidate, count int, named []string) ([]candidate, error) {
	if len(named) > 0 {
		there := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.id == "" || !slices.Contains(named, c.id) })
		return there[:min(len(there), count)], nil
	}
	empty := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.allocations > 0 })
	if len(empty) == 0 {
		return nil, fmt.Errorf("jobs run on all of the %d nodes; none is ended", len(all))
	}
	slices.SortStableFunc(empty, func(a, b candidate) int { return cmp.Compare(rank(a), rank(b)) })
	return empty[:min(len(empty), count)], nil
}

// rank is lower for what is missed less: what does not run yet, then what takes no jobs any more.
func rank(c candidate) int {
	switch {
	case c.id == "":
		return 0
	case c.leaving:
		return 1
	}
	return 2
}
