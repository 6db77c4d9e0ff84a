package profiling

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// fastest is the highest known speed in the unit of a target; 0 where there is none.
func fastest(k *cluster.Knowledge, t performance.Target) float64 {
	best := 0.0
	for _, m := range k.Speed {
		if m.Unit == "" || m.Unit == t.RateUnit() {
			best = max(best, m.Value)
		}
	}
	return best
}

// Tolerance is a workload's tolerance at target; see predict.ToleranceAtTarget.
func (k *Estimator) Tolerance(known *cluster.Knowledge, slowdownPercent float64, needs *float64, target performance.Target) interference.Scores {
	if !(slowdownPercent > 0 && slowdownPercent < 100) {
		slowdownPercent = performance.DefaultSlowdownMaxPercent
	}
	return predict.ToleranceAtTarget(known, k.Columns(), slowdownPercent, needs, target.LatePercent())
}

// MeanTolerance is what a workload tolerates on average over the sources, in points; where
// nothing is known it is what is assumed.
func (k *Estimator) MeanTolerance(known *Known) float64 {
	spec := known.Workload.Spec
	tolerated := k.Tolerance(&known.Knowledge, spec.SlowdownMaxPercent, spec.RequiredFraction(max(1, known.Workload.Count), fastest(&known.Knowledge, spec.Target)), spec.Target)
	if tolerated == nil {
		tolerated = known.Knowledge.Sensitivity.Tolerated
	}
	columns := k.Columns()
	sum := 0.0
	for _, v := range tolerated.Vector(columns) {
		if math.IsNaN(v) {
			v = cluster.AssumedToleratedPercent
		}
		sum += v
	}
	return sum / float64(max(1, len(columns)))
}
