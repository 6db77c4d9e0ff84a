package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Metric is one figure of merit, over all rows of one seed.
type Metric struct {
	Name    string
	Summary string
	Percent bool // of rows or cells; else percent deviation or points
	kind    applies
	of      func([]trial) float64 // NaN: not defined
}

type applies int

const (
	always applies = iota
	speeds
	points
)

func (m Metric) applies(ratio bool) bool {
	return m.kind == always || m.kind == speeds && ratio || m.kind == points && !ratio
}

// The names of metrics.
const (
	BestFound    = "best-found"
	WithinFive   = "within-5"
	MeanError    = "mean"
	NinetiethPct = "p90"
	WorstError   = "max"
	RowNinetieth = "row-p90"
	RowWorst     = "row-max"
	RMSE         = "rmse"
	Holds50      = "holds-50"
	Holds80      = "holds-80"
	Covered      = "covered"
	Under5       = "under-5"
	Under10      = "under-10"
	Under20      = "under-20"
	BandLow      = "mean-low"
	BandMiddle   = "mean-middle"
	BandHigh     = "mean-high"
)

// Metrics lists all, in the order they are printed. Errors are percent of the
// true speed, or points of a score; those of shown cells do not count.
func Metrics() []Metric {
	return []Metric{
		{BestFound, "rows whose best column was named", true, speeds, share(func(t trial) bool { return t.chosen == t.best })},
		{WithinFive, "rows where the named column is within 5 % of the best", true, speeds, share(func(t trial) bool { return t.chosen >= 0.95*t.best })},
		{MeanError, "mean error of a cell", false, always, mean},
		{NinetiethPct, "90th percentile of a cell's error", false, always, func(ts []trial) float64 { return quantile(0.9, errorsOf(ts)) }},
		{WorstError, "largest error of a cell", false, always, func(ts []trial) float64 { return largest(errorsOf(ts)) }},
		{RowNinetieth, "90th percentile of a workload's mean error", false, always, func(ts []trial) float64 { return quantile(0.9, rowErrors(ts)) }},
		{RowWorst, "largest mean error of a workload", false, always, func(ts []trial) float64 { return largest(rowErrors(ts)) }},
		{RMSE, "root mean square error", false, always, rootMeanSquare},
		{Holds50, "cells inside their 50 % interval", true, always, holding(0)},
		{Holds80, "cells inside their 80 % interval", true, always, holding(1)},
		{Covered, "cells inside their 95 % interval", true, always, holding(2)},
		{Under5, "cells with an error under 5", true, always, under(5)},
		{Under10, "cells with an error under 10", true, always, under(10)},
		{Under20, "cells with an error under 20", true, always, under(20)},
		{BandLow, "mean error of true scores under 30", false, points, band(0, 30)},
		{BandMiddle, "mean error of true scores from 30 to 60", false, points, band(30, 60)},
		{BandHigh, "mean error of true scores over 60", false, points, band(60, math.Inf(1))},
	}
}

func share(is func(trial) bool) func([]trial) float64 {
	return func(trials []trial) float64 {
		n := 0
		for _, t := range trials {
			if is(t) {
				n++
			}
		}
		return 100 * float64(n) / float64(len(trials))
	}
}

// failure is percent of the truth for a speed, points for a score: a row of
// speeds has a best one.
func (t trial) failure(o outcome) float64 {
	if t.ratio {
		return 100 * math.Abs(o.got-o.want) / o.want
	}
	return math.Abs(o.got - o.want)
}

func errorsOf(trials []trial) []float64 {
	var out []float64
	for _, t := range trials {
		for _, o := range t.cells {
			out = append(out, t.failure(o))
		}
	}
	return out
}

func rowErrors(trials []trial) []float64 {
	var out []float64
	for _, t := range trials {
		if len(t.cells) > 0 {
			out = append(out, stat.Mean(errorsOf([]trial{t}), nil))
		}
	}
	return out
}

func mean(trials []trial) float64 { return stat.Mean(errorsOf(trials), nil) }

func rootMeanSquare(trials []trial) float64 {
	all := errorsOf(trials)
	var sum float64
	for _, e := range all {
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(all)))
}

func largest(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Max(values)
}

func under(limit float64) func([]trial) float64 {
	return func(trials []trial) float64 {
		all := errorsOf(trials)
		n := 0
		for _, e := range all {
			if e < limit {
				n++
			}
		}
		return 100 * float64(n) / float64(len(all))
	}
}

// holding is the share of cells with an interval that are inside that of a level.
func holding(level int) func([]trial) float64 {
	return func(trials []trial) float64 {
		inside, n := 0, 0
		for _, t := range trials {
			for _, o := range t.cells {
				if o.bracketed {
					n++
					if o.inside[level] {
						inside++
					}
				}
			}
		}
		return 100 * float64(inside) / float64(n)
	}
}

func band(low, high float64) func([]trial) float64 {
	return func(trials []trial) float64 {
		var sum, n float64
		for _, t := range trials {
			for _, o := range t.cells {
				if o.want >= low && o.want < high {
					sum, n = sum+t.failure(o), n+1
				}
			}
		}
		return sum / n
	}
}
