package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

//go:embed page.html.tmpl
var files embed.FS

var page = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"value": value, "curves": curves, "usage": usagePicture, "heat": heatPicture, "name": lineName, "metrics": Metrics, "figure": figureOf,
}).ParseFS(files, "page.html.tmpl"))

// HTML writes the report as one page that loads nothing.
func (r *Report) HTML(w io.Writer) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

func lineName(l Line) string {
	if l.Load == 0 {
		return l.Policy
	}
	return fmt.Sprintf("%s at %g", l.Policy, l.Load)
}

func figureOf(l Line, name string) *Figure {
	if f, ok := l.Figure(name); ok {
		return &f
	}
	return nil
}

// value prints a figure with half its interval.
func value(f *Figure) string {
	if f == nil {
		return "–"
	}
	out := decimal(f.Mean)
	if f.Low != nil {
		out += " ±" + decimal(f.Mean-*f.Low)
	}
	return out
}

func decimal(v float64) string {
	digits := 1
	if math.Abs(v) >= 1000 {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// The size of a drawing, in its own units.
const (
	width, height = 640, 280
	left, bottom  = 44, 28
	top, right    = 10, 130
)

// picture is an SVG being drawn.
type picture struct{ strings.Builder }

func (p *picture) add(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *picture) svg(label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		width, height, template.HTMLEscapeString(label), p.String())) // every part is a number, or was escaped
}

// axes draws percent upwards and a text below.
func (p *picture) axes(most float64, below, first, last string) {
	for i := range 5 {
		share := float64(i) / 4
		y := py(share)
		p.add(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" class="end">%.0f %%</text>`,
			left, width-right, y, y, left-4, y+4, 100*most*share)
	}
	y := height - 8
	p.add(`<text x="%d" y="%d">%s</text><text x="%d" y="%d" class="end">%s</text><text x="%d" y="%d" class="middle">%s</text>`,
		left, y, first, width-right, y, last, (left+width-right)/2, y, template.HTMLEscapeString(below))
}

func px(share float64) float64 { return left + share*(width-left-right) }
func py(share float64) float64 { return height - bottom - share*(height-top-bottom) }

func (p *picture) line(class int, values []float64, most float64) {
	p.add(`<polyline class="s%d" points="`, class%8)
	for i, v := range values {
		p.add("%.1f,%.1f ", px(float64(i)/float64(max(1, len(values)-1))), py(min(1, max(0, v/most))))
	}
	p.add(`"/>`)
}

func (p *picture) legend(at int, text string) {
	y := top + 12 + 16*at
	p.add(`<line class="s%d" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">%s</text>`,
		at%8, width-right+6, width-right+22, y-4, y-4, width-right+26, y, template.HTMLEscapeString(text))
}

// curves draws the performance of jobs from worst to best, a line per policy.
func curves(r *Report, wait bool) template.HTML {
	var p picture
	p.axes(1.1, "jobs, from worst to best", "0 %", "100 %")
	for i, l := range r.Lines {
		values := l.Curve
		if wait {
			values = l.WithWait
		}
		p.line(i, values, 1.1)
		p.legend(i, lineName(l))
	}
	return p.svg("performance of jobs from worst to best")
}

// usagePicture draws used, allocated and reserved cores over time.
func usagePicture(l Line) template.HTML {
	var p picture
	series := [3][]float64{}
	most := 1.0
	for _, u := range l.Usage {
		for k, v := range []float64{u.Used, u.Allocated, u.Reserved} {
			series[k] = append(series[k], v)
		}
		most = max(most, u.Used, u.Allocated, min(3, u.Reserved))
	}
	end := "0 s"
	if n := len(l.Usage); n > 0 {
		end = fmt.Sprintf("%.0f s", l.Usage[n-1].Seconds)
	}
	p.axes(most, "time", "0 s", end)
	for k, name := range []string{"used", "allocated", "reserved"} {
		p.line(k, series[k], most)
		p.legend(k, name)
	}
	return p.svg("cores used, allocated and reserved over time, " + lineName(l))
}

// heatPicture draws the used share of nodes over time: a row per group of nodes.
func heatPicture(l Line) template.HTML {
	var p picture
	rows := len(l.Heat)
	for i, row := range l.Heat {
		y0, y1 := float64(top)+float64(i)*float64(height-top-bottom)/float64(rows), float64(height-top-bottom)/float64(rows)
		for j, v := range row {
			if v < 0.005 {
				continue
			}
			p.add(`<rect x="%.1f" y="%.1f" width="%.2f" height="%.2f" fill-opacity="%.2f"/>`,
				px(float64(j)/float64(len(row))), y0, float64(width-left-right)/float64(len(row))+0.3, y1, min(1, v))
		}
	}
	p.add(`<text x="%d" y="%d" class="middle">time; rows are nodes, darker is busier</text>`, (left+width-right)/2, height-8)
	return p.svg("used share of nodes over time, " + lineName(l))
}
