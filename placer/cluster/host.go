package cluster

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Host is a node and its allocations, kept between decisions: most find it unchanged,
// since the newcomer is on none. Its lists are the snapshot's.
type Host struct {
	Node        *Node
	Allocations []Allocation
	Reserved    []Allocation
	Used        Resources // by all of them
	// Residents is room for what another package makes of them for its own use. It is
	// empty again as soon as anything of them is different.
	Residents any

	refusals map[string]RejectReason // of the node itself, by what is demanded of it
	scores   []interference.Sensitivity
	pressure pressure
	asIn     int64 // the table that looked at the scores last
}

// pressure is ServerPressure of the residents of one node.
type pressure struct {
	tolerated, caused []float64 // nil: not computed yet
}

// maxRefusals bounds what a host remembers of demands; most jobs have the same few.
const maxRefusals = 8

// Host is a node with its allocations: that of the cache, unless an allocation has come or
// left since.
func (s *Snapshot) Host(n *Node) *Host {
	allocations, reserved := s.Allocations[n.ID], s.Reserved[n.ID]
	if s.Cache != nil {
		if h := s.Cache.hosts[n.ID]; h != nil && h.Node == n && sameList(h.Allocations, allocations) && sameList(h.Reserved, reserved) {
			return h
		}
	}
	h := &Host{Node: n, Allocations: allocations, Reserved: reserved, Used: Used(allocations).Add(Used(reserved))}
	if s.Cache != nil {
		s.Cache.keep(h, len(s.Nodes))
	}
	return h
}

// keep a host, among not many more than there are nodes.
func (m *Cache) keep(h *Host, nodes int) {
	m.nodes = max(m.nodes, nodes)
	if m.hosts == nil || len(m.hosts) > 2*m.nodes {
		m.hosts = make(map[NodeID]*Host, m.nodes)
	}
	m.hosts[h.Node.ID] = h
}

// sameList reports whether two lists are the very same: a list that was handed out is
// never written to.
func sameList(a, b []Allocation) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Has reports whether the workload is on the host.
func (h *Host) Has(w WorkloadID) bool {
	is := func(a Allocation) bool { return a.Workload == w }
	return slices.ContainsFunc(h.Allocations, is) || slices.ContainsFunc(h.Reserved, is)
}

// UsedByOthers is what all but a workload hold.
func (h *Host) UsedByOthers(except WorkloadID) Resources {
	if !h.Has(except) {
		return h.Used
	}
	var sum Resources
	for _, list := range [2][]Allocation{h.Allocations, h.Reserved} {
		for i := range list {
			if list[i].Workload != except {
				sum = sum.Add(list[i].Resources)
			}
		}
	}
	return sum
}

// refusal of the node itself, asked once for the same demands.
func (h *Host) refusal(demands string, ask func(*Node) RejectReason) RejectReason {
	if r, ok := h.refusals[demands]; ok {
		return r
	}
	if h.refusals == nil || len(h.refusals) >= maxRefusals {
		h.refusals = make(map[string]RejectReason, 1)
	}
	r := ask(h.Node)
	h.refusals[demands] = r
	return r
}

// Host is the snapshot's, with the pressure of its allocations as their scores are now.
func (p *PressureTable) Host(n *Node) *Host {
	h := p.snapshot.Host(n)
	if h.asIn == p.number {
		return h
	}
	h.asIn = p.number
	if h.pressure.tolerated != nil && p.sameScores(h) {
		return h
	}
	h.Residents, h.scores = nil, h.scores[:0]
	for _, list := range [2][]Allocation{h.Allocations, h.Reserved} {
		for i := range list {
			h.scores = append(h.scores, p.snapshot.Known[list[i].Workload])
		}
	}
	h.pressure = pressure{tolerated: make([]float64, len(p.columns)), caused: make([]float64, len(p.columns))}
	NoPressure(h.pressure.tolerated, h.pressure.caused)
	p.fold(n, WorkloadID{}, h.pressure.tolerated, h.pressure.caused)
	return h
}

// sameScores reports whether a host's pressure was computed from the scores that its
// allocations have now.
func (p *PressureTable) sameScores(h *Host) bool {
	if len(h.pressure.tolerated) != len(p.columns) {
		return false
	}
	at := 0
	for _, list := range [2][]Allocation{h.Allocations, h.Reserved} {
		for i := range list {
			if !sameSensitivity(h.scores[at], p.snapshot.Known[list[i].Workload]) {
				return false
			}
			at++
		}
	}
	return true
}

// sameSensitivity reports whether two are the very same maps.
func sameSensitivity(a, b interference.Sensitivity) bool {
	return sameMaps(a, b) && sameMap(a.DemandFactor, b.DemandFactor) && a.RequiredFraction == b.RequiredFraction && a.LateShare == b.LateShare && a.RunMS == b.RunMS
}
