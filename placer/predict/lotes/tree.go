package lotes

import (
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Rooms finds a node with room for a size among a list of nodes: the first, or the
// one of highest score for a class. It is a binary tree whose vertices know the
// most of each resource that any node below has free, and the highest score below
// by class. An update costs O(log n · classes), a query O(log n) unless many nodes
// have enough of one resource only.
type Rooms struct {
	board   *board.Board
	nodes   []board.Index
	classes int
	leaves  int
	free    []room  // by vertex
	score   []int32 // by vertex and class
	extra   map[board.Index]taken
	// failed are sizes that no node has room for, as far as no choice is under way:
	// in a full cluster most searches end here.
	failed []cluster.Resources
}

// failedMost sizes are remembered (chosen by us).
const failedMost = 8

// room is what is free; none is left of a node that is not ready.
type room struct {
	mhz, memory, disk int64
	// joint are the least of cpu and memory, weighed: where many nodes have one of
	// them only, the most of each says little, and the most of these much.
	joint [3]int64
}

// roomOf fills in joint. What has room for a size has no less of any of it.
func roomOf(mhz, memory, disk int64) room {
	return room{mhz, memory, disk, [3]int64{min(mhz, memory), min(mhz, 2*memory), min(2*mhz, memory)}}
}

// noRoom holds nothing, not even a size of 0.
var noRoom = roomOf(-1, -1, -1)

// taken is what a choice has taken of a node that the board does not know of yet.
type taken struct {
	size  cluster.Resources
	count int
}

// lowest is the score of what is no candidate.
const lowest = math.MinInt32

// NewRooms indexes nodes, in the order of preference of First. The caller calls
// Update when one of them changes.
func NewRooms(b *board.Board, nodes []board.Index, classes int) *Rooms {
	r := &Rooms{board: b, nodes: nodes, classes: classes, leaves: 1, extra: map[board.Index]taken{}}
	for r.leaves < len(nodes) {
		r.leaves *= 2
	}
	r.free = make([]room, 2*r.leaves)
	r.score = make([]int32, 2*r.leaves*classes)
	for i := range r.free {
		r.free[i] = noRoom
	}
	for i := range r.score {
		r.score[i] = lowest
	}
	return r
}

// Fill reads every node; scores gives those of a position, nil where there are no
// classes.
func (r *Rooms) Fill(scores func(position int, out []int32)) {
	for at := range r.nodes {
		r.leaf(at, scores)
	}
	for v := r.leaves - 1; v > 0; v-- {
		r.join(v)
	}
}

// Update reads the node at a position again.
func (r *Rooms) Update(at int, scores func(position int, out []int32)) {
	r.leaf(at, scores)
	n := r.nodes[at]
	r.failed = slices.DeleteFunc(r.failed, func(s cluster.Resources) bool { return r.board.Fits(n, s) })
	for v := (r.leaves + at) / 2; v > 0; v /= 2 {
		r.join(v)
	}
}

func (r *Rooms) leaf(at int, scores func(position int, out []int32)) {
	v, n := r.leaves+at, r.nodes[at]
	own := r.score[v*r.classes : (v+1)*r.classes]
	if !r.board.Ready(n) {
		r.free[v] = noRoom
		for k := range own {
			own[k] = lowest
		}
		return
	}
	node, used := r.board.Node(n), r.board.Used(n)
	if e := r.extra[n]; e.count > 0 {
		used = used.Add(times(e.size, e.count))
	}
	r.free[v] = roomOf(int64(node.Total.CPUMHz-used.CPUMHz-used.Cores*node.CoreMHz), int64(node.Total.MemoryMB-used.MemoryMB), int64(node.Total.DiskMB-used.DiskMB))
	if scores != nil {
		scores(at, own)
	}
}

func times(s cluster.Resources, n int) cluster.Resources {
	return cluster.Resources{CPUMHz: n * s.CPUMHz, Cores: n * s.Cores, MemoryMB: n * s.MemoryMB, DiskMB: n * s.DiskMB}
}

func (r *Rooms) join(v int) {
	a, b := &r.free[2*v], &r.free[2*v+1]
	f := &r.free[v]
	f.mhz, f.memory, f.disk = max(a.mhz, b.mhz), max(a.memory, b.memory), max(a.disk, b.disk)
	for i := range f.joint {
		f.joint[i] = max(a.joint[i], b.joint[i])
	}
	k := r.classes
	own, left, right := r.score[v*k:(v+1)*k], r.score[2*v*k:(2*v+1)*k], r.score[(2*v+1)*k:(2*v+2)*k]
	for i := range own {
		own[i] = max(left[i], right[i])
	}
}

// Take puts so many allocations of a size on the node at a position, until Return;
// the caller updates it.
func (r *Rooms) Take(at int, size cluster.Resources, count int) {
	r.extra[r.nodes[at]] = taken{size, count}
}

// Return forgets what was taken there; the caller updates it.
func (r *Rooms) Return(at int) { delete(r.extra, r.nodes[at]) }

// fits one more of the size on a node, besides what was taken.
func (r *Rooms) fits(n board.Index, size cluster.Resources) bool {
	if e := r.extra[n]; e.count > 0 {
		return r.board.Room(n, size, e.count+1) > e.count
	}
	return r.board.Fits(n, size)
}

// needOf a size on any node: cores count at the clock of the node, which the leaf
// checks.
func needOf(size cluster.Resources) room {
	return roomOf(int64(size.CPUMHz), int64(size.MemoryMB), int64(size.DiskMB))
}

func (r *Rooms) holds(v int, need *room) bool {
	f := &r.free[v]
	return f.mhz >= need.mhz && f.memory >= need.memory && f.disk >= need.disk &&
		f.joint[0] >= need.joint[0] && f.joint[1] >= need.joint[1] && f.joint[2] >= need.joint[2]
}

// First is the first position with room for the size that passes, or −1.
func (r *Rooms) First(size cluster.Resources, pass func(board.Index) bool) (at, examined int) {
	if r.fails(size) {
		return -1, 0
	}
	at, examined = r.first(1, needOf(size), size, pass)
	r.learn(at, size, pass)
	return at, examined
}

// fails: a size that is no larger is known to have no room.
func (r *Rooms) fails(size cluster.Resources) bool {
	return slices.ContainsFunc(r.failed, func(s cluster.Resources) bool { return within(s, size) })
}

// learn from a search of all nodes that found none.
func (r *Rooms) learn(at int, size cluster.Resources, pass func(board.Index) bool) {
	if at >= 0 || pass != nil || len(r.extra) > 0 {
		return
	}
	r.failed = slices.DeleteFunc(r.failed, func(s cluster.Resources) bool { return within(size, s) })
	if len(r.failed) == failedMost {
		r.failed = slices.Delete(r.failed, 0, 1)
	}
	r.failed = append(r.failed, size)
}

func within(a, b cluster.Resources) bool {
	return a.CPUMHz <= b.CPUMHz && a.Cores <= b.Cores && a.MemoryMB <= b.MemoryMB && a.DiskMB <= b.DiskMB
}

func (r *Rooms) first(v int, need room, size cluster.Resources, pass func(board.Index) bool) (int, int) {
	if !r.holds(v, &need) {
		return -1, 0
	}
	if v >= r.leaves {
		at := v - r.leaves
		if n := r.nodes[at]; r.fits(n, size) && (pass == nil || pass(n)) {
			return at, 1
		}
		return -1, 1
	}
	at, left := r.first(2*v, need, size, pass)
	if at >= 0 {
		return at, left
	}
	at, right := r.first(2*v+1, need, size, pass)
	return at, left + right
}

// Best is the position of highest score for the class with room for the size that
// passes, the first of equals; or −1.
func (r *Rooms) Best(class int, size cluster.Resources, pass func(board.Index) bool) (at, examined int) {
	if r.fails(size) {
		return -1, 0
	}
	q := bestQuery{rooms: r, class: class, size: size, need: needOf(size), pass: pass, at: -1, top: lowest}
	q.look(1)
	r.learn(q.at, size, pass)
	return q.at, q.examined
}

type bestQuery struct {
	rooms    *Rooms
	class    int
	size     cluster.Resources
	need     room
	pass     func(board.Index) bool
	at       int
	top      int32
	examined int
}

func (q *bestQuery) scoreOf(v int) int32 { return q.rooms.score[v*q.rooms.classes+q.class] }

// look below a vertex: the better side first, the left one of equals.
func (q *bestQuery) look(v int) {
	r := q.rooms
	if s := q.scoreOf(v); !r.holds(v, &q.need) || q.at >= 0 && s < q.top {
		return
	}
	if v < r.leaves {
		if q.scoreOf(2*v+1) > q.scoreOf(2*v) {
			q.look(2*v + 1)
			q.look(2 * v)
		} else {
			q.look(2 * v)
			q.look(2*v + 1)
		}
		return
	}
	q.examined++
	at, s := v-r.leaves, q.scoreOf(v)
	if q.at >= 0 && s == q.top && at > q.at {
		return
	}
	if n := r.nodes[at]; r.fits(n, q.size) && (q.pass == nil || q.pass(n)) {
		q.at, q.top = at, s
	}
}
