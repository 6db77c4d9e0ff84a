package policy

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// vainLookUps is what look-ups for requests that wait came to in vain.
type vainLookUps struct {
	of   map[board.Handle]*requestLookUps
	keys int // that are held
}

// requestLookUps are those of one request. The same look-up comes to the same where nothing of a
// configuration has changed, and where a few nodes have, only those are looked at.
type requestLookUps struct {
	point []float64
	size  cluster.Resources
	of    []vainLookUp // by configuration
}

type vainLookUp struct {
	version  uint64 // of the configuration in the table; 0: none was made
	examined int
	keys     []uint64 // of its queries, one after the other; none where the index had no point
	scanned  bool     // and no node of the configuration would do
}

// mostRequests and mostKeys bound what is remembered, to 128 MiB of keys; after more, all is
// forgotten.
const (
	mostRequests = 1 << 15
	mostKeys     = 1 << 24
)

// to a request is what is remembered, by configuration.
func (v *vainLookUps) to(a *board.Request, point []float64, configurations int) []vainLookUp {
	of := v.of[a.Handle]
	if of == nil || !slices.Equal(of.point, point) || of.size != a.Size {
		v.forget(a.Handle)
		if len(v.of) >= mostRequests || v.keys > mostKeys {
			clear(v.of)
			v.keys = 0
		}
		of = &requestLookUps{point: slices.Clone(point), size: a.Size}
		v.of[a.Handle] = of
	}
	if grow := configurations - len(of.of); grow > 0 {
		of.of = append(of.of, make([]vainLookUp, grow)...)
	}
	return of.of
}

// put a look-up in the place of an older one. Its keys are copied.
func (v *vainLookUps) put(old *vainLookUp, l vainLookUp) {
	v.keys += len(l.keys) - len(old.keys)
	l.keys = append(old.keys[:0], l.keys...)
	*old = l
}

func (v *vainLookUps) forget(h board.Handle) {
	if of := v.of[h]; of != nil {
		for i := range of.of {
			v.keys -= len(of.of[i].keys)
		}
		delete(v.of, h)
	}
}

// stillInVain reports whether a look-up into a configuration, made again, would find no more than
// it did, and brings what it would examine up to date.
func (s *hashSelector) stillInVain(c int, v *vainLookUp) bool {
	if v.version == s.table.versions[c] {
		return true
	}
	changes, all := s.table.since(c, v.version)
	index := s.table.indexes[c]
	if v.version == 0 || !all || index == nil || len(v.keys) == 0 && index.Len() > 0 {
		return false
	}
	for i := range changes {
		if s.keepsBounds(int(changes[i].node)) {
			return false
		}
	}
	for i := range changes {
		v.examined += queriesAt(index, v.keys, changes[i].after) - queriesAt(index, v.keys, changes[i].before)
	}
	v.version = s.table.versions[c]
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
