package dashboard

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// drawing writes SVG elements. Every string it is given is escaped here and
// nowhere else; colours of page charts are CSS classes, those of charts that
// stand alone are attributes.
type drawing struct{ b strings.Builder }

// attr is one attribute of an element, in the order written.
type attr struct{ name, value string }

func class(v string) attr { return attr{"class", v} }
func fill(v string) attr  { return attr{"fill", v} }

// newDrawing opens an image of the given size; label is read by screen readers.
func newDrawing(width, height int, label string, extra ...attr) *drawing {
	d := &drawing{}
	d.b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" role="img"`)
	d.attrs([]attr{
		{"viewBox", fmt.Sprintf("0 0 %d %d", width, height)},
		{"width", strconv.Itoa(width)}, {"height", strconv.Itoa(height)},
		{"aria-label", label},
	})
	d.attrs(extra)
	d.b.WriteString(">")
	return d
}

func (d *drawing) attrs(list []attr) {
	for _, a := range list {
		d.b.WriteString(" " + a.name + `="` + html.EscapeString(a.value) + `"`)
	}
}

func (d *drawing) element(name string, list ...attr) {
	d.b.WriteString("<" + name)
	d.attrs(list)
	d.b.WriteString("/>")
}

func (d *drawing) rect(x, y, w, h float64, extra ...attr) {
	d.element("rect", append([]attr{{"x", px(x)}, {"y", px(y)}, {"width", px(max(w, 0))}, {"height", px(max(h, 0))}}, extra...)...)
}

func (d *drawing) line(x1, y1, x2, y2 float64, extra ...attr) {
	d.element("line", append([]attr{{"x1", px(x1)}, {"y1", px(y1)}, {"x2", px(x2)}, {"y2", px(y2)}}, extra...)...)
}

// circle draws a dot with a tooltip.
func (d *drawing) circle(x, y, r float64, title string, extra ...attr) {
	d.b.WriteString("<circle")
	d.attrs(append([]attr{{"cx", px(x)}, {"cy", px(y)}, {"r", px(r)}}, extra...))
	d.b.WriteString("><title>" + html.EscapeString(title) + "</title></circle>")
}

func (d *drawing) text(x, y float64, text string, extra ...attr) {
	d.b.WriteString("<text")
	d.attrs(append([]attr{{"x", px(x)}, {"y", px(y)}}, extra...))
	d.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

// path draws straight lines through points; closed makes it an area.
func (d *drawing) path(points []point, closed bool, extra ...attr) {
	if len(points) == 0 {
		return
	}
	var p strings.Builder
	for i, q := range points {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		p.WriteString(verb + px(q.x) + " " + px(q.y))
	}
	if closed {
		p.WriteString("Z")
	}
	d.element("path", append([]attr{{"d", p.String()}}, extra...)...)
}

func (d *drawing) done() string {
	return d.b.String() + "</svg>"
}

type point struct{ x, y float64 }

// scale maps [from, to] to [low, high] pixels and clips to them.
type scale struct{ from, to, low, high float64 }

func (s scale) at(v float64) float64 {
	if s.to == s.from {
		return s.low
	}
	f := min(1, max(0, (v-s.from)/(s.to-s.from)))
	return s.low + f*(s.high-s.low)
}

// px prints a coordinate with a tenth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// niceCeiling rounds v up to 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.
func niceCeiling(v float64) float64 {
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if v <= m*base*(1+1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// shorten cuts text to limit runes.
func shorten(text string, limit int) string {
	r := []rune(text)
	if len(r) <= limit {
		return text
	}
	return string(r[:limit-1]) + "…"
}
