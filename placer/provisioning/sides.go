package provisioning

import (
	"cmp"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
)

const (
	attributeClass = "${node.class}"
	attributeNode  = "${node.unique.id}"
)

// sides tells owned nodes from rented ones.
type sides struct {
	classes  map[string]bool      // of rented types
	base     []cluster.Constraint // that owned nodes meet
	compiled []cluster.CompiledConstraint
}

func newSides(types []tracker.Type, reserved *cluster.Constraint) sides {
	out := sides{classes: map[string]bool{}}
	for _, t := range types {
		out.classes[t.NodeClass] = true
		out.base = append(out.base, cluster.Constraint{Attribute: attributeClass, Operator: "!=", Value: t.NodeClass})
	}
	if reserved != nil {
		out.base = append(out.base, *reserved)
	}
	for _, c := range out.base {
		if compiled, err := cluster.CompileConstraint(c); err == nil { // they compare texts: always
			out.compiled = append(out.compiled, compiled)
		}
	}
	return out
}

func (d sides) owned(n *cluster.Node) bool {
	return !slices.ContainsFunc(d.compiled, func(c cluster.CompiledConstraint) bool { return !c.Match(n) })
}

// ofClass are the constraints that keep a group on one rented type.
func ofClass(class string) []cluster.Constraint {
	return []cluster.Constraint{{Attribute: attributeClass, Operator: "=", Value: class}}
}

// onNode are the constraints that keep a group on one node.
func onNode(id cluster.NodeID) []cluster.Constraint {
	return []cluster.Constraint{{Attribute: attributeNode, Operator: "=", Value: string(id)}}
}

// rentedIn are the nodes of rented types, with who is there or is to come. What runs on every node
// whatever is decided, and what the placer itself runs there, keeps no node.
func (d sides) rentedIn(s *cluster.Snapshot) []tracker.Node {
	var out []tracker.Node
	for _, n := range s.Nodes {
		if !d.classes[n.Class] {
			continue
		}
		one := tracker.Node{ID: n.ID, Name: n.Name, Class: n.Class, Ready: n.Ready}
		for _, list := range [2][]cluster.Allocation{s.Allocations[n.ID], s.Reserved[n.ID]} {
			for _, a := range list {
				if !a.System && !a.Profiling && !slices.Contains(one.Jobs, a.Workload) {
					one.Jobs = append(one.Jobs, a.Workload)
				}
			}
		}
		out = append(out, one)
	}
	return out
}

// useOf the owned nodes that are ready.
func (d sides) useOf(s *cluster.Snapshot) provision.Use {
	var sum provision.Use
	for _, n := range s.Nodes {
		if !n.Ready || !d.owned(n) {
			continue
		}
		used := s.Host(n).Used
		sum = sum.Add(provision.Use{UsedMHz: used.Megahertz(n.CoreMHz), TotalMHz: n.Total.CPUMHz, UsedMB: used.MemoryMB, TotalMB: n.Total.MemoryMB})
	}
	return sum
}

// with is a workload that also asks for these.
func with(w cluster.Workload, constraints []cluster.Constraint) cluster.Workload {
	w.Constraints = slices.Concat(w.Constraints, constraints)
	return w
}

// feasible reports whether some node may run an allocation of a workload.
func feasible(s *cluster.Snapshot, w cluster.Workload, runPool string) bool {
	fit, _, _ := cluster.Feasible(s, &w, runPool)
	return len(fit) > 0
}

// baseFor is what the owned nodes have for a workload.
func (d sides) baseFor(s *cluster.Snapshot, w cluster.Workload, runPool string) tracker.Base {
	there := with(w, d.base)
	if feasible(s, there, runPool) {
		return tracker.Base{Fits: true, Holds: true}
	}
	return tracker.Base{Holds: feasible(&cluster.Snapshot{Nodes: s.Nodes}, there, runPool)}
}

// roomOn reports whether a node may run all allocations of a workload, next to what is there and to
// what is kept for others.
func roomOn(s *cluster.Snapshot, w cluster.Workload, runPool string, id cluster.NodeID, kept provision.Size) bool {
	i, found := slices.BinarySearchFunc(s.Nodes, id, func(n *cluster.Node, id cluster.NodeID) int { return cmp.Compare(n.ID, id) })
	if !found {
		return false
	}
	n, alone := s.Nodes[i], *s
	alone.Nodes = []*cluster.Node{n}
	used := s.Host(n).UsedByOthers(w.ID).Add(cluster.Resources{CPUMHz: kept.Cores * megahertzPerCore(s), MemoryMB: kept.MemoryMB})
	return feasible(&alone, w, runPool) && cluster.Room(n, used, w.Ask, w.Count) == w.Count
}

// usualMegahertz of a core, where no node says how fast its cores are.
const usualMegahertz = 2500

// megahertzPerCore is the mean of all nodes: what a rented core will have is not known before there
// is one.
func megahertzPerCore(s *cluster.Snapshot) int {
	sum := 0
	for _, n := range s.Nodes {
		sum += n.CoreMHz
	}
	if sum < max(1, len(s.Nodes)) {
		return usualMegahertz
	}
	return sum / len(s.Nodes)
}

// sizeOf is what all allocations of a workload need.
func sizeOf(s *cluster.Snapshot, w cluster.Workload) provision.Size {
	perCore := megahertzPerCore(s)
	need := w.Count * w.Ask.Megahertz(perCore)
	return provision.Size{Cores: (need + perCore - 1) / perCore, MemoryMB: w.Count * w.Ask.MemoryMB}
}
