package policy

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// serverTable is the state of every node as a point, and an index of the points for
// each configuration. It follows the board: a change deletes the node's point and
// inserts the new one.
//
// Two coordinates per source, as shares, with residents j, their sensitivity
// s1 = 1 − tolerated and s2 = caused, and S the sum of s2 (§III.B of the paper):
//
//	1 − S                       the most that a newcomer's s1 may be
//	1 − S − max over j (s1 − s2)  the most that its s2 may be
//
// Idle: all ones. In the words of Paragon the first is D2 ≥ 0, and the second is
// "no resident j experiences more than it tolerates, its present co-runners counted",
// which D1 leaves out.
type serverTable struct {
	board   *board.Board
	radius  float64
	indexes []*lsh.Index    // by configuration; nil: none yet
	members [][]board.Index // by configuration
	// versions of configurations, from 1: every change of a node is a new one.
	versions []uint64
	recent   [][]change // by configuration: the last ones
	keys     [][]uint64 // by node: of its point; none where the index does not have it
	points   []float64  // node-major
	known    int        // nodes that have a point
	changed  []board.Index
	waiting  []bool // by node: is in changed
}

// change of a node: the keys of its point in the index before and after, none where it was not
// or is not there.
type change struct {
	node          board.Index
	before, after []uint64
}

// mostChanges of a configuration are kept, and at least half as many: a request that waits is
// looked at again after a few.
const mostChanges = 256

func newServerTable(b *board.Board, radius float64) *serverTable {
	t := &serverTable{board: b, radius: radius}
	for i := range b.Len() {
		t.NodeChanged(board.Index(i))
	}
	return t
}

// NodeChanged implements board.Listener.
func (t *serverTable) NodeChanged(n board.Index) {
	for int(n) >= len(t.waiting) {
		t.waiting = append(t.waiting, false)
	}
	if !t.waiting[n] {
		t.waiting[n], t.changed = true, append(t.changed, n)
	}
}

// refresh brings the points of changed nodes up to date.
func (t *serverTable) refresh() {
	for _, n := range t.changed {
		t.waiting[n] = false
		t.update(n)
	}
	t.changed = t.changed[:0]
}

func (t *serverTable) width() int { return 2 * len(t.board.Columns) }

// point of a node. The slice is the table's own.
func (t *serverTable) point(n board.Index) []float64 {
	d := t.width()
	return t.points[int(n)*d : (int(n)+1)*d : (int(n)+1)*d]
}

func (t *serverTable) update(n board.Index) {
	c := t.board.Node(n).Configuration
	t.reach(c)
	t.versions[c]++
	for ; t.known <= int(n); t.known++ {
		t.points, t.keys = append(t.points, make([]float64, t.width())...), append(t.keys, nil)
		of := t.board.Node(board.Index(t.known)).Configuration
		t.reach(of)
		t.members[of] = append(t.members[of], board.Index(t.known))
	}
	point := t.point(n)
	serverPoint(point, t.board.Residents(n), nil, 0)
	if t.width() == 0 {
		return // no source is watched: every node is found by the scan
	}
	before := t.keys[n]
	t.keys[n] = t.index(n, c, point)
	if len(t.recent[c]) == mostChanges {
		t.recent[c] = append(t.recent[c][:0], t.recent[c][mostChanges/2:]...)
	}
	t.recent[c] = append(t.recent[c], change{n, before, t.keys[n]})
}

// since lists the changes of a configuration after a version; false: some are not kept.
func (t *serverTable) since(configuration int, version uint64) ([]change, bool) {
	recent := t.recent[configuration]
	n := t.versions[configuration] - version
	if n > uint64(len(recent)) {
		return nil, false
	}
	return recent[len(recent)-int(n):], true
}

// index enters the point of a node, and returns its keys; none where it is not entered.
func (t *serverTable) index(n board.Index, c int, point []float64) []uint64 {
	if t.indexes[c] == nil {
		index, err := lsh.New(lsh.Config{Dimensions: t.width(), Radius: t.radius * float64(t.width()), Seed: uint64(c) + 1})
		if err != nil {
			return nil // the radius is checked where it is read: the scan finds what there is
		}
		t.indexes[c] = index
	}
	index := t.indexes[c]
	if index.Has(int(n)) {
		_ = index.Delete(int(n)) // it is there
	}
	if !accepts(point) || index.Insert(int(n), point) != nil { // one that is no number is left to the scan
		return nil
	}
	keys, err := index.Keys(point, nil)
	if err != nil {
		return nil // Insert would have said so
	}
	return keys
}

// reach makes place for a configuration.
func (t *serverTable) reach(configuration int) {
	for configuration >= len(t.members) {
		t.members, t.indexes, t.versions, t.recent = append(t.members, nil), append(t.indexes, nil), append(t.versions, 0), append(t.recent, nil)
	}
}

// accepts: a node whose bounds are broken already takes no newcomer, and is not listed.
func accepts(point []float64) bool {
	for _, v := range point {
		if v < 0 {
			return false
		}
	}
	return true
}

// serverPoint fills out with the point of a node with its residents, and as many
// more of one kind.
func serverPoint(out []float64, residents []board.Resident, more *board.Resident, count int) {
	for k := range len(out) / 2 {
		sum, worst, any := 0.0, 0.0, false
		add := func(r *board.Resident, n int) {
			sum += float64(n) * r.Caused[k] / 100
			if excess := 1 - r.Tolerated[k]/100 - r.Caused[k]/100; !any || excess > worst {
				worst, any = excess, true
			}
		}
		for i := range residents {
			add(&residents[i], 1)
		}
		if count > 0 {
			add(more, count)
		}
		out[2*k], out[2*k+1] = 1-sum, 1
		if any {
			out[2*k+1] = 1 - sum - worst
		}
	}
}
