package engine

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
	tolerated := e.stands(&k.knowledge, spec.SlowdownMaxPercent, spec.RequiredFraction(max(1, k.workload.Count), fastest(&k.knowledge, spec.Target)))
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
