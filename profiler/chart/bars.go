package chart

import "html/template"

// Bars is a chart of horizontal bars over one axis, a row each.
type Bars struct {
	Label  string // what it shows, for those who cannot see it
	Width  int
	Axis   Axis
	Target float64 // a line across all bars; NaN: none
	Rows   []Bar
}

// Bar is one bar.
type Bar struct {
	Name, Kind string
	Value      float64 // NaN: not known, the text is in its place
	Low, High  float64 // its interval; equal or NaN: none
	Text       string  // behind the bar
	Faint      bool    // not measured
}

// The layout of bars in pixels.
const (
	barRow    = 30
	barHeight = 18
	gap       = 8
)

// SVG draws the bars.
func (b Bars) SVG() template.HTML {
	names, texts, values := 0.0, 0.0, []float64{b.Target}
	for _, r := range b.Rows {
		names = max(names, textWidth(r.Name))
		if finite(r.Value) {
			texts, values = max(texts, textWidth(r.Text)), append(values, r.Value, r.High)
		}
	}
	b.Axis = b.Axis.fit(values)
	height := barRow*len(b.Rows) + 24
	bottom := float64(height - 18)
	x := scale{b.Axis, names + 2*gap, float64(b.Width) - texts - 3*gap}
	d := NewDrawing(b.Width, height, b.Label, Class("chart-svg"))
	for _, v := range b.Axis.Ticks {
		d.Line(x.at(v), 4, x.at(v), bottom, "", Class("chart-grid"))
		d.Text(x.at(v), bottom+13, b.Axis.Text(v), Class("chart-tick"), anchored("middle"))
	}
	for i, r := range b.Rows {
		r.draw(d, x, float64(i*barRow)+8)
	}
	if finite(b.Target) {
		d.Line(x.at(b.Target), 2, x.at(b.Target), bottom, "target", Class("chart-mark chart-target"))
	}
	return d.SVG()
}

func (r Bar) draw(d *Drawing, x scale, y float64) {
	d.Text(x.from-gap, y+13, r.Name, Class("chart-name"), anchored("end"))
	if !finite(r.Value) {
		d.Text(x.from+gap, y+13, r.Text, Class("chart-missing"))
		return
	}
	end := x.at(r.Value)
	d.Rect(x.from, y, end-x.from, barHeight, r.Text, r.class())
	if r.High > r.Low {
		d.whisker(x.at(r.Low), x.at(r.High), y+barHeight/2)
		end = max(end, x.at(r.High))
	}
	d.Text(end+gap, y+13, r.Text, Class("chart-value"))
}

func (r Bar) class() Attr {
	if r.Faint {
		return Class("chart-bar chart-faint chart-" + r.Kind)
	}
	return Class("chart-bar chart-" + r.Kind)
}

// Track draws one bar of 0 to top for a cell of a table, with its interval. What
// is not known is an empty, dashed track.
func Track(label string, width int, top float64, b Bar) template.HTML {
	const height, edge = 16, 1
	x := scale{Axis{High: top}, edge, float64(width) - edge}
	d := NewDrawing(width, height, label, Class("chart-svg chart-cell"))
	if !finite(b.Value) {
		d.Rect(x.from, 3, x.to-x.from, 10, "", Class("chart-track chart-unknown"))
		return d.SVG()
	}
	d.Rect(x.from, 3, x.to-x.from, 10, "", Class("chart-track"))
	d.Rect(x.from, 3, x.at(b.Value)-x.from, 10, "", b.class())
	if b.High > b.Low {
		d.whisker(x.at(b.Low), x.at(b.High), height/2)
	}
	return d.SVG()
}

// Share is one part of a whole.
type Share struct {
	Value float64
	Note  string // shown on hovering
}

// Shares draws the parts of a whole as one bar, in the numbered colours.
func Shares(label string, width int, parts []Share) template.HTML {
	d := NewDrawing(width, 22, label, Class("chart-svg"))
	total := 0.0
	for _, p := range parts {
		total += p.Value
	}
	if total <= 0 {
		return d.SVG()
	}
	x := 0.0
	for i, p := range parts {
		w := p.Value / total * float64(width)
		d.Rect(x, 2, max(w-2, 0.5), barHeight, p.Note, Class("chart-bar chart-"+Colour(i)))
		x += w
	}
	return d.SVG()
}
