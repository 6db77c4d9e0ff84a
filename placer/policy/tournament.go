package policy

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// tournament finds the least-loaded node with room for a size: a binary tree
// over the nodes whose inner vertices know the winner below them and the most
// of each resource that any node below has free. An update costs O(log n), and
// less where it changes nobody's winner; a query follows the winners and leaves
// out subtrees that have no room or cannot win, O(1) where the least loaded node
// has room, O(log n) unless many lightly loaded nodes lack one resource only.
type tournament struct {
	board    *board.Board
	leaves   int // a power of two
	vertices []vertex
	extra    []cluster.Resources // by node: chosen and not yet on the board
}

// vertex is the best of a subtree. It carries the winner's loads, so that a
// match reads two adjacent vertices and nothing else.
type vertex struct {
	load   float64 // share of cpu
	memory float64 // share of memory
	free   cluster.Resources
	winner int32
}

// noWinner stands for the winner of an empty subtree.
const noWinner = int32(-1)

// newTournament indexes a board and follows its changes.
func newTournament(b *board.Board) *tournament {
	t := &tournament{board: b}
	t.rebuild()
	b.Listen(t)
	return t
}

// NodeChanged implements board.Listener.
func (t *tournament) NodeChanged(n board.Index) {
	if int(n) >= t.leaves {
		t.rebuild()
		return
	}
	t.update(n)
}

// rebuild makes room for all nodes, and for more where they are many.
func (t *tournament) rebuild() {
	n := t.board.Len()
	t.leaves = 1
	for t.leaves < n {
		t.leaves *= 2
	}
	t.vertices = make([]vertex, 2*t.leaves)
	for i := range t.vertices {
		t.vertices[i].winner = noWinner
	}
	t.extra = append(t.extra, make([]cluster.Resources, t.leaves-len(t.extra))...)
	for i := range n {
		t.vertices[t.leaves+i] = t.leaf(board.Index(i))
	}
	for i := t.leaves - 1; i > 0; i-- {
		t.vertices[i] = t.match(i)
	}
}

// leaf reads a node's state.
func (t *tournament) leaf(n board.Index) vertex {
	if !t.board.Ready(n) {
		return vertex{winner: noWinner}
	}
	node, used := t.board.Node(n), t.board.Used(n)
	used = used.Add(t.extra[n])
	mhz := used.CPUMHz + used.Cores*node.CoreMHz
	return vertex{
		winner: int32(n),
		load:   share(mhz, node.Total.CPUMHz), memory: share(used.MemoryMB, node.Total.MemoryMB),
		free: cluster.Resources{
			CPUMHz: node.Total.CPUMHz - mhz, Cores: node.Total.Cores - used.Cores,
			MemoryMB: node.Total.MemoryMB - used.MemoryMB, DiskMB: node.Total.DiskMB - used.DiskMB,
		},
	}
}

// update plays the matches above a node again, as far as they come out
// differently.
func (t *tournament) update(n board.Index) {
	i := t.leaves + int(n)
	now := t.leaf(n)
	for t.vertices[i] != now {
		t.vertices[i] = now
		if i /= 2; i == 0 {
			return
		}
		now = t.match(i)
	}
}

// match is the better of two subtrees.
func (t *tournament) match(i int) vertex {
	l, r := &t.vertices[2*i], &t.vertices[2*i+1]
	switch {
	case l.winner == noWinner:
		return *r
	case r.winner == noWinner:
		return *l
	}
	best := l
	if r.before(l) {
		best = r
	}
	return vertex{winner: best.winner, load: best.load, memory: best.memory, free: cluster.Resources{
		CPUMHz: max(l.free.CPUMHz, r.free.CPUMHz), Cores: max(l.free.Cores, r.free.Cores),
		MemoryMB: max(l.free.MemoryMB, r.free.MemoryMB), DiskMB: max(l.free.DiskMB, r.free.DiskMB),
	}}
}

// before is the order of the policy: share of cpu, share of memory, place.
func (v *vertex) before(o *vertex) bool {
	switch {
	case v.load != o.load:
		return v.load < o.load
	case v.memory != o.memory:
		return v.memory < o.memory
	default:
		return v.winner < o.winner
	}
}

// least returns the least-loaded node that is allowed (nil: all are) and has
// room, and how many were looked at.
func (t *tournament) least(size cluster.Resources, allowed func(n board.Index) bool) (best board.Index, examined int) {
	q := query{tournament: t, size: size, allowed: allowed, winner: noWinner}
	q.visit(1)
	return board.Index(q.winner), q.examined
}

// query is one search of the tree.
type query struct {
	*tournament
	size     cluster.Resources
	allowed  func(n board.Index) bool
	winner   int32
	best     vertex
	examined int
}

func (q *query) visit(i int) {
	v := &q.vertices[i]
	if v.winner == noWinner || q.winner != noWinner && !v.before(&q.best) || !within(&v.free, &q.size) {
		return
	}
	// The winner's own leaf first: where it has room, no node below is better.
	leaf := q.leaves + int(v.winner)
	if i == leaf || q.allowed == nil {
		if q.takes(&q.vertices[leaf]) {
			q.examined++
			q.winner, q.best = v.winner, q.vertices[leaf]
			return
		}
	}
	if i == leaf {
		q.examined++
		return
	}
	first, second := 2*i, 2*i+1
	if q.vertices[first].winner != v.winner {
		first, second = second, first
	}
	q.visit(first)
	q.visit(second)
}

func (q *query) takes(leaf *vertex) bool {
	n := board.Index(leaf.winner)
	return within(&leaf.free, &q.size) && q.size.CPUMHz+q.size.Cores*q.board.Node(n).CoreMHz <= leaf.free.CPUMHz &&
		(q.allowed == nil || q.allowed(n))
}

// within leaves out what surely has no room; reserved cores take MHz as well,
// which depends on the node.
func within(free, size *cluster.Resources) bool {
	return size.CPUMHz <= free.CPUMHz && size.Cores <= free.Cores && size.MemoryMB <= free.MemoryMB && size.DiskMB <= free.DiskMB
}

// pretend counts an allocation that is chosen and not on the board; it is taken
// back with the same size, negative.
func (t *tournament) pretend(n board.Index, size cluster.Resources, sign int) {
	e := &t.extra[n]
	e.CPUMHz += sign * size.CPUMHz
	e.Cores += sign * size.Cores
	e.MemoryMB += sign * size.MemoryMB
	e.DiskMB += sign * size.DiskMB
	t.update(n)
}
