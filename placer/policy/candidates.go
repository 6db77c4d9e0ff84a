package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// candidateSet is a request with its candidates: the feasible nodes, with dense vectors
// in column order, computed once.
type candidateSet struct {
	Request
	work       *workspace
	snapshot   *cluster.Snapshot // nodes sorted by ID, whatever order they came in
	table      *cluster.PressureTable
	coRunners  *board.CoRunners
	board      *board.Board // of the selector; nil: none was made
	shared     []bool       // by column: CPU time is shared through it (timeShared)
	candidates []*candidate
	rejected   []cluster.Rejection          // nodes that are no candidates, a sample
	counts     map[cluster.RejectReason]int // all of those, by reason
	atBound    []float64                    // what the newcomer tolerates at the QoS bound; never NaN
	caused     []float64                    // what the newcomer causes; never NaN
	tolerances map[string]*tolerance        // by configuration; see toleranceOn
	assumed    int                          // newcomer's scores that had to be assumed here
	rates      map[string]bool              // configurations with a speed in the target's unit
	unit       string                       // of the target's rate
	need       float64                      // rate one allocation must reach; 0: no numeric target
	looked     int                          // nodes that were looked at, where not all were; else 0
	warnings   []string
	facts      facts // of the decision, as finish finds them
}

// candidate is one feasible node.
type candidate struct {
	node       *cluster.Node
	index      int        // in candidateSet.candidates
	tolerance  *tolerance // of the newcomer here
	incumbent  bool       // the group already runs here
	room       int        // allocations of the group that fit
	freeMHz    int
	cpuLoad    float64 // used share
	memoryLoad float64

	// As of here by candidateSet.press: policies with a board of their own ask for few nodes.
	tolerated []float64          // of the residents together: min; nil: not computed yet
	caused    []float64          // the pressure that the newcomer would experience from them
	exerted   []float64          // the pressure that they would experience from the newcomer
	summed    []float64          // their caused scores, added up: how full the node is
	predicted cluster.Prediction // of one allocation, without others of its group
}

func validate(r Request) error {
	switch {
	case r.Workload == nil:
		return fmt.Errorf("%w: no workload", ErrRequest)
	case r.Snapshot == nil:
		return fmt.Errorf("%w: no snapshot", ErrRequest)
	case r.Workload.Count < 0:
		return fmt.Errorf("%w: count %d", ErrRequest, r.Workload.Count)
	default:
		return nil
	}
}

// open validates the request and computes its candidates (step 2).
func open(r Request, work *workspace) (*candidateSet, error) {
	if err := validate(r); err != nil {
		return nil, err
	}
	if r.Knowledge == nil {
		r.Knowledge = &cluster.Knowledge{}
	}
	v := &candidateSet{Request: r, work: work, snapshot: sortedSnapshot(r.Snapshot).WithCache(), unit: r.Workload.Spec.Target.RateUnit()}
	fit := v.feasible()
	v.table = cluster.NewPressureTable(v.snapshot, v.Columns)
	v.coRunners, v.shared = board.NewCoRunners(v.snapshot, v.table, v.Workload.ID), timeShared(v.Columns)
	v.readKnowledge()
	v.addCandidates(fit)
	return v, nil
}

// sortedSnapshot makes decisions independent of the order nodes came in.
func sortedSnapshot(s *cluster.Snapshot) *cluster.Snapshot {
	byID := func(a, b *cluster.Node) int { return cmp.Compare(a.ID, b.ID) }
	if slices.IsSortedFunc(s.Nodes, byID) {
		return s
	}
	sorted := *s
	sorted.Nodes = slices.SortedFunc(slices.Values(s.Nodes), byID)
	return &sorted
}

// readKnowledge turns what is known of the newcomer into vectors.
func (v *candidateSet) readKnowledge() {
	k := v.Knowledge
	v.atBound = v.orAssumed(k.Sensitivity.Tolerated, cluster.AssumedToleratedPercent)
	v.tolerances = map[string]*tolerance{}
	v.caused = v.orAssumed(k.Sensitivity.Caused, cluster.AssumedCausedPercent)
	if v.assumed > 0 {
		v.warn("%d scores of this workload are unknown; half of the highest intensity is assumed for them", v.assumed)
	}
	v.readSpeeds()
	if rate, ok := v.Workload.Spec.Rate(); ok && v.Workload.Count > 0 {
		v.need = rate / float64(v.Workload.Count)
	}
}

func (v *candidateSet) orAssumed(s interference.Scores, fallback float64) []float64 {
	out := s.Vector(v.Columns)
	for i, x := range out {
		if math.IsNaN(x) {
			out[i] = fallback
			v.assumed++
		}
	}
	return out
}

// readSpeeds notes which configurations have a speed in the target's unit. A
// profile taken with another probe says nothing of this target.
func (v *candidateSet) readSpeeds() {
	v.rates = map[string]bool{}
	foreign := ""
	for c, m := range v.Knowledge.Speed {
		if m.Unit != "" && m.Unit != v.unit {
			foreign = max(foreign, m.Unit)
			continue
		}
		v.rates[c] = m.Value > 0 && !math.IsInf(m.Value, 0)
	}
	if foreign != "" {
		v.warn("the profile is in %s and the target in %s: performance cannot be predicted", foreign, v.unit)
	}
}

// suffices reports whether a rate is what an allocation needs.
func (v *candidateSet) suffices(rate float64) bool {
	return v.Workload.Spec.Target.PredictedMet(rate, v.need)
}

// addCandidates makes candidates of the feasible nodes.
func (v *candidateSet) addCandidates(fit []*cluster.Node) {
	options := v.work.takeCandidates(len(fit))
	v.candidates = make([]*candidate, len(fit))
	for i, n := range fit {
		o := &options[i]
		o.node, o.index, o.tolerance = n, i, v.toleranceOn(n.Configuration)
		v.candidates[i] = o
		v.addLoad(o, v.snapshot.Host(n))
	}
}

// press computes what residents and newcomer exert on each other on a candidate, once.
func (v *candidateSet) press(o *candidate) {
	if o.tolerated != nil {
		return
	}
	columns := len(v.Columns)
	storage := v.work.take(2 * columns)
	o.tolerated, o.caused = storage[:columns:columns], storage[columns:]
	v.table.Fill(o.node, v.Workload.ID, o.tolerated, o.caused)
	v.shareCPUTime(o)
	o.predicted = v.predict(o, o.caused)
}

// littlePressure leaves every allocation its fair share of CPU time, in points (chosen by
// us: only above it co-runners may be limited to their share).
const littlePressure = 10.0

// shareCPUTime sets what newcomer and residents exert on each other: sums of caused
// scores but for CPU time, of which each takes at most its fair share (decision 0017).
func (v *candidateSet) shareCPUTime(o *candidate) {
	o.exerted, o.summed = v.caused, o.caused
	closely := false
	for k, shared := range v.shared {
		closely = closely || shared && o.caused[k] > littlePressure
	}
	if closely {
		b := Live().coRunnersAmong(v.shared, v.residents(o.index)).mutualPressureOf(v.newcomerOn(o))
		o.caused, o.exerted = b.onNewcomer, b.byNewcomer
	}
}

// newcomerOn is the workload as a resident of a candidate.
func (v *candidateSet) newcomerOn(o *candidate) board.Resident {
	return toleranceAt(o.node.ID, o.tolerance.Tolerance, v.Workload.Ask, v.caused)
}

func (v *candidateSet) addLoad(o *candidate, h *cluster.Host) {
	used := h.UsedByOthers(v.Workload.ID)
	o.room = v.snapshot.DiskRoom(o.node, v.Workload, cluster.Room(o.node, used, v.Workload.Ask, v.perNode()))
	for _, list := range [2][]cluster.Allocation{h.Allocations, h.Reserved} {
		for i := range list {
			o.incumbent = o.incumbent || list[i].Workload == v.Workload.ID && !list[i].Profiling
		}
	}
	mhz := used.Megahertz(o.node.CoreMHz)
	o.freeMHz = o.node.Total.CPUMHz - mhz
	o.cpuLoad = share(mhz, o.node.Total.CPUMHz)
	o.memoryLoad = share(used.MemoryMB, o.node.Total.MemoryMB)
}

// perNode is how many allocations of the group one node may take at most.
// distinct_property is left to Nomad: it counts over jobs a policy cannot see.
func (v *candidateSet) perNode() int {
	distinct := slices.ContainsFunc(v.Workload.Constraints, func(c cluster.Constraint) bool {
		return c.Operator == "distinct_hosts" && c.Value != "false"
	})
	if distinct {
		return 1
	}
	return max(1, v.Workload.Count)
}

// residents of a candidate's machine.
func (v *candidateSet) residents(i int) []board.Resident { return v.coRunners.On(v.candidates[i].node) }

// share of a total; a node that says it has nothing counts as full.
func share(used, total int) float64 {
	if total <= 0 {
		return 1
	}
	return float64(used) / float64(total)
}

// predict one allocation on the node under a pressure.
func (v *candidateSet) predict(o *candidate, pressure []float64) cluster.Prediction {
	if !v.rates[o.node.Configuration] {
		return cluster.Prediction{Unit: v.unit}
	}
	return predict.Performance(v.Knowledge, o.node.Configuration, v.unit, o.tolerance.curves.Share(pressure))
}

// withReplicas is the pressure that one allocation experiences which shares the node with
// n others of its own group.
func (v *candidateSet) withReplicas(o *candidate, n int) []float64 {
	if n <= 0 {
		v.press(o)
		return o.caused
	}
	own := v.newcomerOn(o)
	return Live().coRunnersAmong(v.shared, append(v.residents(o.index), slices.Repeat([]board.Resident{own}, n)...)).mutualPressureOf(own).onNewcomer
}

func (v *candidateSet) warn(format string, args ...any) {
	v.warnings = append(v.warnings, fmt.Sprintf(format, args...))
}
