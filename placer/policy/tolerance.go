package policy

import (
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// tolerance is the newcomer's tolerance at target on nodes of one configuration: the
// slower the node, the larger the fraction of its performance that the target requires
// (decision 0015).
type tolerance struct {
	board.Tolerance
	tolerance interference.Scores // nil: as tolerated
	curves    *predict.Curves
}

// toleranceOn is computed once for each configuration.
func (v *candidateSet) toleranceOn(configuration string) *tolerance {
	if s, ok := v.tolerances[configuration]; ok {
		return s
	}
	k := v.Knowledge.On(configuration)
	s := &tolerance{
		Tolerance: board.Tolerance{
			Tolerated: v.atBound, RequiredFraction: v.requiredFractionOn(configuration),
			DemandFactor: k.Sensitivity.DemandFactor[configuration], RunMS: k.Sensitivity.RunMS,
		},
		curves: predict.Prepare(k, v.Columns, v.slowdownPercent()),
	}
	s.tolerance = predict.ToleranceAtTarget(k, v.Columns, v.slowdownPercent(), s.RequiredFraction, v.Workload.Spec.Target.LatePercent())
	if s.tolerance != nil {
		s.LateShare = v.Workload.Spec.Target.LatePercent() / 100
		s.Tolerated = slices.Clone(v.atBound)
		for i, column := range v.Columns {
			if tolerance, ok := s.tolerance[column].Score.Percent(); ok {
				s.Tolerated[i] = tolerance
			}
		}
	}
	v.tolerances[configuration] = s
	return s
}

// requiredFractionOn is the required fraction on nodes of a configuration.
func (v *candidateSet) requiredFractionOn(configuration string) *float64 {
	speed := 0.0
	if v.rates[configuration] {
		speed = v.Knowledge.Speed[configuration].Value
	}
	return v.Workload.Spec.RequiredFraction(v.Workload.Count, speed)
}

func (v *candidateSet) slowdownPercent() float64 {
	if s := v.Workload.Spec.SlowdownMaxPercent; s > 0 && s < 100 {
		return s
	}
	return performance.DefaultSlowdownMaxPercent
}

// leastRequired is the tolerance on the configuration where the required fraction is the
// smallest: what is known of the newcomer before a node is looked at.
func (v *candidateSet) leastRequired() *tolerance {
	fastest := "" // of none the speed is known
	for _, c := range slices.Sorted(maps.Keys(v.rates)) {
		if v.rates[c] && (fastest == "" || v.Knowledge.Speed[c].Value > v.Knowledge.Speed[fastest].Value) {
			fastest = c
		}
	}
	return v.toleranceOn(fastest)
}

// recordTolerance writes into a decision what the group tolerates where it was placed: as
// its allocation of which the target requires most.
func (v *candidateSet) recordTolerance(d *cluster.Decision, r ranking, replicas []int) {
	var most *tolerance
	for i, n := range replicas {
		s := r.nodes[i].candidate.tolerance
		if n > 0 && (most == nil || s.RequiresMore(most.Tolerance)) {
			most = s
		}
	}
	if most != nil {
		d.RequiredFraction, d.ToleranceAtTarget = most.RequiredFraction, most.tolerance
	}
}
