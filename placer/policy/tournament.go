package policy

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// tournament finds the least-loaded node with room for a size: a binary tree
// over the nodes whose inner vertices know the winner below them and the most
// of each resource that any node below has free. An update costs O(log n); a
// query follows the winners and leaves out subtrees that have no room or cannot
// win, O(log n) unless many lightly loaded nodes lack one resource only.
type tournament struct {
	board  *board.Board
	leaves int // a power of two
	win    []int32
	free   []cluster.Resources // CPUMHz, Cores, MemoryMB, DiskMB
	load   []float64           // by node: share of cpu
	memory []float64           // by node: share of memory
	extra  []cluster.Resources // by node: chosen and not yet on the board
}

// nobody is the winner of an empty subtree.
const nobody = int32(-1)

// newTournament indexes a board and follows its changes.
func newTournament(b *board.Board) *tournament {
	t := &tournament{board: b}
	t.rebuild()
	b.Listen(t)
	return t
}

// NodeChanged implements board.Listener.
func (t *tournament) NodeChanged(n board.Index) {
	if int(n) >= len(t.load) {
		t.rebuild()
		return
	}
	t.leaf(n)
	t.raise(n)
}

// rebuild makes room for twice the nodes.
func (t *tournament) rebuild() {
	n := t.board.Len()
	t.leaves = 1
	for t.leaves < 2*n {
		t.leaves *= 2
	}
	t.win = make([]int32, 2*t.leaves)
	t.free = make([]cluster.Resources, 2*t.leaves)
	for i := range t.win {
		t.win[i] = nobody
	}
	t.load, t.memory = make([]float64, t.leaves), make([]float64, t.leaves)
	t.extra = append(t.extra, make([]cluster.Resources, t.leaves-len(t.extra))...)
	for i := range n {
		t.leaf(board.Index(i))
	}
	for i := t.leaves - 1; i > 0; i-- {
		t.play(i)
	}
}

// leaf reads a node's state.
func (t *tournament) leaf(n board.Index) {
	at := t.leaves + int(n)
	if !t.board.Ready(n) {
		t.win[at] = nobody
		return
	}
	node, used := t.board.Node(n), t.board.Used(n).Add(t.extra[n])
	t.win[at] = int32(n)
	mhz := used.CPUMHz + used.Cores*node.CoreMHz
	t.free[at] = cluster.Resources{
		CPUMHz: node.Total.CPUMHz - mhz, Cores: node.Total.Cores - used.Cores,
		MemoryMB: node.Total.MemoryMB - used.MemoryMB, DiskMB: node.Total.DiskMB - used.DiskMB,
	}
	t.load[n], t.memory[n] = share(mhz, node.Total.CPUMHz), share(used.MemoryMB, node.Total.MemoryMB)
}

// raise plays the matches above a leaf again.
func (t *tournament) raise(n board.Index) {
	for i := (t.leaves + int(n)) / 2; i > 0; i /= 2 {
		t.play(i)
	}
}

func (t *tournament) play(i int) {
	l, r := 2*i, 2*i+1
	switch {
	case t.win[l] == nobody:
		t.win[i], t.free[i] = t.win[r], t.free[r]
		return
	case t.win[r] == nobody:
		t.win[i], t.free[i] = t.win[l], t.free[l]
		return
	}
	t.win[i] = t.win[l]
	if t.before(t.win[r], t.win[l]) {
		t.win[i] = t.win[r]
	}
	a, b := &t.free[l], &t.free[r]
	t.free[i] = cluster.Resources{
		CPUMHz: max(a.CPUMHz, b.CPUMHz), Cores: max(a.Cores, b.Cores),
		MemoryMB: max(a.MemoryMB, b.MemoryMB), DiskMB: max(a.DiskMB, b.DiskMB),
	}
}

// before is the order of the policy: share of cpu, share of memory, place.
func (t *tournament) before(x, y int32) bool {
	switch {
	case t.load[x] != t.load[y]:
		return t.load[x] < t.load[y]
	case t.memory[x] != t.memory[y]:
		return t.memory[x] < t.memory[y]
	default:
		return x < y
	}
}

// least returns the least-loaded node that passes and has room, and how many
// were looked at.
func (t *tournament) least(size cluster.Resources, pass func(n board.Index) bool) (best board.Index, examined int) {
	if len(t.win) < 2 {
		return board.None, 0
	}
	winner := nobody
	var visit func(i int)
	visit = func(i int) {
		w := t.win[i]
		if w == nobody || winner != nobody && !t.before(w, winner) || !within(t.free[i], size) {
			return
		}
		if i >= t.leaves {
			examined++
			if t.roomy(w, size) && pass(board.Index(w)) {
				winner = w
			}
			return
		}
		first, second := 2*i, 2*i+1
		if t.win[first] != w {
			first, second = second, first
		}
		visit(first)
		visit(second)
	}
	visit(1)
	return board.Index(winner), examined
}

// within leaves out what surely has no room; reserved cores take MHz as well,
// which depends on the node.
func within(free, size cluster.Resources) bool {
	return size.CPUMHz <= free.CPUMHz && size.Cores <= free.Cores && size.MemoryMB <= free.MemoryMB && size.DiskMB <= free.DiskMB
}

func (t *tournament) roomy(n int32, size cluster.Resources) bool {
	free := t.free[t.leaves+int(n)]
	return size.CPUMHz+size.Cores*t.board.Node(board.Index(n)).CoreMHz <= free.CPUMHz
}

// pretend counts an allocation that is chosen and not on the board; it is taken
// back with the same size, negative.
func (t *tournament) pretend(n board.Index, size cluster.Resources, sign int) {
	e := &t.extra[n]
	e.CPUMHz += sign * size.CPUMHz
	e.Cores += sign * size.Cores
	e.MemoryMB += sign * size.MemoryMB
	e.DiskMB += sign * size.DiskMB
	t.leaf(n)
	t.raise(n)
}
