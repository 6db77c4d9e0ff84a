package estimator

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// The profile of the LSH paper: both scores of the same few sources for everybody,
// which complete the others together, and the speed on the best, the median and the
// worst configuration. The scores a policy gets are those of the best
// configuration: what the others cost is in the speed there.

// jointly has the columns of a profile as the paper orders them: tolerated and
// caused of one source after the other.
func (e *Estimator) jointly(tolerated, caused [][]float64) classify.Matrix {
	var m classify.Matrix
	if len(e.options.Sources) == 0 {
		return m
	}
	for _, c := range e.columns() {
		m.Columns = append(m.Columns, c+" tolerated", c+" caused")
	}
	for i := range tolerated {
		m.Rows = append(m.Rows, interleaved(tolerated[i], caused[i]))
	}
	return m
}

func interleaved(tolerated, caused []float64) []float64 {
	var out []float64
	for k := range tolerated {
		out = append(out, tolerated[k], caused[k])
	}
	return out
}

func (e *Estimator) jointScores(a *truth.Application, phase int, random *rand.Rand) (tolerated, caused []float64, err error) {
	row := unknown(2 * len(e.model.Columns()))
	for k, c := range e.model.Columns() {
		if slices.Contains(e.options.Sources, c) {
			row[2*k], row[2*k+1] = e.model.MeasureScores(a, phase, k, e.options.Seconds, random)
		}
	}
	if row, err = completeScores(e.joint, row, cluster.AssumedToleratedPercent); err != nil {
		return nil, nil, err
	}
	for k := range e.model.Columns() {
		tolerated, caused = append(tolerated, row[2*k]), append(caused, row[2*k+1])
	}
	return tolerated, caused, nil
}

// bestMedianWorst are the configurations that are profiled, by how strong they are.
func bestMedianWorst(machines []truth.Machine) []int {
	order := make([]int, len(machines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(machines[y].Strength(), machines[x].Strength()) })
	out := []int{order[0], order[(len(order)-1)/2], order[len(order)-1]}
	return slices.Compact(out)
}
