package plot

import (
	"fmt"
	"math"
	"strings"
)

// Lines is a line chart. Its axes begin at 0.
type Lines struct {
	Title          string // above the chart, and read by screen readers
	XLabel, YLabel string
	XMax, YMax     float64
	Diagonal       bool // from nothing at 0 to the end of both axes
	Series         []Series
}

// Series is one line of a chart. Points whose Y is NaN are left out.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // interval of each point; empty for none
	Colour    int       // of the page's s0, s1, …
	Dots      bool      // dots without a line
	Dashed    bool
}

// The layout of a line chart in pixels.
const (
	linesWidth   = 420
	linesHeight  = 276
	marginLeft   = 44
	marginRight  = 12
	marginTop    = 30 // the title
	marginBottom = 58 // axis, its label, and the legend
	legendStep   = 128
	gridLines    = 5
)

// SVG draws the chart.
func (l Lines) SVG() string {
	d := newDrawing(linesWidth, linesHeight, l.Title)
	x := scale{to: l.XMax, first: marginLeft, last: linesWidth - marginRight}
	y := scale{to: l.YMax, first: linesHeight - marginBottom, last: marginTop}
	d.add(`<text class="label title" x="%d" y="16">%s</text>`, marginLeft, escape(l.Title))
	l.axes(d, x, y)
	step := legendStep
	if n := len(l.Series); n > 0 {
		step = min(step, (linesWidth-marginLeft)/n)
	}
	for i, s := range l.Series {
		s.draw(d, x, y)
		s.legend(d, float64(marginLeft+i*step))
	}
	return d.done()
}

// legend is the series' name and how it looks.
func (s Series) legend(d *drawing, at float64) {
	const y = linesHeight - 8
	if s.Dots {
		d.add(`<circle class="dot s%d" cx="%s" cy="%d" r="2.2"/>`, s.Colour, num(at+9), y)
	} else {
		d.add(`<line class="line s%d%s" x1="%s" y1="%d" x2="%s" y2="%d"/>`, s.Colour, s.dash(), num(at), y, num(at+18), y)
	}
	d.text(at+22, y+4, "start", s.Name)
}

func (l Lines) axes(d *drawing, x, y scale) {
	for i := range gridLines + 1 {
		share := float64(i) / gridLines
		vx, vy := share*l.XMax, share*l.YMax
		d.add(`<line class="grid" x1="%s" y1="%s" x2="%s" y2="%s"/>`, num(x.first), num(y.at(vy)), num(x.last), num(y.at(vy)))
		d.text(x.at(vx), y.first+14, "middle", short(vx))
		d.text(x.first-4, y.at(vy)+4, "end", short(vy))
	}
	if l.Diagonal {
		d.add(`<line class="axis dashed" x1="%s" y1="%s" x2="%s" y2="%s"/>`, num(x.first), num(y.first), num(x.last), num(y.last))
	}
	d.add(`<path class="axis" d="M%s %s V%s H%s"/>`, num(x.first), num(y.last), num(y.first), num(x.last))
	d.text((x.first+x.last)/2, y.first+30, "middle", l.XLabel)
	d.add(`<text class="label" text-anchor="middle" transform="translate(11 %s) rotate(-90)">%s</text>`, num((y.first+y.last)/2), escape(l.YLabel))
}

func (s Series) dash() string {
	if s.Dashed {
		return " dashed"
	}
	return ""
}

func (s Series) draw(d *drawing, x, y scale) {
	index := s.Colour
	for i := range s.Low {
		if finite(s.Low[i]) && finite(s.High[i]) {
			d.add(`<line class="band s%d" x1="%s" y1="%s" x2="%s" y2="%s"/>`, index,
				num(x.at(s.X[i])), num(y.at(s.Low[i])), num(x.at(s.X[i])), num(y.at(s.High[i])))
		}
	}
	var path strings.Builder
	for i := range s.X {
		if !finite(s.Y[i]) {
			continue
		}
		px, py := num(x.at(s.X[i])), num(y.at(s.Y[i]))
		d.add(`<circle class="dot s%d" cx="%s" cy="%s" r="2.2"/>`, index, px, py)
		command := "L"
		if path.Len() == 0 {
			command = "M"
		}
		fmt.Fprintf(&path, "%s%s %s", command, px, py)
	}
	if !s.Dots && path.Len() > 0 {
		d.add(`<path class="line s%d%s" d="%s"/>`, index, s.dash(), path.String())
	}
}

// scale maps 0..to onto pixels; values outside are drawn at the edge.
type scale struct{ to, first, last float64 }

func (s scale) at(v float64) float64 {
	return s.first + (s.last-s.first)*min(1, max(0, v/s.to))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
