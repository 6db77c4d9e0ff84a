package engine

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// needsShare is the share of its performance alone that a target needs of each of so
// many allocations where they are fastest; nil where that is not known, and 0 for best
// effort.
func needsShare(s performance.Spec, count int, speed map[string]float64) *float64 {
	if s.Target.Kind == performance.BestEffort {
		return new(float64)
	}
	need, fastest := wanted(s)/float64(max(1, count)), 0.0
	for _, v := range speed {
		fastest = max(fastest, v)
	}
	if !(need > 0 && fastest > 0) {
		return nil
	}
	share := min(1, need/fastest)
	return &share
}

// speedsOf are the known speeds in the unit of a target.
func speedsOf(k *cluster.Knowledge, t performance.Target) map[string]float64 {
	out := map[string]float64{}
	for c, m := range k.Speed {
		if m.Value > 0 && (m.Unit == "" || m.Unit == t.RateUnit()) {
			out[c] = m.Value
		}
	}
	return out
}

// stands is what a workload stands by its own target; see predict.Stands.
func (e *Engine) stands(k *cluster.Knowledge, slowdownPercent float64, needs *float64) interference.Scores {
	if needs == nil {
		return nil
	}
	if !(slowdownPercent > 0 && slowdownPercent < 100) {
		slowdownPercent = performance.DefaultSlowdownMaxPercent
	}
	return predict.Stands(k, e.columns(), slowdownPercent, *needs)
}

// meanStanding is what a workload stands of a source on average, in percent; one of
// which nothing is known stands what is assumed.
func (e *Engine) meanStanding(k *knownWorkload) float64 {
	spec := k.workload.Spec
	tolerated := e.stands(&k.knowledge, spec.SlowdownMaxPercent, needsShare(spec, k.workload.Count, speedsOf(&k.knowledge, spec.Target)))
	if tolerated == nil {
		tolerated = k.knowledge.Sensitivity.Tolerated
	}
	columns := e.columns()
	sum := 0.0
	for _, v := range tolerated.Vector(columns) {
		if math.IsNaN(v) {
			v = cluster.AssumedToleratedPercent
		}
		sum += v
	}
	return sum / float64(max(1, len(columns)))
}
