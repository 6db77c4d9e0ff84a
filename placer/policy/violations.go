package policy

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
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
	table := cluster.NewPressureTable(s, columns)
	coRunners := board.NewCoRunners(s, table, cluster.WorkloadID{})
	shared := timeShared(columns)
	seen := map[cluster.NodeID]bool{}
	for _, n := range s.Nodes {
		if seen[n.ID] || !slices.Contains(nodes, n.ID) {
			continue
		}
		for of := range table.Machine(n) {
			seen[of.ID] = true
		}
		residents := coRunners.On(n)
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
