package truth

import (
	"math"
	"math/rand/v2"
)

// Scores of one configuration, as the LSH paper defines them (§II): against running
// alone on the best configuration. An application that is slower than its bound on
// a configuration tolerates nothing there. What it causes grows as pressure does on
// weak configurations; a kernel is compared with itself on the same one, for by the
// letter every kernel would have lost its bound on a weak one already.

// responseOn is the share of the best speed that is kept on a configuration under a
// kernel at 0, 5, … 100 %.
func (m *Model) responseOn(a *Application, phase, configuration, k int) Curve {
	best := 0.0
	for _, v := range a.Isolated {
		best = max(best, v)
	}
	var out Curve
	for i := range out {
		x := min(100, float64(i*CurveStepPercent)*m.multiply[configuration][k])
		out[i] = a.Isolated[configuration] / best * a.Phases[phase].Response[k].At(x)
	}
	return out
}

func (m *Model) pressureOn(a *Application, phase, configuration, k int) float64 {
	return min(maxPressurePercent, a.Phases[phase].Pressure[k]*m.multiply[configuration][k])
}

// ScoresOn are the scores of an application on a configuration without noise, by
// column, in percent.
func (m *Model) ScoresOn(a *Application, phase, configuration int, loss float64) (tolerated, caused []float64) {
	for k := range m.columns {
		c := m.responseOn(a, phase, configuration, k)
		t := 0.0
		if c[0] >= 1-loss {
			t = c.Tolerated(loss)
		}
		tolerated, caused = append(tolerated, t), append(caused, m.pressureOn(a, phase, configuration, k))
	}
	return tolerated, caused
}

// MeasureScoresOn is what a profiling run on a configuration sees of one column;
// NaN where it could not tell.
func (m *Model) MeasureScoresOn(a *Application, phase, configuration, k int, seconds float64, random *rand.Rand) (tolerated, caused float64) {
	c := m.responseOn(a, phase, configuration, k)
	q := m.pressureOn(a, phase, configuration, k)
	kernel := Planted(100-q, math.Max(0.1, 1-q/100))
	return m.ramp(a, &c, seconds, random), 100 - m.ramp(a, &kernel, seconds, random)
}
