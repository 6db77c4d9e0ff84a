package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// labChoice is where to profile a workload and against what.
type labChoice struct {
	main     *cluster.Node // beside kernels; nil: every usable node is busy
	other    *cluster.Node // alone, another configuration; nil: there is none
	sources  []interference.Source
	warnings []string
	err      error // profiling is impossible, not merely busy
}

func (c labChoice) nodes() []*cluster.Node {
	var out []*cluster.Node
	for _, n := range [2]*cluster.Node{c.main, c.other} {
		if n != nil {
			out = append(out, n)
		}
	}
	return out
}

// chooseLab prefers nodes without residents, whose performance nobody depends
// on, then the fastest configuration (Delimitrou 2015, §3.3.2 profiles on the
// high end, so that the machine's limits do not look like the workload's). The
// caller holds e.mu.
func (e *Engine) chooseLab(s *cluster.Snapshot, job cluster.Job, w cluster.Workload) labChoice {
	if e.labs >= e.cfg.Concurrency {
		return labChoice{}
	}
	one := w
	one.Count = 1
	fit, _, counts := cluster.Feasible(s, &one, job.RunPool)
	withKernels := slices.DeleteFunc(slices.Clone(fit), func(n *cluster.Node) bool { return !n.Kernels })
	if len(fit) > 0 && len(withKernels) == 0 {
		return labChoice{err: cluster.ErrNoKernels}
	}
	if len(fit) == 0 {
		if len(s.Nodes) > 0 && !anyRoomLater(counts) {
			return labChoice{err: fmt.Errorf("no node can run a copy of it to profile: %s", countsText(counts))}
		}
		return labChoice{}
	}
	free := slices.DeleteFunc(withKernels, func(n *cluster.Node) bool { return e.busy[n.ID] })
	if len(free) == 0 {
		return labChoice{}
	}
	rank := e.configurationRank()
	slices.SortStableFunc(free, func(a, b *cluster.Node) int {
		return cmp.Or(
			cmp.Compare(residents(s, a, w), residents(s, b, w)),
			-cmp.Compare(rank[a.Configuration], rank[b.Configuration]),
			-cmp.Compare(a.CoreMHz, b.CoreMHz),
			cmp.Compare(a.ID, b.ID),
		)
	})
	c := labChoice{main: free[0], sources: e.chooseSources(free[0], job, w)}
	if n := residents(s, c.main, w); n > 0 {
		c.warnings = append(c.warnings, fmt.Sprintf(
			"profiled on %s beside %d running allocation(s): no empty node was free, so its scores include their pressure", c.main.Name, n))
	}
	c.other = e.second(s, w, c.main, free[1:])
	return c
}

// second is the node for a run alone on another configuration: of those with as
// few residents as possible, one of the configuration that tells most of the
// others. Nil where there is no other.
func (e *Engine) second(s *cluster.Snapshot, w cluster.Workload, first *cluster.Node, free []*cluster.Node) *cluster.Node {
	var able []*cluster.Node
	for _, n := range free {
		if n.Configuration != first.Configuration && (len(able) == 0 || residents(s, n, w) == residents(s, able[0], w)) {
			able = append(able, n)
		}
	}
	if len(able) == 0 {
		return nil
	}
	wanted := e.tellingConfiguration(first.Configuration, configurationsOf(&cluster.Snapshot{Nodes: able}))
	if i := slices.IndexFunc(able, func(n *cluster.Node) bool { return n.Configuration == wanted }); i >= 0 {
		return able[i]
	}
	return able[0]
}

// residents counts the allocations on a node whose performance somebody may
// depend on and that could be elsewhere.
func residents(s *cluster.Snapshot, n *cluster.Node, w cluster.Workload) int {
	count := 0
	for _, a := range s.Residents(n.ID, w.ID) {
		if !a.System && !a.Profiling {
			count++
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

// supports reads the driver's fingerprint; a node that says nothing of a
// source may be asked.
func supports(n *cluster.Node, s interference.Source) bool {
	v, ok := n.Attributes["driver.ibench.soi."+string(s)]
	return !ok || v != "unsupported"
}
