package policy

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// missed is what look-ups for requests that wait came to in vain.
type missed struct {
	of   map[board.Handle]*misses
	keys int // that are held
}

// misses are those of one request. The same look-up comes to the same where nothing of a
// configuration has changed, and where a few nodes have, only those are looked at.
type misses struct {
	point []float64
	size  cluster.Resources
	of    []miss // by configuration
}

type miss struct {
	version  uint64 // of the configuration in the table; 0: none was made
	examined int
	keys     []uint64 // of its queries, one after the other; none where the index had no point
	scanned  bool     // and no node of the configuration would do
}

// mostMisses and mostMissedKeys bound what is remembered, to 128 MiB of keys; after more, all is
// forgotten.
const (
	mostMisses     = 1 << 15
	mostMissedKeys = 1 << 24
)

// to a request is what is remembered, by configuration.
func (m *missed) to(a *board.Request, point []float64, configurations int) []miss {
	of := m.of[a.Handle]
	if of == nil || !slices.Equal(of.point, point) || of.size != a.Size {
		m.forget(a.Handle)
		if len(m.of) >= mostMisses || m.keys > mostMissedKeys {
			clear(m.of)
			m.keys = 0
		}
		of = &misses{point: slices.Clone(point), size: a.Size}
		m.of[a.Handle] = of
	}
	if grow := configurations - len(of.of); grow > 0 {
		of.of = append(of.of, make([]miss, grow)...)
	}
	return of.of
}

// put a miss in the place of an older one. Its keys are copied.
func (m *missed) put(old *miss, v miss) {
	m.keys += len(v.keys) - len(old.keys)
	v.keys = append(old.keys[:0], v.keys...)
	*old = v
}

func (m *missed) forget(h board.Handle) {
	if of := m.of[h]; of != nil {
		for i := range of.of {
			m.keys -= len(of.of[i].keys)
		}
		delete(m.of, h)
	}
}

// stillInVain reports whether a look-up into a configuration, made again, would find no more than
// it did, and brings what it would examine up to date.
func (s *hashSelector) stillInVain(c int, m *miss) bool {
	if m.version == s.table.versions[c] {
		return true
	}
	changes, all := s.table.since(c, m.version)
	index := s.table.indexes[c]
	if m.version == 0 || !all || index == nil || len(m.keys) == 0 && index.Len() > 0 {
		return false
	}
	for i := range changes {
		if s.keepsBounds(int(changes[i].node)) {
			return false
		}
	}
	for i := range changes {
		m.examined += queriesAt(index, m.keys, changes[i].after) - queriesAt(index, m.keys, changes[i].before)
	}
	m.version = s.table.versions[c]
	return true
}

// queriesAt is how many of some queries examine a point.
func queriesAt(index *lsh.Index, queries, point []uint64) int {
	if len(point) == 0 {
		return 0
	}
	n := 0
	for q := range slices.Chunk(queries, len(point)) {
		if index.Share(q, point) {
			n++
		}
	}
	return n
}
