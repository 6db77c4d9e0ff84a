package classify

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// scoresOf a side.
func scoresOf(p *profile.Profile, side curve.Side) interference.Scores {
	if side == curve.Kernel {
		return p.Sensitivity.Caused
	}
	return p.Sensitivity.Tolerated
}

// scoreRow is what a profile says of its scores, as cells with their deviations. A score
// is taken as it is; where there is none, or it is of another bound than those of the other
// rows, the ramp is.
func scoreRow(p *profile.Profile, side curve.Side, sources []interference.Source) (row, deviations []float64) {
	row, deviations = make([]float64, len(sources)), make([]float64, len(sources))
	for j, s := range sources {
		row[j] = math.NaN()
		e := scoresOf(p, side)[s]
		if !e.IsMeasured() || curve.BoundOf(p) != curve.Bound {
			if c, ok := curve.Measured(p.Ramp, s, side); ok {
				setCell(row, deviations, j, c.Evidence)
				continue
			}
		}
		if e.IsMeasured() {
			setCell(row, deviations, j, func() (float64, float64, bool) { return curve.EvidenceOf(e, side) })
		}
	}
	return row, deviations
}

func setCell(row, deviations []float64, j int, evidence func() (points, deviation float64, ok bool)) {
	if points, deviation, ok := evidence(); ok {
		row[j], deviations[j] = points, deviation
	}
}

// expectUnmeasured asks the score models of a workload of which nothing is measured.
func (m *Models) expectUnmeasured() error {
	for side, model := range []Model{curve.Workload: m.Tolerated, curve.Kernel: m.Caused} {
		if model == nil {
			continue
		}
		nothing := make([]float64, len(m.Sources))
		for j := range nothing {
			nothing[j] = math.NaN()
		}
		cells, err := model.Complete(nothing, nil)
		if err != nil {
			return err
		}
		m.unmeasured[side] = cells
	}
	return nil
}

// before is the interval of a column of a side where nothing is measured.
func (m *Models) before(side curve.Side, column int) interference.Range {
	if m.unmeasured[side] == nil || !m.unmeasured[side][column].Known {
		return interference.Range{}
	}
	c := m.unmeasured[side][column]
	return interference.Range{Low: interference.Percent(c.Low), High: interference.Percent(c.High)}
}
