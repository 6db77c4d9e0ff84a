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

// standing is what an allocation of the newcomer stands by its target on nodes of one
// configuration: the slower the node, the more of it the target needs (decision 0015).
type standing struct {
	board.Standing
	stands    interference.Scores // nil: as tolerated
	predictor predict.Predictor
}

// standingOn is computed once for each configuration.
func (v *view) standingOn(configuration string) *standing {
	if s, ok := v.standings[configuration]; ok {
		return s
	}
	k := v.Knowledge.On(configuration)
	s := &standing{
		Standing:  board.Standing{Tolerated: v.atBound, Needs: v.needsOn(configuration), Busier: k.Sensitivity.Busier[configuration]},
		predictor: predict.New().Prepare(k, v.Columns, v.slowdownPercent()),
	}
	if s.Needs != nil {
		s.stands = predict.Stands(k, v.Columns, v.slowdownPercent(), *s.Needs)
	}
	if s.stands != nil {
		s.Tolerated = slices.Clone(v.atBound)
		for i, column := range v.Columns {
			if stands, ok := s.stands[column].Score.Percent(); ok {
				s.Tolerated[i] = stands
			}
		}
	}
	v.standings[configuration] = s
	return s
}

// needsOn is the required fraction on nodes of a configuration.
func (v *view) needsOn(configuration string) *float64 {
	speed := 0.0
	if v.rates[configuration] {
		speed = v.Knowledge.Speed[configuration].Value
	}
	return v.Workload.Spec.RequiredFraction(v.Workload.Count, speed)
}

func (v *view) slowdownPercent() float64 {
	if s := v.Workload.Spec.SlowdownMaxPercent; s > 0 && s < 100 {
		return s
	}
	return performance.DefaultSlowdownMaxPercent
}

// leastNeeding is the standing on the configuration where the target needs least: what
// is known of the newcomer before a node is looked at.
func (v *view) leastNeeding() *standing {
	fastest := "" // of none the speed is known
	for _, c := range slices.Sorted(maps.Keys(v.rates)) {
		if v.rates[c] && (fastest == "" || v.Knowledge.Speed[c].Value > v.Knowledge.Speed[fastest].Value) {
			fastest = c
		}
	}
	return v.standingOn(fastest)
}

// recordStanding notes in a decision what the group stands where it was placed: as its
// allocation of which the target needs most.
func (v *view) recordStanding(d *cluster.Decision, r ranking, replicas []int) {
	var most *standing
	for i, n := range replicas {
		s := r.nodes[i].option.stands
		if n > 0 && (most == nil || s.NeedsMore(most.Standing)) {
			most = s
		}
	}
	if most != nil {
		d.Needs, d.Stands = most.Needs, most.stands
	}
}
