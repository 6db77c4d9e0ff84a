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

// choose says which nodes are ended: the named ones, whatever runs there, then those on which
// nothing runs. Without any it is an error, for which nothing is done.
func choose(all []candidate, count int, named []string) ([]candidate, error) {
	if len(named) > count {
		return nil, fmt.Errorf("%d nodes are named to be ended, and there are to be %d fewer", len(named), count)
	}
	var chosen []candidate
	for _, id := range named {
		i := slices.IndexFunc(all, func(c candidate) bool { return id != "" && c.id == id })
		if i < 0 {
			return nil, fmt.Errorf("node %q is named to be ended, and is none of this target's", id)
		}
		chosen = append(chosen, all[i])
		all = slices.Delete(slices.Clone(all), i, i+1)
	}
	empty := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.allocations > 0 })
	slices.SortStableFunc(empty, func(a, b candidate) int { return cmp.Compare(rank(a), rank(b)) })
	chosen = append(chosen, empty[:min(len(empty), count-len(chosen))]...)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("jobs run on all of the %d nodes; none is ended", len(all))
	}
	return chosen, nil
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
