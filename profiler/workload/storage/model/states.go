package model

import "math/bits"

// Branching is into how many ranges every range is divided. The text says that it is
// chosen so that the probabilities of transitions are least, and uses no other value
// (§A.3.2).
const Branching = 4

// branchingBits is its logarithm: a level is two bits of a state's number.
const branchingBits = 2

// MaxLevels bounds the depth of a model: 65 536 states (chosen by us: the text needs one
// to three levels, and the tables of deeper ones do not stay below the size of a file).
const MaxLevels = 8

// States is how many states a level has: 4^l (§A.3.2).
func States(level int) int { return 1 << (branchingBits * level) }

// HierarchicalPairs is how many pairs of states a hierarchical diagram has: all pairs of
// siblings at the last level, and those that differ at the levels above,
// 4^(l-1)·16 + Σ 4^(i-1)·12 (§A.3.2, eq. 1). Level 0 has one.
func HierarchicalPairs(level int) int64 {
	if level == 0 {
		return 1
	}
	pairs := int64(States(level-1)) * Branching * Branching
	for i := 1; i < level; i++ {
		pairs += int64(States(i-1)) * Branching * (Branching - 1)
	}
	return pairs
}

// FlatPairs is how many pairs of states a flat diagram has: 16^l (§A.3.2).
func FlatPairs(level int) int64 { return int64(States(level)) * int64(States(level)) }

// Divergence is the level at which a transition between two of the smallest states is
// kept: the first at which their ancestors differ, and the last one where they have one
// parent.
func Divergence(a, b, levels int) int {
	if a == b {
		return levels
	}
	// The highest bit in which they differ is in the pair of bits of that level.
	highest := bits.Len(uint(a^b)) - 1
	return levels - highest/branchingBits
}

// Ancestor is the state at a level above that holds a state.
func Ancestor(state, level, above int) int { return state >> (branchingBits * (level - above)) }

// State is where a byte of the device is at a level: floor(offset / (range / 4^l)). What
// is behind the range is in the last state.
func (d Device) State(offset int64, level int) int {
	if offset >= d.Bytes {
		return States(level) - 1
	}
	high, low := bits.Mul64(uint64(offset), uint64(States(level)))
	state, _ := bits.Div64(high, low, uint64(d.Bytes))
	return int(state)
}

// Begin is the first byte of a state; that of the state behind the last is the end.
func (d Device) Begin(state, level int) int64 {
	n := uint64(States(level))
	high, low := bits.Mul64(uint64(state), uint64(d.Bytes))
	begin, rest := bits.Div64(high, low, n)
	if rest > 0 {
		begin++
	}
	return int64(begin)
}
