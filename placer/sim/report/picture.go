package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// The size of a drawing, in its own units.
const (
	width, height = 720, 280
	left, bottom  = 56, 28
	top, right    = 10, 190
)

// picture is an SVG being drawn.
type picture struct{ strings.Builder }

func (p *picture) add(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *picture) svg(label string) template.HTML {
	text := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, width, height, template.HTMLEscapeString(label), p.String())
	return template.HTML(text) //nolint:gosec // every part is a number, or was escaped
}

// axis is how values become shares of a side of the drawing.
type axis struct {
	low, high float64
	log       bool
	unit      string
}

func (a axis) share(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, low))
	}
	if high <= low {
		return 0
	}
	return min(1, max(0, (v-low)/(high-low)))
}

// at is the value at a share of the axis, as text.
func (a axis) at(share float64) string {
	v := a.low + share*(a.high-a.low)
	if a.log {
		v = math.Exp(math.Log(a.low) + share*(math.Log(a.high)-math.Log(a.low)))
	}
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if a.unit != "" {
		text += " " + a.unit
	}
	return template.HTMLEscapeString(text)
}

// ticks is the number of intervals that an axis is marked at.
const ticks = 4

// axes draws both axes and what stands below.
func (p *picture) axes(x, y axis, below string) {
	for i := range ticks + 1 {
		share := float64(i) / ticks
		p.add(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" class="end">%s</text>`,
			left, width-right, py(share), py(share), left-4, py(share)+4, y.at(share))
	}
	base := height - 8
	p.add(`<text x="%d" y="%d">%s</text><text x="%d" y="%d" class="end">%s</text><text x="%d" y="%d" class="middle">%s</text>`,
		left, base, x.at(0), width-right, base, x.at(1), (left+width-right)/2, base, template.HTMLEscapeString(below))
}

func px(share float64) float64 { return left + share*(width-left-right) }
func py(share float64) float64 { return height - bottom - share*(height-top-bottom) }

func (p *picture) legend(at int, text string) {
	y := top + 12 + 16*at
	p.add(`<line class="s%d" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">%s</text>`,
		at%8, width-right+6, width-right+28, y-4, y-4, width-right+32, y, template.HTMLEscapeString(text))
}

// Series is one line of a plot.
type Series struct {
	Name string
	X, Y []float64
}

// Axes says what a plot shows.
type Axes struct {
	Label        string // for those who cannot see it
	X            string // what stands below
	XUnit, YUnit string
	XLog, YLog   bool
	YMost        float64 // 0: the highest value
}

// Plot draws lines through points. Values that a logarithm does not have are
// drawn at the lower end.
func Plot(a Axes, series []Series) template.HTML {
	x, y := axis{math.Inf(1), math.Inf(-1), a.XLog, a.XUnit}, axis{math.Inf(1), a.YMost, a.YLog, a.YUnit}
	for _, s := range series {
		for i := range s.X {
			x.include(s.X[i])
			y.include(s.Y[i])
		}
	}
	x.finish()
	if !a.YLog {
		y.low = 0
	}
	y.finish()
	var p picture
	p.axes(x, y, a.X)
	for k, s := range series {
		p.add(`<polyline class="s%d" points="`, k%8)
		for i := range s.X {
			p.add("%.1f,%.1f ", px(x.share(s.X[i])), py(y.share(s.Y[i])))
		}
		p.add(`"/>`)
		p.legend(k, s.Name)
	}
	return p.svg(a.Label)
}

func (a *axis) include(v float64) {
	if math.IsNaN(v) || a.log && v <= 0 {
		return
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
}

// finish makes an axis of nothing, or of one value, drawable.
func (a *axis) finish() {
	switch {
	case a.low > a.high || math.IsInf(a.low, 0):
		a.low, a.high = 1, 10
	case a.low == a.high:
		a.high = a.low + 1
	}
}

// CurvesPicture draws the performance of jobs from worst to best, a line each.
func CurvesPicture(lines []Line, names []string, wait bool) template.HTML {
	var series []Series
	for i := range lines {
		values := lines[i].Curve
		if wait {
			values = lines[i].WithWait
		}
		series = append(series, Series{names[i], quantiles(len(values)), scaled(values, 100, curveMost)})
	}
	return Plot(Axes{Label: "performance of jobs from worst to best", X: "jobs, from worst to best", XUnit: "%", YUnit: "%", YMost: curveMost}, series)
}

// curveMost is where curves are cut, percent: a job with a target may be faster.
const curveMost = 100

// CDFPicture draws how many jobs have at most a value: one of the Spread
// constants, times a factor.
func CDFPicture(lines []Line, names []string, spread, below, unit string, factor float64, log bool) template.HTML {
	var series []Series
	for i := range lines {
		values := lines[i].Spread[spread]
		series = append(series, Series{names[i], scaled(values, factor, math.Inf(1)), quantiles(len(values))})
	}
	return Plot(Axes{Label: "share of jobs with at most: " + below, X: below, XUnit: unit, XLog: log, YUnit: "%", YMost: 100}, series)
}

// quantiles are the percent at which n points of a distribution lie.
func quantiles(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 * float64(i) / float64(max(1, n-1))
	}
	return out
}

func scaled(values []float64, factor, most float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = min(most, v*factor)
	}
	return out
}

// reservedMost cuts reservations in pictures, percent of the cores.
const reservedMost = 300

// UsagePicture draws used, allocated and reserved cores over time.
func UsagePicture(l Line, name string) template.HTML {
	series := []Series{{Name: "used"}, {Name: "allocated"}, {Name: "reserved"}}
	for _, u := range l.Usage {
		for k, v := range []float64{u.Used, u.Allocated, min(reservedMost/100, u.Reserved)} {
			series[k].X, series[k].Y = append(series[k].X, u.Seconds), append(series[k].Y, 100*v)
		}
	}
	return Plot(Axes{Label: "cores used, allocated and reserved over time, " + name, X: "time", XUnit: "s", YUnit: "%", YMost: 100}, series)
}

// heatLevels is how many shades a heat map has.
const heatLevels = 20

// HeatPicture draws the used share of nodes over time: a row per group of nodes,
// a path per shade.
func HeatPicture(l Line, name string) template.HTML {
	var p picture
	var shades [heatLevels + 1]strings.Builder
	rows := len(l.Heat)
	for i, row := range l.Heat {
		y0, y1 := heatEdge(top, height-bottom, i, rows), heatEdge(top, height-bottom, i+1, rows)
		for from := 0; from < len(row); {
			shade := heatShade(row[from])
			to := from + 1
			for to < len(row) && heatShade(row[to]) == shade {
				to++
			}
			x0, x1 := heatEdge(left, width-right, from, len(row)), heatEdge(left, width-right, to, len(row))
			fmt.Fprintf(&shades[shade], "M%s %sH%sV%sH%sz", x0, y0, x1, y1, x0)
			from = to
		}
	}
	for shade := 1; shade <= heatLevels; shade++ {
		if shades[shade].Len() > 0 {
			p.add(`<path class="heat" fill-opacity="%.2f" d="%s"/>`, float64(shade)/heatLevels, shades[shade].String())
		}
	}
	p.add(`<text x="%d" y="%d" class="middle">time; rows are nodes, darker is busier</text>`, (left+width-right)/2, height-8)
	return p.svg("used share of nodes over time, " + name)
}

func heatShade(used float64) int { return int(math.Round(heatLevels * min(1, max(0, used)))) }

// heatEdge is where the i-th of n parts of a side begins.
func heatEdge(low, high, i, n int) string {
	return strconv.FormatFloat(float64(low)+float64(high-low)*float64(i)/float64(n), 'f', 1, 64)
}
