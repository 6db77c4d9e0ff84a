package admission

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// pools sorts nodes by what they still tolerate, and keeps how long they are busy. A
// change of one node costs O(columns + classes), whatever their number.
//
// A node is available to class l while it is ready, has room for the least size
// anyone asked for, and its level is l or higher; it is busy for l from when it
// stops being so until it is again (the literal definition, for whole servers:
// from assignment to completion).
type pools struct {
	board    *board.Board
	classes  int
	literal  bool
	least    cluster.Resources
	asked    bool       // least is of an ask
	largest  []nodeSize // of the nodes, but for those within another
	nodes    []pooledNode
	since    []Instant // node × class: when it became busy; or notBusy, sinceUnknown
	members  []int     // by level, of available nodes
	nonempty uint64
	busy     []busyPeriods // by class
}

// nodeSize is what a node has; reserved cores count at its clock.
type nodeSize struct {
	configuration int
	total         cluster.Resources
	coreMHz       int
}

type pooledNode struct {
	level int8 // noLevel: not available to anyone
	ready bool
}

const noLevel = -1

const (
	notBusy      = Instant(-1)
	sinceUnknown = Instant(-2)
)

func newPools(b *board.Board, c arqConfig) *pools {
	return &pools{
		board: b, classes: c.classes, literal: c.literal,
		members: make([]int, c.classes), busy: make([]busyPeriods, c.classes),
	}
}

// level is the pool of a node, or noLevel.
func (p *pools) level(n board.Index) int {
	if int(n) >= len(p.nodes) {
		return noLevel
	}
	return int(p.nodes[n].level)
}

// remaining is what a node still tolerates, by column.
func (p *pools) remaining(n board.Index) []float64 {
	if p.literal {
		return p.board.Tolerated(n)
	}
	return p.board.Headroom(n)
}

// room lowers the least size, and reports whether it changed.
func (p *pools) room(size cluster.Resources) bool {
	if !p.asked {
		p.asked, p.least = true, size
		return true
	}
	before := p.least
	p.least = cluster.Resources{
		CPUMHz: min(before.CPUMHz, size.CPUMHz), Cores: min(before.Cores, size.Cores),
		MemoryMB: min(before.MemoryMB, size.MemoryMB), DiskMB: min(before.DiskMB, size.DiskMB),
	}
	return p.least != before
}

// large keeps the sizes of nodes that matter to possible and fastest.
func (p *pools) large(n *board.Node) {
	for _, other := range p.largest {
		if n.Configuration == other.configuration && n.CoreMHz == other.coreMHz && within(n.Total, other.total) {
			return
		}
	}
	p.largest = append(p.largest, nodeSize{n.Configuration, n.Total, n.CoreMHz})
}

// possible reports whether some node could hold the size if it were empty.
func (p *pools) possible(size cluster.Resources) bool {
	return slices.ContainsFunc(p.largest, func(n nodeSize) bool { return n.holds(size) })
}

// holds reports whether the node could hold the size if it were empty.
func (n nodeSize) holds(size cluster.Resources) bool {
	need := size
	need.CPUMHz += size.Cores * n.coreMHz
	return within(need, n.total)
}

// fastest is the speed of the ask on the best configuration that could hold it; 0
// where none is known.
func (p *pools) fastest(a *board.Request) float64 {
	best := 0.0
	for _, n := range p.largest {
		if n.configuration < len(a.Speed) && a.Speed[n.configuration] > best && n.holds(least(a)) {
			best = a.Speed[n.configuration]
		}
	}
	return best
}

func within(a, b cluster.Resources) bool {
	return a.CPUMHz <= b.CPUMHz && a.Cores <= b.Cores && a.MemoryMB <= b.MemoryMB && a.DiskMB <= b.DiskMB
}

// update puts a node into its pool.
func (p *pools) update(now Instant, n board.Index) {
	for int(n) >= len(p.nodes) {
		p.large(p.board.Node(board.Index(len(p.nodes))))
		p.nodes = append(p.nodes, pooledNode{level: noLevel})
		for range p.classes {
			p.since = append(p.since, notBusy)
		}
	}
	node := &p.nodes[n]
	ready := p.board.Ready(n)
	level := noLevel
	if ready && p.board.Fits(n, p.least) {
		level = levelOf(mean(p.remaining(n)), p.classes)
	}
	switch {
	case !ready:
		p.forget(n)
	case !node.ready:
		p.busyAlready(n, level)
	default:
		p.became(now, n, int(node.level), level)
	}
	p.count(int(node.level), -1)
	p.count(level, +1)
	node.level, node.ready = int8(level), ready
}

// became records the busy periods that begin and end.
func (p *pools) became(now Instant, n board.Index, before, level int) {
	for l := level + 1; l <= before; l++ {
		*p.at(n, l) = now
		p.busy[l].begin(now)
	}
	for l := before + 1; l <= level; l++ {
		p.release(n, l, now, true)
	}
}

// release ends the busy period of a class, if there is one. What was cut short is
// not a sample.
func (p *pools) release(n board.Index, l int, now Instant, sample bool) {
	since := p.at(n, l)
	switch *since {
	case notBusy:
	case sinceUnknown:
		p.busy[l].unknown--
	default:
		p.busy[l].end(*since)
		if sample {
			p.busy[l].sample(now - *since)
		}
	}
	*since = notBusy
}

// forget takes away a node that tolerates nothing more: no item waits for it.
func (p *pools) forget(n board.Index) {
	for l := range p.classes {
		p.release(n, l, 0, false)
	}
}

// busyAlready notes for a node that was just seen that its residents keep it
// from classes it could serve if it were empty, for how long we do not know.
func (p *pools) busyAlready(n board.Index, level int) {
	best := p.classes - 1
	if e := p.board.Node(n).Capability; e != nil {
		best = levelOf(mean(e), p.classes)
	}
	if len(p.board.Residents(n)) == 0 {
		return
	}
	for l := level + 1; l <= best; l++ {
		*p.at(n, l) = sinceUnknown
		p.busy[l].unknown++
	}
}

func (p *pools) at(n board.Index, l int) *Instant { return &p.since[int(n)*p.classes+l] }

func (p *pools) count(level, by int) {
	if level == noLevel {
		return
	}
	p.members[level] += by
	if p.members[level] > 0 {
		p.nonempty |= 1 << level
	} else {
		p.nonempty &^= 1 << level
	}
}

// mean of no columns is 100: nothing is known to press on anything.
func mean(x []float64) float64 {
	if len(x) == 0 {
		return 100
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
