package board

import (
	"iter"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// FromSnapshot builds the board of a snapshot as the workload except sees it:
// its own allocations and profiling copies are left out. Nodes keep their order.
// An unknown score of a resident is assumed as cluster.ServerPressure does.
func FromSnapshot(s *cluster.Snapshot, columns []interference.Source, except cluster.WorkloadID) *Board {
	return Renew(nil, s, columns, except)
}

// Renew is FromSnapshot in the storage of an earlier board, which nobody uses any more: of the
// same nodes only those are written that have other residents by now, or had on that board.
// nil: there is none.
func Renew(earlier *Board, s *cluster.Snapshot, columns []interference.Source, except cluster.WorkloadID) *Board {
	b := earlier
	if b == nil || !slices.Equal(b.Columns, columns) {
		b = New(columns, nil)
	}
	if !slices.Equal(b.of, s.Nodes) {
		b.enterAll(s.Nodes)
	}
	b.listeners = nil
	from := NewCoRunners(s, cluster.NewPressureTable(s, columns), except)
	for at, n := range s.Nodes {
		i := Index(at)
		b.ready[i] = n.Ready
		if o := from.occupancy(n); o != b.shared[i] {
			b.fill(i, o, b.nodes[i].Machine == 0)
		}
		b.countFree(i)
	}
	for _, of := range b.machines { // once all are there
		for _, i := range of {
			b.recompute(i)
		}
	}
	return b
}

// enterAll has the board be of these nodes, of which nothing is said yet.
func (b *Board) enterAll(nodes []*cluster.Node) {
	b.empty()
	var configurations []string
	seen := map[string]int{}
	for _, n := range nodes {
		if _, ok := seen[n.Configuration]; !ok {
			seen[n.Configuration] = 0
			configurations = append(configurations, n.Configuration)
		}
	}
	slices.Sort(configurations)
	for i, c := range configurations {
		seen[c] = i
	}
	b.Configurations = configurations
	b.grow(len(nodes))
	b.of = append(b.of, nodes...)
	machines := cluster.Machines(nodes)
	number := make(map[string]int, len(machines))
	for i, name := range slices.Sorted(maps.Keys(machines)) {
		number[name] = i + 1
	}
	for _, n := range nodes {
		rated, _ := disk.Rated(n.Meta) // 0 where it is not known
		b.enter(Node{ID: n.ID, Configuration: seen[n.Configuration], Total: n.Total, CoreMHz: n.CoreMHz, Machine: number[n.Machine], DiskMBPerSec: rated})
	}
}

// empty takes all nodes off the board, and keeps their storage.
func (b *Board) empty() {
	clear(b.residents) // what they point to is not kept
	clear(b.shared)
	clear(b.of)
	b.nodes, b.of, b.ready, b.residents, b.shared = b.nodes[:0], b.of[:0], b.ready[:0], b.residents[:0], b.shared[:0]
	b.used, b.free = b.used[:0], b.free[:0]
	b.tolerated, b.caused, b.headroom = b.tolerated[:0], b.caused[:0], b.headroom[:0]
	b.machines = map[int][]Index{}
}

// occupancy is what is on a node, and what a board says of it. A host keeps it until any of
// it is different, so it is not written to.
type occupancy struct {
	residents                   []Resident
	promised                    bool // to some resident, of the node's disk
	used                        cluster.Resources
	tolerated, caused, headroom []float64
	memo                        any
}

// fill a node that was entered. kept: the board may say of it what its host keeps.
func (b *Board) fill(i Index, o *occupancy, kept bool) {
	b.residents[i], b.used[i] = o.residents, o.used
	b.shared[i] = o
	if kept {
		copy(b.Tolerated(i), o.tolerated)
		copy(b.Caused(i), o.caused)
		copy(b.Headroom(i), o.headroom)
	}
}

// own has a node's residents written to.
func (b *Board) own(i Index) {
	if b.shared[i] != nil {
		b.shared[i], b.residents[i] = nil, slices.Clone(b.residents[i])
	}
}

// Memo is room for what a policy makes of a node and its residents: it is there again on the
// board of the next snapshot, unless anything of them is different by then. nil: nothing is
// kept of this node.
func (b *Board) Memo(i Index) *any {
	if o := b.shared[i]; o != nil && b.nodes[i].Machine == 0 {
		return &o.memo
	}
	return nil
}

// Allocations of a snapshot that are residents of a node on its board, by handle.
func (b *Board) Allocations(s *cluster.Snapshot, i Index, except cluster.WorkloadID) iter.Seq2[Handle, *cluster.Allocation] {
	return func(yield func(Handle, *cluster.Allocation) bool) {
		at := 0
		for a := range counted(s, s.Nodes[i], except) {
			if !yield(b.residents[i][at].Handle, a) {
				return
			}
			at++
		}
	}
}

// counted are the allocations on a node that are co-runners of a workload.
func counted(s *cluster.Snapshot, n *cluster.Node, except cluster.WorkloadID) iter.Seq[*cluster.Allocation] {
	return func(yield func(*cluster.Allocation) bool) {
		for _, list := range [2][]cluster.Allocation{s.Allocations[n.ID], s.Reserved[n.ID]} {
			for i := range list {
				if a := &list[i]; a.Workload != except && !a.Profiling && !yield(a) {
					return
				}
			}
		}
	}
}

// CoRunners are the residents of a snapshot's machines as a workload sees them: as
// MachineResidents has them on the board of the snapshot, without the board.
type CoRunners struct {
	snapshot *cluster.Snapshot
	except   cluster.WorkloadID
	table    *cluster.PressureTable
}

// NewCoRunners reads the scores from the snapshot's table and leaves out the workload
// except.
func NewCoRunners(s *cluster.Snapshot, table *cluster.PressureTable, except cluster.WorkloadID) *CoRunners {
	return &CoRunners{snapshot: s, except: except, table: table}
}

// On are those on a node, and then those on others of its machine. The list is not to be
// written to.
func (x *CoRunners) On(n *cluster.Node) []Resident {
	if x.table.Unshared(n) {
		return x.occupancy(n).residents
	}
	var out []Resident
	for of := range x.table.Machine(n) {
		out = append(out, x.occupancy(of).residents...)
	}
	return out
}

// occupancy of a node: that which its host keeps, unless the workload itself is on it.
func (x *CoRunners) occupancy(n *cluster.Node) *occupancy {
	h := x.table.Host(n)
	if h.Has(x.except) {
		return x.look(n)
	}
	if o, ok := h.Residents.(*occupancy); ok && x.samePromises(o, n) {
		return o
	}
	o := x.look(n)
	h.Residents = o
	return o
}

// look at what is on a node.
func (x *CoRunners) look(n *cluster.Node) *occupancy {
	columns := x.table.Columns()
	scores := make([]float64, 3*columns)
	o := &occupancy{tolerated: scores[:columns:columns], caused: scores[columns : 2*columns : 2*columns], headroom: scores[2*columns:]}
	o.residents = make([]Resident, 0, len(x.snapshot.Allocations[n.ID])+len(x.snapshot.Reserved[n.ID])) // what it grows by would be kept
	for a := range counted(x.snapshot, n, x.except) {
		r := residentOf(x.snapshot, n, a, Handle(x.table.NextNumber()), x.table)
		o.residents, o.used = append(o.residents, r), o.used.Add(r.Size)
		o.promised = o.promised || r.Disk != nil
	}
	o.residents = slices.Clip(o.residents)
	press(o.residents, o.tolerated, o.caused, o.headroom, nil)
	return o
}

// samePromises reports whether the residents of a node are promised what they were.
func (x *CoRunners) samePromises(o *occupancy, n *cluster.Node) bool {
	if len(x.snapshot.Disk) == 0 && !o.promised {
		return true
	}
	at := 0
	for a := range counted(x.snapshot, n, x.except) {
		now, promised := x.snapshot.Disk[a.Workload]
		if before := o.residents[at].Disk; promised != (before != nil) || promised && now != *before {
			return false
		}
		at++
	}
	return true
}

func residentOf(s *cluster.Snapshot, n *cluster.Node, a *cluster.Allocation, handle Handle, table *cluster.PressureTable) Resident {
	scores, assumed := table.ScoresOn(n, a)
	known := s.Known[a.Workload]
	var promise *performance.DiskSpec
	if p, ok := s.Disk[a.Workload]; ok {
		promise = &p
	}
	return Resident{
		Handle: handle, Size: a.Resources, Tolerated: scores.Tolerated, Caused: scores.Caused, Assumed: assumed, Disk: promise,
		Node: n.ID, DemandFactor: known.DemandFactor[n.Configuration], RunMS: known.RunMS, RequiredFraction: known.RequiredFraction, LateShare: known.LateShare,
	}
}
