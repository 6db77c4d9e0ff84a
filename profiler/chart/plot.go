package chart

import (
	"html/template"
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
	var xs, ys []float64
	for i, s := range p.Series {
		if s.Kind == "" {
			p.Series[i].Kind = Colour(i)
		}
		for _, q := range s.Points {
			if finite(q.Y) {
				xs, ys = append(xs, q.X), append(ys, q.Y, q.Low, q.High)
			}
		}
	}
	for _, m := range p.Marks {
		ys = append(ys, m.At, m.Low, m.High)
	}
	p.X, p.Y = p.X.fit(xs), p.Y.fit(ys)
	f := p.frame()
	class := "chart-svg"
	if p.Bare {
		class += " chart-cell"
	}
	d := NewDrawing(p.Width, p.Height, p.Label, Class(class))
	if !p.Bare {
		p.axes(d, f)
	}
	for _, m := range p.Marks {
		f.mark(d, m)
	}
	for _, s := range p.Series {
		f.series(d, s)
	}
	p.legend(d, f.x.from)
	return d.SVG()
}

// frame is where the values of a plot are in it.
type frame struct{ x, y scale }

func (p Plot) frame() frame {
	if p.Bare {
		const edge = 3
		return frame{scale{p.X, edge, float64(p.Width) - edge}, scale{p.Y, float64(p.Height) - edge, edge}}
	}
	left, right, top, bottom := 10.0, 14.0, 10.0, 8.0
	for _, v := range p.Y.Ticks {
		left = max(left, 10+textWidth(p.Y.Text(v)))
	}
	if p.Y.Title != "" {
		left += 18
	}
	if n := len(p.X.Ticks); n > 0 {
		right, bottom = max(right, 2+textWidth(p.X.Text(p.X.Ticks[n-1]))/2), bottom+14
	}
	if p.X.Title != "" {
		bottom += 16
	}
	if p.Title != "" {
		top += 18
	}
	return frame{scale{p.X, left, float64(p.Width) - right}, scale{p.Y, float64(p.Height) - bottom, top}}
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
	if p.Title != "" {
		d.Text(left, 16, p.Title, Class("chart-title"))
	}
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

// legend writes the names of series and marks below the plot, in lines.
func (p Plot) legend(d *Drawing, left float64) {
	x, y := left, float64(p.Height)+8
	add := func(name, class string, dot bool) {
		if name == "" {
			return
		}
		if x > left && x+32+textWidth(name) > float64(p.Width) {
			x, y = left, y+legendLine
		}
		if dot {
			d.Circle(x+13, y, 3, "", Class(class))
		} else {
			d.Line(x, y, x+26, y, "", Class(class))
		}
		d.Text(x+32, y+4, name, Class("chart-name"))
		d.height = int(y) + legendLine - 8
		x += 46 + textWidth(name)
	}
	for _, s := range p.Series {
		if s.Style == Dots {
			add(s.Name, "chart-dot chart-"+s.Kind, true)
		} else {
			add(s.Name, "chart-line chart-"+s.Kind, false)
		}
	}
	for _, m := range p.Marks {
		add(m.Name, "chart-mark chart-"+m.Kind, false)
	}
}
