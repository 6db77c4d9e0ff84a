package lotes

import (
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// resources of a plan: cpu, memory, disk. Reserved cores count as their share of
// the cpu at the mean clock; whether a job fits a machine is asked of the board.
const resources = 3

// Model is the job classes, as they are known or were learnt.
type Model struct {
	Classes []ModelClass
	// Declared: asks say their class; else it is the one whose mean size is nearest.
	Declared bool
}

// ModelClass is one class.
type ModelClass struct {
	Share float64 // of the arrivals
	Size  Size
	// Rate of one job by configuration of the board, in any one unit of time; nil is
	// 1 everywhere.
	Rate []float64
}

// Size is a mean size.
type Size struct{ CPUMHz, MemoryMB, DiskMB float64 }

// kind is a group of nodes that a plan takes for alike.
type kind struct {
	configuration int
	nodes         []board.Index
	capacity      [resources]float64 // of its smallest node
	rooms         *Rooms
	ready         int
}

// Nodes of one configuration whose cpu and memory differ by less than a cell are one
// kind; cells grow until there are few kinds (chosen by us).
const (
	cellShare = 0.05
	kindsMost = 64
)

type kindKey struct{ configuration, cpu, memory int }

// kinds groups the nodes of a board, in the order of their first node.
func kinds(b *board.Board) []*kind {
	for cell := cellShare; ; cell *= 2 {
		if out := kindsBy(b, cell); len(out) <= max(kindsMost, len(b.Configurations)) {
			return out
		}
	}
}

func kindsBy(b *board.Board, cell float64) []*kind {
	var out []*kind
	index := map[kindKey]*kind{}
	for i := range b.Len() {
		n := b.Node(board.Index(i))
		key := kindKey{n.Configuration, cellOf(n.Total.CPUMHz, cell), cellOf(n.Total.MemoryMB, cell)}
		k := index[key]
		if k == nil {
			k = &kind{configuration: n.Configuration, capacity: [resources]float64{math.Inf(1), math.Inf(1), math.Inf(1)}}
			index[key] = k
			out = append(out, k)
		}
		k.nodes = append(k.nodes, board.Index(i))
		for l, v := range [resources]int{n.Total.CPUMHz, n.Total.MemoryMB, n.Total.DiskMB} {
			k.capacity[l] = min(k.capacity[l], float64(v))
		}
	}
	return out
}

func cellOf(v int, cell float64) int {
	if v <= 0 {
		return math.MinInt32
	}
	return int(math.Round(math.Log(float64(v)) / math.Log1p(cell)))
}

// sizeOf is a size in the resources of a plan.
func (m *Mix) sizeOf(r cluster.Resources) Size {
	return Size{float64(r.CPUMHz) + float64(r.Cores)*m.clock, float64(r.MemoryMB), float64(r.DiskMB)}
}

// vector of a size; a job that needs nothing still counts.
func (s Size) vector() []float64 { return []float64{max(1, s.CPUMHz), s.MemoryMB, s.DiskMB} }

// program of a model on the nodes that are ready.
func (m *Mix) program(model *Model) Program {
	var p Program
	for _, k := range m.kinds {
		p.Configurations = append(p.Configurations, Configuration{Name: m.board.Configurations[k.configuration], Machines: k.ready, Capacity: slices.Clone(k.capacity[:])})
	}
	for i, c := range model.Classes {
		class := Class{Name: fmt.Sprint(i + 1), Share: c.Share, Need: c.Size.vector()}
		for _, k := range m.kinds {
			rate := 1.0
			if c.Rate != nil {
				rate = c.Rate[k.configuration]
			}
			class.Rate = append(class.Rate, rate)
		}
		p.Classes = append(p.Classes, class)
	}
	return p
}

// classOf a job.
func (m *Mix) classOf(size cluster.Resources, declared int) int {
	return m.nearest(&m.model, m.sizeOf(size), declared)
}

// nearest class of a model: the one declared, or that of the nearest mean size.
func (m *Mix) nearest(model *Model, own Size, declared int) int {
	if model.Declared && declared >= 1 && declared <= len(model.Classes) {
		return declared - 1
	}
	best, least := 0, math.Inf(1)
	for k := range model.Classes {
		c := &model.Classes[k].Size
		dc, dm := (own.CPUMHz-c.CPUMHz)/m.unit.CPUMHz, (own.MemoryMB-c.MemoryMB)/m.unit.MemoryMB
		if d := dc*dc + dm*dm; d < least {
			best, least = k, d
		}
	}
	return best
}
