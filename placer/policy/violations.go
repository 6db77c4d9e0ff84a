package policy

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// bestEffortWaits says why best-effort work is not placed now: on every node with room it
// would cause a QoS violation of a workload whose scores are known, and would have to
// leave again (Delimitrou 2015, §4.3.3: best effort uses what is left over). Empty for
// other work, and where some node has room without a violation.
func (v *candidateSet) bestEffortWaits() string {
	if v.Workload.Spec.Target.Kind != performance.BestEffort || len(v.candidates) == 0 {
		return ""
	}
	// Itself it tolerates everything.
	anything := slices.Repeat([]float64{fullPressurePercent}, len(v.caused))
	for i, o := range v.candidates {
		newcomer := v.newcomerOn(o)
		newcomer.Tolerated, newcomer.RequiredFraction = anything, nil
		known := slices.DeleteFunc(slices.Clone(v.residents(i)), func(r board.Resident) bool { return r.Assumed })
		if o.incumbent || Live().newViolations(v.Columns, known, newcomer) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("best effort waits: on %s with room, another workload would exceed its tolerance at target", wording.Count(len(v.candidates), "node"))
}

// newViolations counts the QoS violations that a newcomer would add, its own included, among
// residents that interfere with each other. Existing violations do not count; if one is
// unavoidable, nodes where none is added are preferred.
func (o Options) newViolations(columns []interference.Source, residents []board.Resident, newcomer board.Resident) int {
	together := append(slices.Clone(residents), newcomer)
	shared := timeShared(columns)
	before, after := o.coRunnersAmong(shared, residents), o.coRunnersAmong(shared, together)
	count := 0
	for i := range together {
		if after.violates(i) && (i == len(residents) || !before.violates(i)) {
			count++
		}
	}
	return count
}

// Violates reports whether one of the residents of a machine is predicted to experience
// more pressure from the others than it tolerates.
func Violates(columns []interference.Source, residents []board.Resident, i int) bool {
	return Live().coRunnersOf(columns, residents).violates(i)
}

// Violations are the QoS violations predicted on some machines: of how many allocations a
// bound breaks, and how many of those are expected to miss their target for it. The
// further a bound is exceeded, the more an allocation counts.
type Violations struct {
	Count  int
	Missed float64
}

// surePoints beyond its bound an allocation counts as one that misses its target, and
// fewer points in proportion (chosen by us). What a co-runner causes is predicted to 14
// points (placer/docs/classification.md), of two or three co-runners together to some 25:
// a small excess may be prediction error, a large one is not.
const surePoints = 40

// Less reports whether h is noticeably less than o, or as much with fewer allocations.
func (h Violations) Less(o Violations) bool {
	const step = relaxStepPoints / surePoints
	return h.Missed+step <= o.Missed || h.Missed <= o.Missed && h.Count < o.Count
}

// ViolationsOn are the violations on the machines of some nodes.
func ViolationsOn(s *cluster.Snapshot, nodes []cluster.NodeID, columns []interference.Source) Violations {
	var h Violations
	shared := timeShared(columns)
	for _, residents := range machinesOf(s, nodes, columns) {
		c := Live().coRunnersAmong(shared, residents)
		for i := range residents {
			if points := c.excess(i); points > epsilonPoints {
				h.Count++
				h.Missed += min(1, points/surePoints)
			}
		}
	}
	return h
}

// LossesOn are what the allocations on the machines of some nodes are expected to lose by each
// other, as the policy expected counts it: how many lose more than a QoS bound allows, and the
// sum of all losses.
func LossesOn(s *cluster.Snapshot, nodes []cluster.NodeID, columns []interference.Source) Violations {
	const bound = performance.DefaultSlowdownMaxPercent / 100
	var h Violations
	o := predict.NewOutlook(bound, predict.TraitsOf(columns, true))
	for n, residents := range machinesOf(s, nodes, columns) {
		o.Among(residents, len(columns), predict.Host{Cores: n.Total.Cores})
		for i := range residents {
			lost := o.LostAmong(i)
			h.Missed += lost
			if lost > bound {
				h.Count++
			}
		}
	}
	return h
}

// Objective is what arrangements of jobs are compared by, the less the better.
type Objective func(s *cluster.Snapshot, nodes []cluster.NodeID, columns []interference.Source) Violations

// ObjectiveOf jobs that are decided on together by some policies: what each of them counts by
// itself, where that is the same for all.
func ObjectiveOf(policies []string) Objective {
	if len(policies) == 0 || slices.ContainsFunc(policies, func(name string) bool { return name != expectedSelector.Name }) {
		return ViolationsOn
	}
	return LossesOn
}

// machinesOf are the allocations of each machine that has some of the nodes, with one of these.
func machinesOf(s *cluster.Snapshot, nodes []cluster.NodeID, columns []interference.Source) iter.Seq2[*cluster.Node, []board.Resident] {
	return func(yield func(*cluster.Node, []board.Resident) bool) {
		s := sortedSnapshot(s)
		table := cluster.NewPressureTable(s, columns)
		coRunners := board.NewCoRunners(s, table, cluster.WorkloadID{})
		seen := map[cluster.NodeID]bool{}
		for _, id := range slices.Sorted(slices.Values(nodes)) {
			at, ok := slices.BinarySearchFunc(s.Nodes, id, func(n *cluster.Node, id cluster.NodeID) int { return cmp.Compare(n.ID, id) })
			if !ok || seen[id] {
				continue
			}
			n := s.Nodes[at]
			for of := range table.Machine(n) {
				seen[of.ID] = true
			}
			if !yield(n, coRunners.On(n)) {
				return
			}
		}
	}
}
