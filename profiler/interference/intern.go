package interference

import (
	"hash/maphash"
	"maps"
)

// Interner has equal scores share one map: the workloads of a cluster are replicas, versions
// and runs of not so many programs, and a map of fifteen scores takes 4 KB. The zero value is
// ready. Not for concurrent use.
type Interner struct {
	seed maphash.Seed
	kept map[uint64]Scores
}

// mostInterned bounds what is kept of scores that nobody else may have any more; they are
// collected anew beyond it.
const mostInterned = 512

// Of is a map with the same scores; neither may be written to.
func (i *Interner) Of(s Scores) Scores {
	if len(s) == 0 {
		return s
	}
	if i.kept == nil || len(i.kept) >= mostInterned {
		i.seed, i.kept = maphash.MakeSeed(), map[uint64]Scores{}
	}
	key := uint64(0)
	for source, e := range s {
		key ^= maphash.Comparable(i.seed, entry{source, e}) // in any order
	}
	kept, ok := i.kept[key]
	if ok && maps.Equal(kept, s) {
		return kept
	}
	i.kept[key] = s
	return s
}

type entry struct {
	source   Source
	estimate Estimate
}
