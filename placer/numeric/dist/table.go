package dist

import "math"

// Table is a distribution read off a grid: a lookup costs a square root. The
// grid is denser towards 0. Beyond it the hazard stays as it is at its end.
type Table struct {
	top      float64   // end of the grid
	mean     float64   //
	logs     []float64 // ln S at top·(i/n)²
	integral []float64 // ∫ S up to there
	slope    float64   // of ln S beyond the end; < 0
}

const (
	cells    = 512
	lastLog  = -9.2 // ln S at the end of the grid: one in ten thousand lasts longer
	doubling = 200  // bounds the search for the end: a factor of 2^200
)

// NewTable tabulates a distribution with a mean above 0. O(1).
func NewTable(d Distribution) *Table {
	t := &Table{mean: d.Mean(), logs: make([]float64, cells+1), integral: make([]float64, cells+1)}
	t.top = d.Mean()
	for range doubling {
		if d.LogSurvival(t.top) < lastLog {
			break
		}
		t.top *= 2
	}
	t.top = bisect(func(x float64) bool { return d.LogSurvival(x) > lastLog }, 0, t.top)
	for i := 1; i <= cells; i++ {
		t.logs[i] = d.LogSurvival(t.point(i))
		t.integral[i] = t.integral[i-1] +
			(t.point(i)-t.point(i-1))*(math.Exp(t.logs[i-1])+math.Exp(t.logs[i]))/2
	}
	t.slope = (t.logs[cells] - t.logs[cells-1]) / (t.point(cells) - t.point(cells-1))
	return t
}

func (t *Table) point(i int) float64 {
	share := float64(i) / cells
	return t.top * share * share
}

// Mean is the distribution's.
func (t *Table) Mean() float64 { return t.mean }

// LogSurvival is ln P(X > x), within 1e-2 of the distribution's own on the grid.
func (t *Table) LogSurvival(x float64) float64 {
	if x >= t.top {
		return t.logs[cells] + t.slope*(x-t.top)
	}
	i, share := t.cell(x)
	return t.logs[i]*(1-share) + t.logs[i+1]*share
}

// Ends is the chance that what has lasted age ends within the next t.
func (t *Table) Ends(age, within float64) float64 { return -math.Expm1(t.LogLasts(age, within)) }

// LogLasts is the logarithm of the chance that what has lasted age lasts for
// within more.
func (t *Table) LogLasts(age, within float64) float64 {
	age = max(0, age)
	return min(0, t.LogSurvival(age+max(0, within))-t.LogSurvival(age))
}

// EndsAtUnknownAge is the chance that what began at an unknown time ends within
// the next t: ∫₀ᵗ S / mean.
func (t *Table) EndsAtUnknownAge(within float64) float64 {
	if within >= t.top {
		return 1
	}
	i, share := t.cell(within)
	return min(1, (t.integral[i]*(1-share)+t.integral[i+1]*share)/t.mean)
}

// cell finds the grid cell of 0 ≤ x < top and the place in it.
func (t *Table) cell(x float64) (int, float64) {
	if x <= 0 {
		return 0, 0
	}
	i := min(int(cells*math.Sqrt(x/t.top)), cells-1)
	return i, (x - t.point(i)) / (t.point(i+1) - t.point(i))
}
