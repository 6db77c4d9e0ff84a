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
	var configurations []string
	seen := map[string]int{}
	for _, n := range s.Nodes {
		if _, ok := seen[n.Configuration]; !ok {
			seen[n.Configuration] = 0
			configurations = append(configurations, n.Configuration)
		}
	}
	slices.Sort(configurations)
	for i, c := range configurations {
		seen[c] = i
	}
	b := New(columns, configurations)
	b.grow(len(s.Nodes))
	machines := cluster.Machines(s.Nodes)
	number := make(map[string]int, len(machines))
	for i, name := range slices.Sorted(maps.Keys(machines)) {
		number[name] = i + 1
	}
	table := cluster.NewPressureTable(s, columns)
	for _, n := range s.Nodes {
		rated, _ := disk.Rated(n.Meta) // 0 where it is not known
		i := b.enter(Node{ID: n.ID, Configuration: seen[n.Configuration], Total: n.Total, CoreMHz: n.CoreMHz, Machine: number[n.Machine], DiskMBPerSec: rated})
		b.SetReady(i, n.Ready)
	}
	for u := range Numbering(s, except) {
		r := residentOf(s, s.Nodes[u.Node], u.Allocation, u.Handle, table)
		b.residents[u.Node], b.used[u.Node] = append(b.residents[u.Node], r), b.used[u.Node].Add(r.Size)
	}
	for i := range b.nodes { // once, not for each resident
		b.recompute(Index(i))
	}
	return b
}

// Numbered is an allocation of a snapshot, as the snapshot's board numbers it.
type Numbered struct {
	Handle     Handle
	Node       Index
	Allocation cluster.Allocation
}

// Numbering gives the allocations that FromSnapshot places, in its order and with its
// handles: what is kept by handle outside a board is keyed by these.
func Numbering(s *cluster.Snapshot, except cluster.WorkloadID) iter.Seq[Numbered] {
	return func(yield func(Numbered) bool) {
		handle := Handle(0)
		for i, n := range s.Nodes {
			for _, a := range s.Residents(n.ID, except) {
				if a.Profiling {
					continue
				}
				handle++
				if !yield(Numbered{handle, Index(i), a}) {
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
	h := x.table.Host(n)
	if !x.table.Unshared(n) || h.Has(x.except) {
		return x.onMachine(n)
	}
	out, ok := h.Residents.([]Resident)
	if !ok {
		out = slices.Clip(x.add(nil, n))
		h.Residents = out
	}
	return out
}

func (x *CoRunners) onMachine(n *cluster.Node) []Resident {
	var out []Resident
	for of := range x.table.Machine(n) {
		out = x.add(out, of)
	}
	return out
}

func (x *CoRunners) add(out []Resident, n *cluster.Node) []Resident {
	for _, a := range x.snapshot.Residents(n.ID, x.except) {
		if !a.Profiling {
			out = append(out, residentOf(x.snapshot, n, a, 0, x.table))
		}
	}
	return out
}

func residentOf(s *cluster.Snapshot, n *cluster.Node, a cluster.Allocation, handle Handle, table *cluster.PressureTable) Resident {
	scores, assumed := table.ScoresOn(n, &a)
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
