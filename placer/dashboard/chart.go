package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// estimateBar draws one score from 0 to 100 with its interval.
func estimateBar(e interference.Estimate, kind string) template.HTML {
	v, known := e.Score.Percent()
	label := kind + " " + wording.Unknown
	if known {
		label = kind + " " + wording.Number(v) + " of 100"
	}
	low, _ := e.Low.Percent()
	high, _ := e.High.Percent()
	faint := e.Origin == interference.Predicted || e.Origin == interference.Assumed
	return chart.Track(label, 220, 100, chart.Bar{Kind: kind, Value: v, Low: low, High: high, Faint: faint})
}

// shareBar draws used out of total; a total of 0 is one that is not known.
func shareBar(used, total int, what string) template.HTML {
	share := math.NaN()
	if total > 0 {
		share = 100 * float64(used) / float64(total)
	}
	return chart.Track(fmt.Sprintf("%s: %d of %d used", what, used, total), 220, 100, chart.Bar{Kind: "used", Value: share})
}

// percentBar draws a share of 100.
func percentBar(v float64, what string) template.HTML {
	return chart.Track(what+": "+wording.Number(v)+" %", 160, 100, chart.Bar{Kind: "used", Value: v})
}

// comparison is target, prediction and measurement in one unit.
type comparison struct{ target, predicted, measured chart.Bar }

func compare(t performance.Target, e wording.Expectation, m wording.Measured) comparison {
	missing := math.NaN()
	c := comparison{
		target:    chart.Bar{Name: "target", Kind: "target", Value: missing, Text: wording.Target(t)},
		predicted: chart.Bar{Name: "predicted", Kind: "predicted", Value: missing, Low: e.Low, High: e.High, Text: e.Short()},
		measured:  chart.Bar{Name: "measured", Kind: "measured", Value: missing, Text: cmp.Or(m.Why, wording.Unknown)},
	}
	want, unit, ok := t.Value()
	if ok {
		c.target.Value, c.target.Text = want, wording.Quantity(want, unit)
	}
	if e.Known && (e.Comparable || !ok) {
		c.predicted.Value = e.Value
	}
	if m.Known {
		c.measured.Value, c.measured.Text = m.Value, wording.Quantity(m.Value, m.Unit)
	}
	return c
}

func (c comparison) bars() []chart.Bar { return []chart.Bar{c.target, c.predicted, c.measured} }

// any reports whether there is a number to draw.
func (c comparison) any() bool {
	return slices.ContainsFunc(c.bars(), func(b chart.Bar) bool { return !math.IsNaN(b.Value) })
}

func (c comparison) label() string {
	return fmt.Sprintf("target %s, predicted %s, measured %s", c.target.Text, c.predicted.Text, c.measured.Text)
}

// comparisonChart draws target, prediction and measurement on one axis.
func comparisonChart(c comparison) template.HTML {
	return chart.Bars{Label: c.label(), Width: 640, Axis: chart.Axis{Text: wording.Number}, Target: c.target.Value, Rows: c.bars()}.SVG()
}

// rampChart draws the workload's share of its performance in isolation over the
// intensity of one kernel, with intervals, the bound, and the kernel's share.
func rampChart(source interference.Source, points []profile.RampPoint, boundPercent float64) template.HTML {
	bound := 1 - boundPercent/100
	floor := rampFloor(points, bound)
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b profile.RampPoint) int { return cmp.Compare(a.IntensityPercent, b.IntensityPercent) })
	return chart.Plot{
		Label: "ramp of " + wording.Source(source), Width: 300, Height: 190,
		X: chart.Axis{Title: "kernel intensity, percent", High: 100, Ticks: []float64{0, 50, 100}},
		Y: chart.Axis{
			Low: floor, High: 1.1, Ticks: []float64{floor, (floor + 1) / 2, 1},
			Text: func(share float64) string { return wording.Number(share*100) + "%" },
		},
		Marks: []chart.Mark{{Kind: "target", At: bound}},
		Series: []chart.Series{
			rampSide(points, "caused", "kernel", func(p profile.RampPoint) (v, low, high *float64) {
				return p.KernelRatio, p.KernelLow, p.KernelHigh
			}),
			rampSide(points, "tolerated", "workload", func(p profile.RampPoint) (v, low, high *float64) {
				return p.WorkloadRatio, p.WorkloadLow, p.WorkloadHigh
			}),
			rampSide(points, "measured", "workload, for each second of CPU time,", func(p profile.RampPoint) (v, low, high *float64) {
				return p.PerCPURatio, p.PerCPULow, p.PerCPUHigh
			}),
		},
	}.SVG()
}

// rampSide is the line of the workload or of the kernel.
func rampSide(points []profile.RampPoint, kind, who string, side func(profile.RampPoint) (v, low, high *float64)) chart.Series {
	s := chart.Series{Kind: kind, Style: chart.LineAndDots}
	for _, p := range points {
		v, low, high := side(p)
		if v == nil {
			continue
		}
		q := chart.Point{X: p.IntensityPercent, Y: *v, Note: fmt.Sprintf("%s at %s %% intensity: %s %% of its performance in isolation, %d pairs", who,
			wording.Number(p.IntensityPercent), wording.Number(*v*100), p.Pairs)}
		if low != nil && high != nil {
			q.Low, q.High = *low, *high
		}
		s.Points = append(s.Points, q)
	}
	return s
}

// rampFloor is the lower end of a ramp's axis: a multiple of 10 % below
// everything drawn.
func rampFloor(points []profile.RampPoint, lowest float64) float64 {
	for _, p := range points {
		for _, v := range []*float64{p.WorkloadRatio, p.WorkloadLow, p.KernelRatio, p.KernelLow, p.PerCPURatio, p.PerCPULow} {
			if v != nil {
				lowest = min(lowest, *v)
			}
		}
	}
	return max(0, math.Floor((lowest-0.02)*10)/10)
}

// stepsChart draws the timed steps of a decision as one bar in proportion.
func stepsChart(steps []cluster.Step) template.HTML {
	var parts []chart.Share
	total := time.Duration(0)
	for _, s := range steps {
		total += s.Duration
		parts = append(parts, chart.Share{Value: s.Duration.Seconds(), Note: s.Name + " " + wording.Duration(s.Duration)})
	}
	return chart.Shares("time per step, "+wording.Duration(total)+" in all", 640, parts)
}

// historyChart draws what was measured over time against the target and what
// was predicted. Windows that missed the target have a mark.
func historyChart(t performance.Target, e wording.Expectation, h wording.History) template.HTML {
	known := h.Known()
	if len(known) < 2 {
		return ""
	}
	newest := known[len(known)-1]
	label := fmt.Sprintf("measured over time: %d windows, the last %s", len(known), wording.Quantity(newest.Value, newest.Unit))
	var marks []chart.Mark
	if e.Known && e.Comparable {
		marks = append(marks, chart.Mark{Kind: "predicted", At: e.Value, Low: e.Low, High: e.High})
	}
	if want, unit, ok := t.Value(); ok {
		label += ", target " + wording.Quantity(want, unit) + fmt.Sprintf(", met in %d of %d windows", h.Met, h.Judged)
		marks = append(marks, chart.Mark{Kind: "target", At: want})
	}
	missed := chart.Series{Kind: "missed", Style: chart.Dots}
	for i, p := range overTime(known) {
		if known[i].Verdict == wording.Missed {
			p.Note = "target missed: " + known[i].String()
			missed.Points = append(missed.Points, p)
		}
	}
	span := newest.At.Sub(known[0].At)
	return chart.Plot{
		Label: label, Width: 640, Height: 190, Marks: marks,
		X:      chart.Axis{Title: wording.Duration(span.Round(time.Second)) + " of observations", High: span.Seconds(), Ticks: []float64{}},
		Y:      chart.Axis{Title: newest.Unit, Text: wording.Number},
		Series: []chart.Series{{Kind: "measured", Points: overTime(known)}, missed},
	}.SVG()
}

// overTime are the windows as points, in seconds since the first.
func overTime(known []wording.Window) []chart.Point {
	out := make([]chart.Point, len(known))
	for i, w := range known {
		out[i] = chart.Point{X: w.At.Sub(known[0].At).Seconds(), Y: w.Value}
	}
	return out
}

// sparkline is a small history for a row of a table: no axes, the target
// dashed, the newest window a dot.
func sparkline(t performance.Target, h wording.History) template.HTML {
	known := h.Known()
	if len(known) < 2 {
		return ""
	}
	low, high := known[0].Value, known[0].Value
	for _, w := range known {
		low, high = min(low, w.Value), max(high, w.Value)
	}
	newest := known[len(known)-1]
	label := fmt.Sprintf("%d windows between %s and %s", len(known), wording.Quantity(low, newest.Unit), wording.Quantity(high, newest.Unit))
	var marks []chart.Mark
	if want, _, ok := t.Value(); ok {
		marks = []chart.Mark{{Kind: "target", At: want}}
		low, high = min(low, want), max(high, want)
	}
	points := overTime(known)
	end := points[len(points)-1]
	end.Note = "newest: " + newest.String()
	last := chart.Series{Kind: "measured", Style: chart.Dots, Points: []chart.Point{end}}
	if newest.Verdict == wording.Missed {
		last.Kind = "missed"
	}
	return chart.Plot{
		Label: label, Width: 130, Height: 28, Bare: true, X: chart.Axis{Tight: true}, Y: chart.Axis{Low: low, High: high},
		Marks: marks, Series: []chart.Series{{Kind: "measured", Points: points}, last},
	}.SVG()
}

// scaleUpChart draws the performance in isolation over the cores of the copy.
func scaleUpChart(points []profile.ScalePoint) template.HTML {
	if len(points) < 2 {
		return ""
	}
	var cores []float64
	s := chart.Series{Kind: "tolerated", Style: chart.Dots}
	for _, p := range points {
		cores = append(cores, float64(p.Cores))
		s.Points = append(s.Points, chart.Point{X: float64(p.Cores), Y: p.Speed.Value, Low: p.Speed.Low, High: p.Speed.High, Note: scalePointText(p)})
	}
	slices.Sort(cores)
	return chart.Plot{
		Label: "performance in isolation by number of cores", Width: 560, Height: 210,
		X:      chart.Axis{Title: "cores", High: cores[len(cores)-1], Ticks: slices.Compact(cores)},
		Y:      chart.Axis{Title: points[0].Speed.Unit, Text: wording.Number},
		Series: []chart.Series{s},
	}.SVG()
}

func scalePointText(p profile.ScalePoint) string {
	text := fmt.Sprintf("%d cores", p.Cores)
	if p.MemoryMB > 0 {
		text += fmt.Sprintf(", %d MiB", p.MemoryMB)
	}
	return text + ": " + wording.Number(p.Speed.Value) + " " + p.Speed.Unit
}
