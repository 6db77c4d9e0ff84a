package policy

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// unitTable is the cluster in resource units (§7.2.1), and counts
// of those that are free, so that the share of good ones is known without a look
// at every node: for each configuration and column, free units by contention in
// bands of bandPercent. The paper counts in buckets of a hash of the contention
// vector; a band of the workload's first column decides U ≥ T up to the last
// digits, and costs as little. An update is O(columns · residents of the node).
type unitTable struct {
	board   *board.Board
	columns int
	ofUnit  []board.Index // the node of each unit
	nodes   []unitNode
	counts  [][]int32 // by configuration: column × band
	free    []int     // by configuration
	scratch []float64
}

// unitNode is what is counted for a node now.
type unitNode struct {
	free  int32
	bands []uint8 // by column
}

const (
	bandPercent = 5
	bands       = digits.Top/bandPercent + 1
)

func newUnitTable(b *board.Board) *unitTable {
	t := &unitTable{board: b, columns: len(b.Columns), scratch: make([]float64, len(b.Columns))}
	for i := range b.Len() {
		t.add(board.Index(i))
	}
	b.Listen(t)
	return t
}

// NodeChanged implements board.Listener.
func (t *unitTable) NodeChanged(n board.Index) {
	if int(n) >= len(t.nodes) {
		t.add(n)
		return
	}
	t.count(n, -1)
	t.read(n)
	t.count(n, +1)
}

func (t *unitTable) add(n board.Index) {
	for range t.board.Node(n).Units() {
		t.ofUnit = append(t.ofUnit, n)
	}
	t.nodes = append(t.nodes, unitNode{bands: make([]uint8, t.columns)})
	for len(t.counts) <= t.board.Node(n).Configuration {
		t.counts = append(t.counts, make([]int32, t.columns*bands))
		t.free = append(t.free, 0)
	}
	t.read(n)
	t.count(n, +1)
}

// read the node's free units and the contention they experience.
func (t *unitTable) read(n board.Index) {
	at := &t.nodes[n]
	at.free = int32(t.board.FreeUnits(n))
	t.board.Contention(n, t.scratch)
	for k, c := range t.scratch {
		at.bands[k] = uint8(min(bands-1, int(digits.Of(c))/bandPercent))
	}
}

func (t *unitTable) count(n board.Index, sign int32) {
	at, c := &t.nodes[n], t.board.Node(n).Configuration
	if at.free == 0 {
		return
	}
	t.free[c] += int(sign * at.free)
	for k, band := range at.bands {
		t.counts[c][k*bands+int(band)] += sign * at.free
	}
}

// goodShare is the share of all units that are free, on a configuration that is
// wanted, and whose contention on the column leaves at least the target.
func (t *unitTable) goodShare(column int, target float64, wanted func(configuration int) bool) float64 {
	if len(t.ofUnit) == 0 {
		return 0
	}
	last := bands - 1
	if column >= 0 {
		last = min(last, int((1-target)*100)/bandPercent)
	}
	good := 0
	for c := range t.counts {
		if !wanted(c) {
			continue
		}
		if column < 0 {
			good += t.free[c]
			continue
		}
		for _, n := range t.counts[c][column*bands : column*bands+last+1] {
			good += int(n)
		}
	}
	return float64(good) / float64(len(t.ofUnit))
}
