package model

import (
	"maps"
	"slices"
	"time"
)

// cellKey is a transition: level, states and category in one number.
type cellKey uint64

const (
	categoryBits = 16
	stateBits    = branchingBits * MaxLevels
)

func keyOf(level, from, to, category int) cellKey {
	return cellKey(((level<<stateBits|from)<<stateBits|to)<<categoryBits | category)
}

func (k cellKey) category() int { return int(k & (1<<categoryBits - 1)) }
func (k cellKey) to() int       { return int(k >> categoryBits & (1<<stateBits - 1)) }
func (k cellKey) from() int     { return int(k >> (categoryBits + stateBits) & (1<<stateBits - 1)) }
func (k cellKey) level() int    { return int(k >> (categoryBits + 2*stateBits)) }

// cell counts one transition.
type cell struct {
	ios  int64
	gaps gapStats
}

// diagram counts the transitions of one type of threads. Memory is bounded by the number
// of pairs of states times categories.
type diagram struct {
	levels int
	form   Form
	cells  map[cellKey]*cell
	// entries and exits count, by level from 1 and state of the last level, the transitions
	// of levels above the last one. In a flat diagram there are none.
	entries, exits [][]int64

	ios       int64
	threads   int
	gaps      gapStats
	intervals []int64 // I/Os in each
}

func newDiagram(levels int, form Form) *diagram {
	d := &diagram{levels: levels, form: form, cells: map[cellKey]*cell{}}
	if form == Hierarchical {
		for range levels {
			d.entries = append(d.entries, make([]int64, States(levels)))
			d.exits = append(d.exits, make([]int64, States(levels)))
		}
	}
	return d
}

// closing is the gap of the transition from a thread's last I/O to its first one: none
// was seen.
const closing time.Duration = -1

// add counts a transition between two states of the last level.
func (d *diagram) add(from, to, category int, gap time.Duration) {
	level := d.levels
	if d.form == Hierarchical {
		level = Divergence(from, to, d.levels)
	}
	if level < d.levels {
		d.exits[level][from]++
		d.entries[level][to]++
	}
	k := keyOf(level, Ancestor(from, d.levels, level), Ancestor(to, d.levels, level), category)
	c := d.cells[k]
	if c == nil {
		c = &cell{}
		d.cells[k] = c
	}
	c.ios++
	if gap != closing {
		c.gaps.add(gap)
		d.gaps.add(gap)
	}
}

// upTo is the same diagram with fewer levels: what it would have counted. Transitions of
// the levels above stay; those among siblings, and all inside them, become those of the
// new last level.
func (d *diagram) upTo(levels int) *diagram {
	out := newDiagram(levels, Hierarchical)
	out.ios, out.threads, out.gaps, out.intervals = d.ios, d.threads, d.gaps, d.intervals
	// In order: sums of gaps are rounded, and the same trace gives the same bytes.
	for _, k := range slices.Sorted(maps.Keys(d.cells)) {
		c, level := d.cells[k], min(k.level(), levels)
		to := keyOf(level, Ancestor(k.from(), k.level(), level), Ancestor(k.to(), k.level(), level), k.category())
		sum := out.cells[to]
		if sum == nil {
			sum = &cell{}
			out.cells[to] = sum
		}
		sum.ios += c.ios
		sum.gaps.merge(&c.gaps)
	}
	for level := 1; level < levels; level++ {
		for state, n := range d.entries[level] {
			out.entries[level][Ancestor(state, d.levels, levels)] += n
		}
		for state, n := range d.exits[level] {
			out.exits[level][Ancestor(state, d.levels, levels)] += n
		}
	}
	return out
}
