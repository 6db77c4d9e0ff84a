package report

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// Summarise makes the line of one policy from its runs, one per seed.
func Summarise(policy string, load float64, runs []*sim.Result) Line {
	var lines []Line
	for _, r := range runs {
		lines = append(lines, single(policy, load, r))
	}
	return Merge(lines)
}

// single is the line of one run.
func single(policy string, load float64, result *sim.Result) Line {
	r := &run{Result: result}
	l := Line{
		Policy: policy, Load: load, Curve: curve(r.performances()), WithWait: curve(r.withWaits()), Spread: spread(r),
		Usage: usage(r), Heat: heat(r), Counters: r.Counters,
	}
	add := func(to *[]Figure, name string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			*to = append(*to, Figure{Name: name, Mean: v})
		}
	}
	for _, m := range Metrics() {
		add(&l.Metrics, m.Name, m.of(r))
	}
	for _, m := range Details() {
		add(&l.Details, m.Name, m.of(r))
	}
	for _, p := range parts(r) {
		add(&l.Details, p.name, p.value)
	}
	return l
}

// Merge makes one line of several of the same policy and load, one per seed:
// figures with their intervals, the means of curves, sums of counters, and usage
// and heat of the first. A figure that a seed has not is left out.
func Merge(lines []Line) Line {
	first := lines[0]
	out := Line{Policy: first.Policy, Load: first.Load, Usage: first.Usage, Heat: first.Heat}
	out.Metrics = mergeFigures(lines, first.Metrics)
	out.Details = mergeFigures(lines, first.Details)
	out.Curve = meanCurve(lines, func(l *Line) []float64 { return l.Curve })
	out.WithWait = meanCurve(lines, func(l *Line) []float64 { return l.WithWait })
	for name := range first.Spread {
		if points := meanCurve(lines, func(l *Line) []float64 { return l.Spread[name] }); points != nil {
			if out.Spread == nil {
				out.Spread = map[string][]float64{}
			}
			out.Spread[name] = points
		}
	}
	for i := range lines {
		out.Counters.Add(lines[i].Counters)
	}
	return out
}

func mergeFigures(lines []Line, names []Figure) []Figure {
	var out []Figure
	for _, f := range names {
		values := make([]float64, 0, len(lines))
		for i := range lines {
			if own, ok := lines[i].Figure(f.Name); ok {
				values = append(values, own.Mean)
			}
		}
		if len(values) == len(lines) {
			out = append(out, Interval(f.Name, values))
		}
	}
	return out
}

// meanCurve is nil where a line has none.
func meanCurve(lines []Line, of func(*Line) []float64) []float64 {
	out := make([]float64, len(of(&lines[0])))
	for i := range lines {
		points := of(&lines[i])
		if len(points) != len(out) || len(out) == 0 {
			return nil
		}
		for k, v := range points {
			out[k] += v / float64(len(lines))
		}
	}
	for k := range out {
		out[k] = round(out[k])
	}
	return out
}
