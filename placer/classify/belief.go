package classify

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Beliefs are both scores of every source with their standard deviations, from what a
// profile has measured so far, and what they would be after one more measurement.
type Beliefs struct {
	columns           []int // of the models, by column asked for; -1: no row tells
	tolerated, caused partial
}

// partial is a row under measurement with its model.
type partial struct {
	model           Model
	assumed         float64 // where nothing is known
	row, deviations []float64
}

// assumedDeviation is the standard deviation of a score of which nothing is known: that of
// a score anywhere on the scale.
const assumedDeviation = 100 / 3.4641016151377544 // √12

// Beliefs says what is known of a profile's scores, by column. Each measured score counts by
// its interval.
func (m Models) Beliefs(p *profile.Profile, columns []interference.Source) *Beliefs {
	b := &Beliefs{
		tolerated: m.partial(m.Tolerated, p, curve.Workload, cluster.AssumedToleratedPercent),
		caused:    m.partial(m.Caused, p, curve.Kernel, cluster.AssumedCausedPercent),
	}
	for _, s := range columns {
		b.columns = append(b.columns, slices.Index(m.Sources, s))
	}
	return b
}

func (m Models) partial(model Model, p *profile.Profile, side curve.Side, assumed float64) partial {
	row, deviations := scoreRow(p, side, m.Sources)
	return partial{model: model, assumed: assumed, row: row, deviations: deviations}
}

// Tolerated and Caused are the means and standard deviations of the scores, by column.
func (b *Beliefs) Tolerated() (mean, deviation []float64, err error) {
	return b.tolerated.complete(b.columns)
}

// Caused is Tolerated of the other score.
func (b *Beliefs) Caused() (mean, deviation []float64, err error) {
	return b.caused.complete(b.columns)
}

// Given are the means of both scores, by column, if those of one column were measured with a
// standard deviation.
func (b *Beliefs) Given(column int, tolerated, toleratedDeviation, caused, causedDeviation float64) (t, c []float64, err error) {
	j := b.columns[column]
	if t, _, err = b.tolerated.with(j, tolerated, toleratedDeviation).complete(b.columns); err != nil {
		return nil, nil, err
	}
	if c, _, err = b.caused.with(j, caused, causedDeviation).complete(b.columns); err != nil {
		return nil, nil, err
	}
	t[column], c[column] = tolerated, caused
	return t, c, nil
}

func (p partial) with(j int, v, deviation float64) partial {
	if j < 0 {
		return p
	}
	p.row, p.deviations = slices.Clone(p.row), slices.Clone(p.deviations)
	p.row[j], p.deviations[j] = v, deviation
	return p
}

// complete returns the scores of the columns of the models that are listed.
func (p partial) complete(columns []int) (mean, deviation []float64, err error) {
	var cells []Cell
	if p.model != nil {
		if cells, err = p.model.Complete(p.row, p.deviations); err != nil {
			return nil, nil, err
		}
	}
	for _, j := range columns {
		m, d := p.assumed, assumedDeviation
		if j >= 0 && cells != nil && cells[j].Known {
			m = min(100, max(0, cells[j].Value))
			if w := cells[j].High - cells[j].Low; w >= 0 {
				d = w / (2 * normal95)
			}
		}
		mean, deviation = append(mean, m), append(deviation, d)
	}
	return mean, deviation, nil
}
