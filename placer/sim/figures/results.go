package figures

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

// results are what an experiment's rows gave.
type results struct {
	first  string               // scenario of rows that name none
	lines  map[At][]report.Line // one per seed; At is whole
	table  *Table               // of a computation
	absent string               // why there is nothing
}

func (r *results) whole(a At) At {
	if a.Scenario == "" {
		a.Scenario = r.first
	}
	return a
}

// seeds are the values of a metric, one per seed; false where one has none.
func (r *results) seeds(a At, metric string) ([]float64, bool) {
	lines := r.lines[r.whole(a)]
	out := make([]float64, 0, len(lines))
	for i := range lines {
		f, ok := lines[i].Figure(metric)
		if !ok {
			return nil, false
		}
		out = append(out, f.Mean)
	}
	return out, len(out) > 0
}

// figure is a metric of a row with its interval.
func (r *results) figure(a At, metric string) (report.Figure, bool) {
	if r.table != nil {
		return r.table.figure(a.Policy, metric)
	}
	values, ok := r.seeds(a, metric)
	if !ok {
		return report.Figure{}, false
	}
	return report.Interval(metric, values), true
}

// line is a row over all its seeds.
func (r *results) line(a At) (report.Line, bool) {
	lines := r.lines[r.whole(a)]
	if len(lines) == 0 {
		return report.Line{}, false
	}
	return report.Merge(lines), true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
