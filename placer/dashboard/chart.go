package dashboard

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// estimateBar draws one score from 0 to 100 with the whisker of its interval.
// An unknown score is an empty, dashed track.
func estimateBar(e interference.Estimate, kind string) template.HTML {
	const width, height = 220, 16
	x := scale{0, 100, 1, width - 1}
	v, known := e.Score.Percent()
	label := kind + " " + wording.Unknown
	if known {
		label = kind + " " + wording.Number(v) + " of 100"
	}
	d := newDrawing(width, height, label, class("bar"))
	if !known {
		d.rect(x.at(0), 3, width-2, 10, class("track unknown"), attr{"rx", "3"})
		return template.HTML(d.done())
	}
	d.rect(x.at(0), 3, width-2, 10, class("track"), attr{"rx", "3"})
	d.rect(x.at(0), 3, x.at(v)-x.at(0), 10, class("value "+kind+" "+string(e.Origin)), attr{"rx", "3"})
	low, okLow := e.Low.Percent()
	high, okHigh := e.High.Percent()
	if okLow && okHigh {
		d.line(x.at(low), 8, x.at(high), 8, class("whisker"))
		d.line(x.at(low), 4, x.at(low), 12, class("whisker"))
		d.line(x.at(high), 4, x.at(high), 12, class("whisker"))
	}
	return template.HTML(d.done())
}

// shareBar draws used out of total; nothing is drawn for an unknown total.
func shareBar(used, total int, what string) template.HTML {
	const width, height = 220, 16
	d := newDrawing(width, height, fmt.Sprintf("%s: %d of %d used", what, used, total), class("bar"))
	d.rect(1, 3, width-2, 10, class("track"), attr{"rx", "3"})
	if total > 0 {
		x := scale{0, float64(total), 0, width - 2}
		d.rect(1, 3, x.at(float64(used)), 10, class("value used"), attr{"rx", "3"})
	}
	return template.HTML(d.done())
}

// percentBar draws a share of 100.
func percentBar(v float64, what string) template.HTML {
	const width, height = 160, 16
	x := scale{0, 100, 0, width - 2}
	d := newDrawing(width, height, what+": "+wording.Number(v)+" %", class("bar"))
	d.rect(1, 3, width-2, 10, class("track"), attr{"rx", "3"})
	d.rect(1, 3, x.at(v), 10, class("value used"), attr{"rx", "3"})
	return template.HTML(d.done())
}

// comparisonChart draws target, prediction and measurement on one axis.
func comparisonChart(c comparison) template.HTML {
	const width, left, right, row = 640, 92, 150, 30
	height := row*len(c.bars) + 24
	d := newDrawing(width, height, c.label(), class("chart"))
	x := scale{0, c.top(), left, width - right}
	bottom := float64(height - 18)
	for _, tick := range []float64{0, 0.5, 1} {
		v := tick * c.top()
		d.line(x.at(v), 4, x.at(v), bottom, class("grid"))
		d.text(x.at(v), bottom+13, wording.Number(v), class("tick"), attr{"text-anchor", "middle"})
	}
	for i, b := range c.bars {
		y := float64(i*row) + 8
		d.text(left-10, y+13, b.name, class("name"), attr{"text-anchor", "end"})
		if !b.known {
			d.text(left+6, y+13, b.text, class("missing"))
			continue
		}
		d.rect(left, y, x.at(b.value)-left, 18, class("mark "+b.name), attr{"rx", "3"})
		if b.low != b.high {
			d.line(x.at(b.low), y+9, x.at(b.high), y+9, class("whisker"))
			d.line(x.at(b.low), y+5, x.at(b.low), y+13, class("whisker"))
			d.line(x.at(b.high), y+5, x.at(b.high), y+13, class("whisker"))
		}
		d.text(max(x.at(b.value), x.at(b.high))+8, y+13, b.text, class("value-label"))
	}
	if want, ok := c.target(); ok {
		d.line(x.at(want), 2, x.at(want), bottom, class("target-line"))
	}
	return template.HTML(d.done())
}

// comparison is target, prediction and measurement in one unit.
type comparison struct{ bars []comparedBar }

type comparedBar struct {
	name             string // target, predicted, measured: also the CSS class
	known            bool
	value, low, high float64
	text             string
}

func compare(t performance.Target, e wording.Expectation, m wording.Measured) comparison {
	want, unit, ok := t.Value()
	target := comparedBar{name: "target", known: ok, value: want, low: want, high: want, text: wording.Target(t)}
	if ok {
		target.text = wording.Quantity(want, unit)
	}
	predicted := comparedBar{name: "predicted", known: e.Known && (e.Comparable || !ok), value: e.Value, low: e.Low, high: e.High, text: e.Short()}
	measured := comparedBar{name: "measured", known: m.Known, value: m.Value, low: m.Value, high: m.Value, text: wording.Unknown}
	if m.Known {
		measured.text = wording.Quantity(m.Value, m.Unit)
	} else if m.Why != "" {
		measured.text = m.Why
	}
	return comparison{[]comparedBar{target, predicted, measured}}
}

func (c comparison) top() float64 {
	top := 0.0
	for _, b := range c.bars {
		if b.known {
			top = max(top, b.value, b.high)
		}
	}
	return niceCeiling(top)
}

func (c comparison) target() (float64, bool) { return c.bars[0].value, c.bars[0].known }

// any reports whether there is a number to draw.
func (c comparison) any() bool {
	return slices.ContainsFunc(c.bars, func(b comparedBar) bool { return b.known })
}

func (c comparison) label() string {
	return fmt.Sprintf("target %s, predicted %s, measured %s", c.bars[0].text, c.bars[1].text, c.bars[2].text)
}

// rampChart draws the workload's share of its performance in isolation over the
// intensity of one kernel, with intervals, the bound, and the kernel's share.
func rampChart(source interference.Source, points []profile.RampPoint, boundPercent float64) template.HTML {
	const width, height, left, right, top, bottom = 300, 190, 40, 12, 14, 34
	floor := rampFloor(points, 1-boundPercent/100)
	x := scale{0, 100, left, width - right}
	y := scale{floor, 1.1, height - bottom, top}
	d := newDrawing(width, height, "ramp of "+wording.Source(source), class("chart ramp"))
	for _, share := range []float64{floor, (floor + 1) / 2, 1} {
		d.line(left, y.at(share), width-right, y.at(share), class("grid"))
		d.text(left-6, y.at(share)+4, wording.Number(share*100)+"%", class("tick"), attr{"text-anchor", "end"})
	}
	for _, v := range []float64{0, 50, 100} {
		d.text(x.at(v), height-bottom+15, wording.Number(v), class("tick"), attr{"text-anchor", "middle"})
	}
	d.text((left+width-right)/2, height-5, "kernel intensity, percent", class("tick"), attr{"text-anchor", "middle"})
	bound := y.at(1 - boundPercent/100)
	d.line(left, bound, width-right, bound, class("target-line"))
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b profile.RampPoint) int {
		return int(math.Copysign(1, a.IntensityPercent-b.IntensityPercent))
	})
	drawSide(d, x, y, points, "caused", "kernel", func(p profile.RampPoint) (v, l, h *float64) {
		return p.KernelRatio, p.KernelLow, p.KernelHigh
	})
	drawSide(d, x, y, points, "tolerated", "workload", func(p profile.RampPoint) (v, l, h *float64) {
		return p.WorkloadRatio, p.WorkloadLow, p.WorkloadHigh
	})
	return template.HTML(d.done())
}

// drawSide draws one series: the line through its points, whiskers, and dots.
func drawSide(d *drawing, x, y scale, points []profile.RampPoint, kind, who string, side func(profile.RampPoint) (v, low, high *float64)) {
	var line []point
	for _, p := range points {
		if v, _, _ := side(p); v != nil {
			line = append(line, point{x.at(p.IntensityPercent), y.at(*v)})
		}
	}
	d.path(line, false, class("series "+kind), fill("none"))
	for _, p := range points {
		v, low, high := side(p)
		if v == nil {
			continue
		}
		at := x.at(p.IntensityPercent)
		if low != nil && high != nil {
			d.line(at, y.at(*low), at, y.at(*high), class("spread "+kind))
		}
		title := fmt.Sprintf("%s at %s %% intensity: %s %% of its performance in isolation, %d pairs", who,
			wording.Number(p.IntensityPercent), wording.Number(*v*100), p.Pairs)
		d.circle(at, y.at(*v), 4, title, class("dot "+kind))
	}
}

// rampFloor is the lower end of a ramp's axis: a multiple of 10 % below
// everything drawn.
func rampFloor(points []profile.RampPoint, lowest float64) float64 {
	for _, p := range points {
		for _, v := range []*float64{p.WorkloadRatio, p.WorkloadLow, p.KernelRatio, p.KernelLow} {
			if v != nil {
				lowest = min(lowest, *v)
			}
		}
	}
	return max(0, math.Floor((lowest-0.02)*10)/10)
}

// stepsChart draws the timed steps of a decision as one bar in proportion.
func stepsChart(steps []cluster.Step) template.HTML {
	const width, height = 640, 22
	total := time.Duration(0)
	for _, s := range steps {
		total += s.Duration
	}
	d := newDrawing(width, height, "time per step, "+wording.Duration(total)+" in all", class("chart steps"))
	if total <= 0 {
		return template.HTML(d.done())
	}
	at := 0.0
	for i, s := range steps {
		w := float64(s.Duration) / float64(total) * width
		d.b.WriteString(`<g class="step step-` + fmt.Sprint(i%6) + `">`)
		d.rect(at, 2, max(w-2, 0.5), 18, attr{"rx", "2"})
		d.b.WriteString("</g>")
		at += w
	}
	return template.HTML(d.done())
}

// historyChart draws what was measured over time against the target and what
// was predicted. Windows that missed the target have a mark.
func historyChart(t performance.Target, e wording.Expectation, h wording.History) template.HTML {
	const width, height, left, right, top, bottom = 640, 150, 64, 12, 10, 26
	known := h.Known()
	if len(known) < 2 {
		return ""
	}
	want, unit, hasTarget := t.Value()
	ceiling := want
	for _, w := range known {
		ceiling = max(ceiling, w.Value)
	}
	ceiling = niceCeiling(ceiling)
	first, last := known[0].At, known[len(known)-1].At
	x := scale{0, last.Sub(first).Seconds(), left, width - right}
	y := scale{0, ceiling, height - bottom, top}
	label := fmt.Sprintf("measured over time: %d windows, the last %s", len(known), wording.Quantity(known[len(known)-1].Value, known[0].Unit))
	if hasTarget {
		label += ", target " + wording.Quantity(want, unit) + fmt.Sprintf(", met in %d of %d windows", h.Met, h.Judged)
	}
	d := newDrawing(width, height, label, class("chart"))
	for _, f := range []float64{0, 0.5, 1} {
		v := f * ceiling
		d.line(left, y.at(v), width-right, y.at(v), class("grid"))
		d.text(left-6, y.at(v)+4, wording.Number(v), class("tick"), attr{"text-anchor", "end"})
	}
	d.text(left, height-8, wording.Duration(last.Sub(first).Round(time.Second))+" of observations", class("tick"))
	if e.Known && e.Comparable {
		d.rect(left, y.at(e.High), width-right-left, y.at(e.Low)-y.at(e.High), class("expected"))
		d.line(left, y.at(e.Value), width-right, y.at(e.Value), class("predicted-line"))
	}
	if hasTarget {
		d.line(left, y.at(want), width-right, y.at(want), class("target-line"))
	}
	line := make([]point, len(known))
	for i, w := range known {
		line[i] = point{x.at(w.At.Sub(first).Seconds()), y.at(w.Value)}
	}
	d.path(line, false, class("series measured"), fill("none"))
	for i, w := range known {
		if w.Verdict == wording.Missed {
			d.circle(line[i].x, line[i].y, 3.5, "target missed: "+w.String(), class("dot missed"))
		}
	}
	return template.HTML(d.done())
}

// sparkline is a small history for a row of a table: no axes, the target
// dashed.
func sparkline(t performance.Target, h wording.History) template.HTML {
	const width, height, edge = 130, 28, 3
	known := h.Known()
	if len(known) < 2 {
		return ""
	}
	low, high := known[0].Value, known[0].Value
	for _, w := range known {
		low, high = min(low, w.Value), max(high, w.Value)
	}
	unit := known[0].Unit
	label := fmt.Sprintf("%d windows between %s and %s", len(known), wording.Quantity(low, unit), wording.Quantity(high, unit))
	want, _, hasTarget := t.Value()
	if hasTarget {
		low, high = min(low, want), max(high, want)
	}
	x := scale{0, known[len(known)-1].At.Sub(known[0].At).Seconds(), edge, width - edge}
	y := scale{low, high, height - edge, edge}
	d := newDrawing(width, height, label, class("spark"))
	if hasTarget {
		d.line(0, y.at(want), width, y.at(want), class("target-line"))
	}
	line := make([]point, len(known))
	for i, w := range known {
		line[i] = point{x.at(w.At.Sub(known[0].At).Seconds()), y.at(w.Value)}
	}
	d.path(line, false, class("series measured"), fill("none"))
	end, newest := line[len(line)-1], known[len(known)-1]
	mark := "dot measured"
	if newest.Verdict == wording.Missed {
		mark = "dot missed"
	}
	d.circle(end.x, end.y, 3, "newest: "+newest.String(), class(mark))
	return template.HTML(d.done())
}

// scaleUpChart draws the performance in isolation over the cores of the copy.
func scaleUpChart(points []profile.ScalePoint) template.HTML {
	const width, height, left, right, top, bottom = 420, 190, 64, 12, 14, 34
	if len(points) < 2 {
		return ""
	}
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b profile.ScalePoint) int { return a.Cores - b.Cores })
	highest := 0.0
	for _, p := range points {
		highest = max(highest, p.Speed.Value, p.Speed.High)
	}
	x := scale{0, float64(points[len(points)-1].Cores), left, width - right - 20}
	y := scale{0, niceCeiling(highest), height - bottom, top}
	d := newDrawing(width, height, "performance in isolation by number of cores", class("chart"))
	for _, f := range []float64{0, 0.5, 1} {
		v := f * niceCeiling(highest)
		d.line(left, y.at(v), width-right, y.at(v), class("grid"))
		d.text(left-6, y.at(v)+4, wording.Number(v), class("tick"), attr{"text-anchor", "end"})
	}
	d.text((left+width-right)/2, height-5, "cores", class("tick"), attr{"text-anchor", "middle"})
	for _, p := range points {
		at := x.at(float64(p.Cores))
		d.text(at, height-bottom+15, fmt.Sprint(p.Cores), class("tick"), attr{"text-anchor", "middle"})
		if p.Speed.High > p.Speed.Low {
			d.line(at, y.at(p.Speed.Low), at, y.at(p.Speed.High), class("spread tolerated"))
		}
		d.circle(at, y.at(p.Speed.Value), 4, scalePointText(p), class("dot tolerated"))
	}
	return template.HTML(d.done())
}

func scalePointText(p profile.ScalePoint) string {
	text := fmt.Sprintf("%d cores", p.Cores)
	if p.MemoryMB > 0 {
		text += fmt.Sprintf(", %d MiB", p.MemoryMB)
	}
	return text + ": " + wording.Number(p.Speed.Value) + " " + p.Speed.Unit
}
