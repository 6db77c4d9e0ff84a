package profiling

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// nodeChoice is where to profile a workload and against what.
type nodeChoice struct {
	main     *cluster.Node // next to kernels; nil: every usable node is busy
	other    *cluster.Node // in isolation, another configuration; nil: there is none
	sized    *cluster.Node // in isolation, at another size; nil: not wanted, or no room
	size     cluster.Resources
	sources  []interference.Source
	warnings []string
	err      error // profiling is impossible, not merely busy
}

func (c nodeChoice) nodes() []*cluster.Node {
	var out []*cluster.Node
	for _, n := range [3]*cluster.Node{c.main, c.other, c.sized} {
		if n != nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// wantedRuns is what is to be measured of a workload, and where.
type wantedRuns struct {
	missing
	where string                    // the only configuration; empty: any
	under map[string]cluster.NodeID // runs that exist, by id: a leader before this one began them
}

// isUnder reports whether a run of that id is on the node already. Its result is of that
// node, so it is adopted there or not at all.
func (w wantedRuns) isUnder(id string, n *cluster.Node) bool { return w.under[id] == n.ID }

// rankStep is what configurations must differ by to be faster or slower (chosen by us):
// services under a given load do as much on all of them, but for noise.
const rankStep = 0.1

// chooseNodes finds nodes for the runs that are missing; where restricts them to one
// configuration. It prefers nodes without residents, which profiling would slow down,
// then the fastest configuration (Delimitrou 2015, §3.3.2 profiles on the high end, so
// that the machine's limits do not look like the workload's). Before all that it prefers
// those where a leader before this one has begun the run. The caller holds l.mu.
func (l *Lab) chooseNodes(s *cluster.Snapshot, job cluster.Job, w cluster.Workload, what wantedRuns) nodeChoice {
	s = withoutRuns(s, w, what.under)
	one := sizedCopy(w, l.profiledSize(w))
	fit, _, counts := cluster.Feasible(s, &one, job.RunPool)
	withKernels := slices.DeleteFunc(slices.Clone(fit), func(n *cluster.Node) bool { return !n.Kernels })
	if len(fit) > 0 && len(withKernels) == 0 {
		return nodeChoice{err: cluster.ErrNoKernels}
	}
	withKernels, err := probeable(w, withKernels)
	if err != nil {
		return nodeChoice{err: err}
	}
	if what.where != "" {
		withKernels = slices.DeleteFunc(withKernels, func(n *cluster.Node) bool { return n.Configuration != what.where })
		if len(withKernels) == 0 {
			return nodeChoice{err: fmt.Errorf("no node of configuration %s, where it was profiled, has room now", what.where)}
		}
	}
	if len(fit) == 0 {
		if len(s.Nodes) > 0 && !anyRoomLater(counts) {
			return nodeChoice{err: fmt.Errorf("no node can run a copy of it to profile: %s", countsText(counts))}
		}
		return nodeChoice{}
	}
	free := slices.DeleteFunc(withKernels, func(n *cluster.Node) bool {
		return slices.ContainsFunc(s.Machine(n), func(of *cluster.Node) bool { return l.busy[of.ID] })
	})
	if len(free) == 0 {
		return nodeChoice{}
	}
	rank, sizes := l.estimator.by(w.ID.Namespace).rank, l.roomForSizes(s, job, w, what.missing)
	begun := func(n *cluster.Node) int {
		if what.isUnder(mainID(w), n) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(free, func(a, b *cluster.Node) int {
		return cmp.Or(
			cmp.Compare(begun(a), begun(b)),
			cmp.Compare(residents(s, a, w), residents(s, b, w)),
			cmp.Compare(sizes[a.ID], sizes[b.ID]),
			-cmp.Compare(math.Round(rank[a.Configuration]/rankStep), math.Round(rank[b.Configuration]/rankStep)),
			-cmp.Compare(a.CoreMHz, b.CoreMHz),
			-cmp.Compare(a.Total.CPUMHz, b.Total.CPUMHz),
			cmp.Compare(a.ID, b.ID),
		)
	})
	if !what.base {
		c := nodeChoice{}
		if l.secondSize(&c, s, job, w, what, free[0], free); c.sized == nil {
			c.err = errors.New(c.warnings[0])
		}
		return c
	}
	c := nodeChoice{main: free[0], sources: l.estimator.chooseSources(free[0], job, w)}
	if n := residents(s, c.main, w); n > 0 {
		c.warnings = append(c.warnings, fmt.Sprintf(
			"profiled on %s next to %d running allocation(s): no empty node was free, so its scores include their pressure", c.main.Name, n))
	}
	c.other = l.second(s, w, what, c.main, free[1:])
	if what.size {
		l.secondSize(&c, s, job, w, what, c.main, free)
	}
	return c
}

// roomForSizes is, by node, the place in the order of otherSizes of the best size that it
// has room for; lower is better.
func (l *Lab) roomForSizes(s *cluster.Snapshot, job cluster.Job, w cluster.Workload, m missing) map[cluster.NodeID]int {
	out := map[cluster.NodeID]int{}
	if !m.size {
		return out
	}
	wanted := l.otherSizes(w)
	for _, n := range s.Nodes {
		out[n.ID] = len(wanted)
	}
	for i, size := range slices.Backward(wanted) {
		copied := profiledCopy(w, size)
		fit, _, _ := cluster.Feasible(s.WithoutLastCore(), &copied, job.RunPool)
		for _, n := range fit {
			out[n.ID] = i
		}
	}
	return out
}

// secondSize finds the other size to measure and a node for it: one like the first,
// with as few residents, so that both run side by side; else the first itself,
// after its own run.
func (l *Lab) secondSize(c *nodeChoice, s *cluster.Snapshot, job cluster.Job, w cluster.Workload, what wantedRuns, first *cluster.Node, free []*cluster.Node) {
	for _, size := range l.otherSizes(w) {
		copied := profiledCopy(w, size)
		fit, _, _ := cluster.Feasible(s.WithoutLastCore(), &copied, job.RunPool)
		hasRoom := func(n *cluster.Node) bool {
			return slices.ContainsFunc(fit, func(f *cluster.Node) bool { return f.ID == n.ID })
		}
		able := slices.DeleteFunc(slices.Clone(free), func(n *cluster.Node) bool {
			return n.Configuration != first.Configuration || n == c.other || !hasRoom(n) || residents(s, n, w) > residents(s, first, w)
		})
		i := slices.IndexFunc(able, func(n *cluster.Node) bool { return what.isUnder(isolatedID(w, n), n) })
		if i < 0 {
			i = slices.IndexFunc(able, func(n *cluster.Node) bool { return n != c.main })
		}
		if len(able) > 0 {
			c.sized, c.size = able[max(i, 0)], size
			return
		}
	}
	c.warnings = append(c.warnings, "no node like "+first.Name+" had room to run it at another size of its scale block, so it is not measured how its speed grows with its size")
}

// second is the node for a run in isolation on another configuration: of those with as few
// residents as possible, one of the configuration that tells most of the others. Nil where
// there is no other.
func (l *Lab) second(s *cluster.Snapshot, w cluster.Workload, what wantedRuns, first *cluster.Node, free []*cluster.Node) *cluster.Node {
	if i := slices.IndexFunc(free, func(n *cluster.Node) bool {
		return n.Configuration != first.Configuration && what.isUnder(isolatedID(w, n), n)
	}); i >= 0 {
		return free[i]
	}
	var able []*cluster.Node
	for _, n := range free {
		if n.Configuration != first.Configuration && (len(able) == 0 || residents(s, n, w) == residents(s, able[0], w)) {
			able = append(able, n)
		}
	}
	if len(able) == 0 {
		return nil
	}
	// On the same machine it would have to wait for the first run's end.
	if elsewhere := slices.DeleteFunc(slices.Clone(able), func(n *cluster.Node) bool { return n.SharesMachine(first) }); len(elsewhere) > 0 {
		able = elsewhere
	}
	wanted := l.estimator.by(w.ID.Namespace).informativeConfiguration(first.Configuration, configurationsOf(&cluster.Snapshot{Nodes: able}))
	if i := slices.IndexFunc(able, func(n *cluster.Node) bool { return n.Configuration == wanted }); i >= 0 {
		return able[i]
	}
	return able[0]
}

// withoutRuns is the snapshot without profiling runs on the nodes where runs of the workload
// are: it needs no room for what is there.
func withoutRuns(s *cluster.Snapshot, w cluster.Workload, under map[string]cluster.NodeID) *cluster.Snapshot {
	out := s
	for _, n := range s.Nodes {
		if under[mainID(w)] != n.ID && under[isolatedID(w, n)] != n.ID {
			continue
		}
		if out == s {
			next := *s
			next.Allocations, next.Cache = maps.Clone(s.Allocations), nil
			out = &next
		}
		out.Allocations[n.ID] = slices.DeleteFunc(slices.Clone(s.Allocations[n.ID]), func(a cluster.Allocation) bool { return a.Profiling })
	}
	return out
}

// residents counts the allocations on a node's machine, without system jobs, which are on
// every node, and copies under profile.
func residents(s *cluster.Snapshot, n *cluster.Node, w cluster.Workload) int {
	count := 0
	for _, of := range s.Machine(n) {
		for _, a := range s.Residents(of.ID, w.ID) {
			if !a.System && !a.Profiling {
				count++
			}
		}
	}
	return count
}

// anyRoomLater reports that some node was only full or not ready, which time
// may mend.
func anyRoomLater(counts map[cluster.RejectReason]int) bool {
	for _, r := range []cluster.RejectReason{
		cluster.RejectNotReady, cluster.RejectCPU, cluster.RejectCores, cluster.RejectMemory, cluster.RejectDisk,
	} {
		if counts[r] > 0 {
			return true
		}
	}
	return false
}

func countsText(counts map[cluster.RejectReason]int) string {
	reasons := make([]cluster.RejectReason, 0, len(counts))
	for r := range counts {
		reasons = append(reasons, r)
	}
	slices.Sort(reasons)
	text := ""
	for i, r := range reasons {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", counts[r], r)
	}
	return text
}

// probeable are the nodes on which the workload's probe can be read, as far as their drivers
// say. Where there are none, best effort is profiled all the same: no target needs its speed.
func probeable(w cluster.Workload, nodes []*cluster.Node) ([]*cluster.Node, error) {
	if w.Spec.Probe == nil {
		return nodes, nil
	}
	why, attribute := "", "driver.ibench.probe."+w.Spec.Probe.Type
	able := slices.DeleteFunc(slices.Clone(nodes), func(n *cluster.Node) bool {
		if n.Attributes.Text(attribute) != unsupported {
			return false
		}
		why = n.Attributes.Text(attribute + ".reason")
		return true
	})
	switch {
	case len(able) > 0 || len(nodes) == 0:
		return able, nil
	case w.Spec.Target.Kind == performance.BestEffort:
		return nodes, nil
	}
	return nil, fmt.Errorf("its probe %q can be read on no node that has room: %s", w.Spec.Probe.Type, why)
}

// unsupported is the driver's word for what it cannot do on a node.
const unsupported = "unsupported"

// supports reads the driver's fingerprint; a node that says nothing of a
// source may be asked.
func supports(n *cluster.Node, s interference.Source) bool {
	v, ok := n.Attributes.Of("driver.ibench.soi." + string(s))
	return !ok || v != unsupported
}

// sizedCopy is the workload as one copy of that size.
func sizedCopy(w cluster.Workload, size cluster.Resources) cluster.Workload {
	w.Count = 1
	if size == (cluster.Resources{}) {
		return w
	}
	own := w.Sizable.Own
	if size.Cores > 0 {
		own.Cores, own.CPUMHz = size.Cores, 0
	}
	own.MemoryMB = cmp.Or(size.MemoryMB, own.MemoryMB)
	w.Ask = w.Sizable.Group(own)
	return w
}

// profiledCopy is a copy of that size together with the profiler, for which a size of all
// cores of a node leaves no room.
func profiledCopy(w cluster.Workload, size cluster.Resources) cluster.Workload {
	w = sizedCopy(w, size)
	w.Ask = w.Ask.Add(cluster.Resources{CPUMHz: cluster.ProfilerCPUMHz, MemoryMB: cluster.ProfilerMemoryMB})
	return w
}
