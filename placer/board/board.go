package board

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Index is a node's place on the board.
type Index int32

// None is no node.
const None Index = -1

// Handle names a resident: unique among those on a board.
type Handle int64

// Node is what does not change about a node.
type Node struct {
	ID            cluster.NodeID
	Configuration int // index into Board.Configurations
	Total         cluster.Resources
	CoreMHz       int
	Rack          int // nodes of one rack are near each other; 0 where nothing is known
	// Machine is shared with other nodes of the same number, whose residents press on
	// each other; 0 is a machine of its own.
	Machine        int
	ThreadsPerCore int // hardware threads; Total.Cores counts them; 0 is not known
	// DiskMBPerSec is what its disk does; 0 is not known.
	DiskMBPerSec float64
	// Capability is how well the node serves an empty column, in percent of the
	// best node: 100 where nothing is known. len(Columns), or nil for all 100.
	Capability []float64
}

// Resident is an allocation on a node.
type Resident struct {
	Handle           Handle
	Size             cluster.Resources
	Tolerated        []float64 // by column, percent; shared, not written to
	Caused           []float64
	Node             cluster.NodeID        // on which it is, among the residents of a machine
	DemandFactor     float64               // how many times what is Caused it takes there of CPU time; 0 is 1
	RunMS            float64               // how long it runs at a time on a CPU, milliseconds; 0 is not known
	RequiredFraction *float64              // share of its performance in isolation that must be left; nil unknown
	TargetShare      float64               // of its performance in isolation that its target takes, where Tolerated does not say; 0: not known
	LateShare        float64               // of its requests that may be late, and are where it is under what is Tolerated; 0: no such bound
	Assumed          bool                  // some score is not known, and assumed
	Disk             *performance.DiskSpec // what it is promised of its node's disk; nil: nothing
	Priority         int
	BestEffort       bool     // may be evicted for others
	Class            int      // the job class its user declared, from 1; 0 is none
	Response         Response // nil: only the scores say
	// Slowdown is how much longer it is estimated to take here because of its
	// co-runners: 0.5 is half as long again. 0 where nothing is known.
	Slowdown float64
}

// Listener hears that a node changed: its residents, its room or its state.
type Listener interface{ NodeChanged(n Index) }

// Board is one cluster. It is not safe for concurrent use.
type Board struct {
	Columns        []interference.Source
	Configurations []string

	nodes     []Node
	of        []*cluster.Node // whose nodes they are, where they are of a snapshot
	ready     []bool
	used      []cluster.Resources
	free      []cluster.Resources // what is not, in MHz with cores included; less than nothing where the node is not ready
	residents [][]Resident
	shared    []*occupancy // of whom the residents are; nil: the board's own
	tolerated []float64    // node-major
	caused    []float64
	headroom  []float64
	machines  map[int][]Index // of those that are numbered
	listeners []Listener
}

// New returns an empty board.
func New(columns []interference.Source, configurations []string) *Board {
	return &Board{Columns: slices.Clone(columns), Configurations: slices.Clone(configurations), machines: map[int][]Index{}}
}

// grow makes room for so many more nodes at once.
func (b *Board) grow(nodes int) {
	b.nodes, b.ready = slices.Grow(b.nodes, nodes), slices.Grow(b.ready, nodes)
	b.used, b.free = slices.Grow(b.used, nodes), slices.Grow(b.free, nodes)
	b.residents, b.shared = slices.Grow(b.residents, nodes), slices.Grow(b.shared, nodes)
	scores := nodes * len(b.Columns)
	b.tolerated, b.caused, b.headroom = slices.Grow(b.tolerated, scores), slices.Grow(b.caused, scores), slices.Grow(b.headroom, scores)
}

// Add puts a ready node on the board.
func (b *Board) Add(n Node) Index {
	i := b.enter(n)
	b.recompute(i)
	b.notify(i)
	return i
}

// enter adds a node whose pressure is not computed yet.
func (b *Board) enter(n Node) Index {
	i := Index(len(b.nodes))
	b.nodes = append(b.nodes, n)
	b.ready = append(b.ready, true)
	b.used = append(b.used, cluster.Resources{})
	b.free = append(b.free, n.Total)
	b.residents = append(b.residents, nil)
	b.shared = append(b.shared, nil)
	k := len(b.Columns)
	for range k {
		b.tolerated, b.caused, b.headroom = append(b.tolerated, 0), append(b.caused, 0), append(b.headroom, 0)
	}
	if n.Machine != 0 {
		b.machines[n.Machine] = append(b.machines[n.Machine], i)
	}
	return i
}

// Listen adds a listener, which hears of changes from now on.
func (b *Board) Listen(l Listener) { b.listeners = append(b.listeners, l) }

// Listeners are those added so far, in order: an index of a board that several share is
// found here.
func (b *Board) Listeners() []Listener { return b.listeners }

// Len is the number of nodes.
func (b *Board) Len() int { return len(b.nodes) }

// Node returns what does not change about a node.
func (b *Board) Node(i Index) *Node { return &b.nodes[i] }

// Ready reports whether the node takes allocations.
func (b *Board) Ready(i Index) bool { return b.ready[i] }

// Used is what the residents of a node hold.
func (b *Board) Used(i Index) cluster.Resources { return b.used[i] }

// Residents lists the allocations of a node; the slice is the board's own.
func (b *Board) Residents(i Index) []Resident { return b.residents[i] }

// SameMachine lists the other nodes of its machine.
func (b *Board) SameMachine(i Index) []Index {
	if b.nodes[i].Machine == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.machines[b.nodes[i].Machine]), func(n Index) bool { return n == i })
}

// MachineResidents are the residents of a node's machine, its own first; not to be written to.
func (b *Board) MachineResidents(i Index) []Resident {
	all := b.residents[i]
	for _, n := range b.SameMachine(i) {
		all = append(slices.Clip(all), b.residents[n]...)
	}
	return all
}

// Tolerated is the least score among the residents, by column. The slice is the
// board's own, as of the next two.
func (b *Board) Tolerated(i Index) []float64 { return b.row(b.tolerated, i) }

// Caused is the sum of the residents' scores, by column, not capped.
func (b *Board) Caused(i Index) []float64 { return b.row(b.caused, i) }

// Headroom is what the node can still take, by column; see the package comment.
func (b *Board) Headroom(i Index) []float64 { return b.row(b.headroom, i) }

func (b *Board) row(all []float64, i Index) []float64 {
	k := len(b.Columns)
	return all[int(i)*k : (int(i)+1)*k : (int(i)+1)*k]
}

// SetReady makes a node take allocations, or none.
func (b *Board) SetReady(i Index, ready bool) {
	if b.ready[i] != ready {
		b.ready[i] = ready
		b.countFree(i)
		b.notify(i)
	}
}

// Place adds a resident. Room is the caller's to check: a world may be fuller
// than a policy would make it.
func (b *Board) Place(i Index, r Resident) {
	b.own(i)
	b.residents[i] = append(b.residents[i], r)
	b.used[i] = b.used[i].Add(r.Size)
	b.countFree(i)
	b.changed(i)
}

// changed: residents came or went.
func (b *Board) changed(i Index) {
	b.recompute(i)
	b.notify(i)
	for _, n := range b.SameMachine(i) {
		b.recompute(n)
		b.notify(n)
	}
}

// Remove takes a resident away.
func (b *Board) Remove(i Index, handle Handle) error {
	at := slices.IndexFunc(b.residents[i], func(r Resident) bool { return r.Handle == handle })
	if at < 0 {
		return fmt.Errorf("board: %d is not on node %s", handle, b.nodes[i].ID)
	}
	b.own(i)
	b.used[i] = b.used[i].Subtract(b.residents[i][at].Size)
	b.residents[i] = slices.Delete(b.residents[i], at, at+1)
	b.countFree(i)
	b.changed(i)
	return nil
}

// Resize changes what a resident holds.
func (b *Board) Resize(i Index, handle Handle, size cluster.Resources) error {
	at := slices.IndexFunc(b.residents[i], func(r Resident) bool { return r.Handle == handle })
	if at < 0 {
		return fmt.Errorf("board: %d is not on node %s", handle, b.nodes[i].ID)
	}
	b.own(i)
	r := &b.residents[i][at]
	b.used[i] = b.used[i].Subtract(r.Size).Add(size)
	r.Size = size
	b.countFree(i)
	b.notify(i)
	return nil
}

// SetSlowdown notes an estimate of a resident; one that is gone has none.
func (b *Board) SetSlowdown(i Index, handle Handle, slowdown float64) {
	b.own(i)
	for at := range b.residents[i] {
		if r := &b.residents[i][at]; r.Handle == handle {
			r.Slowdown = slowdown
			b.notify(i)
		}
	}
}

// Fits reports whether the node is ready and has room for the size.
func (b *Board) Fits(i Index, size cluster.Resources) bool {
	coreMHz := 0
	if size.Cores > 0 {
		coreMHz = b.nodes[i].CoreMHz
	}
	return cluster.Short(b.free[i], coreMHz, cluster.Resources{}, size) == ""
}

// nothing is less than any ask, even one for the change of a size.
const nothing = -1 << 40

// countFree brings what is free on a node up to date.
func (b *Board) countFree(i Index) {
	if !b.ready[i] {
		b.free[i] = cluster.Resources{CPUMHz: nothing, Cores: nothing, MemoryMB: nothing, DiskMB: nothing}
		return
	}
	n, used := &b.nodes[i], b.used[i]
	b.free[i] = n.Total.Subtract(used)
	b.free[i].CPUMHz = n.Total.CPUMHz - used.Megahertz(n.CoreMHz)
}

// Room is how many of that size fit at once, up to limit.
func (b *Board) Room(i Index, size cluster.Resources, limit int) int {
	if !b.ready[i] {
		return 0
	}
	used, n := b.used[i], 0
	for n < limit && b.nodes[i].HasRoom(used, size) {
		used = used.Add(size)
		n++
	}
	return n
}

// Load is the used share of a node's CPU, 0 to 1 and above where a world has
// overcommitted it.
func (b *Board) Load(i Index) float64 {
	total := b.nodes[i].Total.CPUMHz
	if total <= 0 {
		return 1
	}
	return float64(b.used[i].Megahertz(b.nodes[i].CoreMHz)) / float64(total)
}

// MemoryLoad is the used share of a node's memory.
func (b *Board) MemoryLoad(i Index) float64 {
	if b.nodes[i].Total.MemoryMB <= 0 {
		return 1
	}
	return float64(b.used[i].MemoryMB) / float64(b.nodes[i].Total.MemoryMB)
}

// FreeMHz is the unreserved CPU.
func (b *Board) FreeMHz(i Index) int {
	return b.nodes[i].Total.CPUMHz - b.used[i].Megahertz(b.nodes[i].CoreMHz)
}

func (b *Board) notify(i Index) {
	for _, l := range b.listeners {
		l.NodeChanged(i)
	}
}

// recompute derives the scores of a node from the residents of its machine.
func (b *Board) recompute(i Index) {
	press(b.MachineResidents(i), b.Tolerated(i), b.Caused(i), b.Headroom(i), b.nodes[i].Capability)
}

// press computes what the residents of a machine tolerate and cause together, and what it can
// still take; nil is a capability of 100.
func press(residents []Resident, tolerated, caused, headroom, capability []float64) {
	cluster.NoPressure(tolerated, caused)
	for r := range residents {
		cluster.AddPressure(tolerated, caused, residents[r].Tolerated, residents[r].Caused)
	}
	for k := range headroom {
		h := 100.0
		if capability != nil {
			h = capability[k]
		}
		for r := range residents {
			h = min(h, residents[r].Tolerated[k]-(caused[k]-residents[r].Caused[k]))
		}
		headroom[k] = max(0, h)
	}
}

// HasRoom reports whether the size fits next to what is used, whatever is on the node now.
func (n *Node) HasRoom(used, size cluster.Resources) bool {
	return cluster.Short(n.Total, n.CoreMHz, used, size) == ""
}
