package chart

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plot is a chart of lines and dots over two axes.
type Plot struct {
	Label         string // what it shows, for those who cannot see it
	Title         string // above it; empty: none
	Width, Height int    // in pixels; a legend adds to the height
	X, Y          Axis
	Marks         []Mark // across the plot
	Series        []Series
	Diagonal      bool // from the beginning of both axes to their ends
	Bare          bool // without axes, for a cell of a table
}

// Mark is a line across a plot: a target, a bound, a prediction.
type Mark struct {
	Name      string // in the legend; empty: not there
	Kind      string // colour: target, predicted
	At        float64
	Low, High float64 // its interval; equal: none
}

// Series is one line of a plot.
type Series struct {
	Name   string // in the legend; empty: not there
	Kind   string // colour: measured, tolerated, caused, missed, or that of Colour; empty: by position
	Style  Style
	Points []Point
}

// Style is how a series is drawn.
type Style int

// The styles of a series.
const (
	Line Style = iota
	Dots
	LineAndDots
)

// Point is one point of a series. One without a Y (NaN) is left out.
type Point struct {
	X, Y      float64
	Low, High float64 // its interval; equal or NaN: none
	Note      string  // shown on hovering, where the series has dots
}

// Points are points without intervals.
func Points(x, y []float64) []Point {
	out := make([]Point, len(x))
	for i := range x {
		out[i] = Point{X: x[i], Y: y[i]}
	}
	return out
}

// colours is how many numbered colours chart.css has.
const colours = 8

// Colour is the kind of the i-th numbered colour, with its dashes.
func Colour(i int) string { return strconv.Itoa(i % colours) }

// legendLine is the height of a line of the legend.
const legendLine = 18

// SVG draws the plot.
func (p Plot) SVG() template.HTML {
	p.Series = slices.Clone(p.Series)
	for i := range p.Series {
		if p.Series[i].Kind == "" {
			p.Series[i].Kind = Colour(i)
		}
	}
	p.X, p.Y = p.X.fit(p.values(func(q Point) []float64 { return []float64{q.X} }, nil)), p.Y.fit(p.values(
		func(q Point) []float64 { return []float64{q.Y, q.Low, q.High} },
		func(m Mark) []float64 { return []float64{m.At, m.Low, m.High} }))
	f := p.frame()
	legend, lines := p.legend(f.x.from)
	kind := "chart-svg"
	if p.Bare {
		kind += " chart-cell"
	}
	d := NewDrawing(p.Width, p.Height+lines*legendLine, p.Label, Class(kind))
	if p.Title != "" {
		d.Text(f.x.from, 16, p.Title, Class("chart-title"))
	}
	if !p.Bare {
		p.axes(d, f)
	}
	for _, m := range p.Marks {
		f.mark(d, m)
	}
	for _, s := range p.Series {
		f.series(d, s)
	}
	for _, e := range legend {
		e.draw(d, float64(p.Height))
	}
	return d.SVG()
}

// values are the numbers that an axis has to hold.
func (p Plot) values(of func(Point) []float64, mark func(Mark) []float64) []float64 {
	var out []float64
	for _, s := range p.Series {
		for _, q := range s.Points {
			if finite(q.Y) {
				v := of(q)
				if q.High <= q.Low {
					v = v[:1]
				}
				out = append(out, v...)
			}
		}
	}
	if mark != nil {
		for _, m := range p.Marks {
			v := mark(m)
			if m.High <= m.Low {
				v = v[:1]
			}
			out = append(out, v...)
		}
	}
	return out
}

// frame is where the values of a plot are in it.
type frame struct{ x, y scale }

func (p Plot) frame() frame {
	const edge = 3
	left, right, top, bottom := 10.0, 14.0, 10.0, 8.0
	switch {
	case p.Bare:
		left, right, top, bottom = edge, edge, edge, edge
	default:
		left += widest(p.Y)
		if p.Y.Title != "" {
			left += 18
		}
		if len(p.X.Ticks) > 0 {
			right = max(right, 2+textWidth(p.X.Text(p.X.Ticks[len(p.X.Ticks)-1]))/2)
			bottom += 14
		}
		if p.X.Title != "" {
			bottom += 16
		}
		if p.Title != "" {
			top += 18
		}
	}
	return frame{scale{p.X, left, float64(p.Width) - right}, scale{p.Y, float64(p.Height) - bottom, top}}
}

// widest is the width of the widest tick.
func widest(a Axis) float64 {
	w := 0.0
	for _, v := range a.Ticks {
		w = max(w, textWidth(a.Text(v)))
	}
	return w
}

func (p Plot) axes(d *Drawing, f frame) {
	left, right, top, bottom := f.x.from, f.x.to, f.y.to, f.y.from
	for _, v := range p.Y.Ticks {
		d.Line(left, f.y.at(v), right, f.y.at(v), "", Class("chart-grid"))
		d.Text(left-6, f.y.at(v)+4, p.Y.Text(v), Class("chart-tick"), anchored("end"))
	}
	for _, v := range p.X.Ticks {
		d.Line(f.x.at(v), bottom, f.x.at(v), bottom+4, "", Class("chart-axis"))
		d.Text(f.x.at(v), bottom+15, p.X.Text(v), Class("chart-tick"), anchored("middle"))
	}
	d.Line(left, bottom, right, bottom, "", Class("chart-axis"))
	if p.Diagonal {
		d.Line(left, bottom, right, top, "", Class("chart-diagonal"))
	}
	if p.X.Title != "" {
		d.Text((left+right)/2, float64(p.Height)-6, p.X.Title, Class("chart-tick"), anchored("middle"))
	}
	if p.Y.Title != "" {
		middle := px((top + bottom) / 2)
		d.Text(12, (top+bottom)/2, p.Y.Title, Class("chart-tick"), anchored("middle"), Attr{"transform", "rotate(-90 12 " + middle + ")"})
	}
}

func (f frame) mark(d *Drawing, m Mark) {
	if m.High > m.Low {
		d.Rect(f.x.from, f.y.at(m.High), f.x.to-f.x.from, f.y.at(m.Low)-f.y.at(m.High), m.Name, Class("chart-band chart-"+m.Kind))
	}
	d.Line(f.x.from, f.y.at(m.At), f.x.to, f.y.at(m.At), m.Name, Class("chart-mark chart-"+m.Kind))
}

// series draws intervals first, then the line, then the dots.
func (f frame) series(d *Drawing, s Series) {
	colour := " chart-" + s.Kind
	var line strings.Builder
	for _, q := range s.Points {
		if !finite(q.Y) {
			continue
		}
		if q.High > q.Low {
			d.Line(f.x.at(q.X), f.y.at(q.Low), f.x.at(q.X), f.y.at(q.High), "", Class("chart-interval"+colour))
		}
		verb := "L"
		if line.Len() == 0 {
			verb = "M"
		}
		line.WriteString(verb + px(f.x.at(q.X)) + " " + px(f.y.at(q.Y)))
	}
	if s.Style != Dots && line.Len() > 0 {
		d.Path(line.String(), s.Name, Class("chart-line"+colour))
	}
	if s.Style == Line {
		return
	}
	for _, q := range s.Points {
		if finite(q.Y) {
			d.Circle(f.x.at(q.X), f.y.at(q.Y), 3, q.Note, Class("chart-dot"+colour))
		}
	}
}

// legendEntry is a name in the legend; x and line are where it is.
type legendEntry struct {
	name, class string
	dot         bool
	x           float64
	line        int
}

// legend places the names of marks and series below the plot, in lines.
func (p Plot) legend(left float64) (entries []legendEntry, lines int) {
	for _, s := range p.Series {
		if s.Name != "" {
			e := legendEntry{name: s.Name, class: "chart-line chart-" + s.Kind}
			if e.dot = s.Style == Dots; e.dot {
				e.class = "chart-dot chart-" + s.Kind
			}
			entries = append(entries, e)
		}
	}
	for _, m := range p.Marks {
		if m.Name != "" {
			entries = append(entries, legendEntry{name: m.Name, class: "chart-mark chart-" + m.Kind})
		}
	}
	if len(entries) == 0 {
		return nil, 0
	}
	x, line := left, 0
	for i := range entries {
		e := &entries[i]
		width := 46 + textWidth(e.name)
		if x > left && x+width > float64(p.Width)+14 {
			x, line = left, line+1
		}
		e.x, e.line = x, line
		x += width
	}
	return entries, line + 1
}

func (e legendEntry) draw(d *Drawing, top float64) {
	y := math.Round(top) + legendLine*float64(e.line) + 8
	if e.dot {
		d.Circle(e.x+13, y, 3, "", Class(e.class))
	} else {
		d.Line(e.x, y, e.x+26, y, "", Class(e.class))
	}
	d.Text(e.x+32, y+4, e.name, Class("chart-name"))
}
