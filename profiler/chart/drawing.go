package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Drawing collects the elements of one picture. Every text it is given is
// escaped here and nowhere else.
type Drawing struct {
	width, height int
	root          []Attr
	out           strings.Builder
}

// Attr is one attribute of an element.
type Attr struct{ Name, Value string }

// Class is the attribute that chart.css selects by.
func Class(v string) Attr { return Attr{"class", v} }

// NewDrawing is an empty picture of a size in pixels. The label is what screen
// readers say.
func NewDrawing(width, height int, label string, extra ...Attr) *Drawing {
	return &Drawing{width: width, height: height, root: append([]Attr{{"role", "img"}, {"aria-label", label}}, extra...)}
}

func (d *Drawing) open(name string, attrs []Attr) {
	d.out.WriteString("<" + name)
	for _, a := range attrs {
		d.out.WriteString(" " + a.Name + `="` + html.EscapeString(a.Value) + `"`)
	}
	d.out.WriteString(">")
}

// element writes an element that holds nothing but its note, which browsers
// show on hovering.
func (d *Drawing) element(name, note string, attrs []Attr, extra []Attr) {
	d.open(name, append(attrs, extra...))
	if note != "" {
		d.out.WriteString("<title>" + html.EscapeString(note) + "</title>")
	}
	d.out.WriteString("</" + name + ">")
}

// Rect draws a rectangle.
func (d *Drawing) Rect(x, y, w, h float64, note string, extra ...Attr) {
	d.element("rect", note, []Attr{{"x", px(x)}, {"y", px(y)}, {"width", px(max(w, 0))}, {"height", px(max(h, 0))}}, extra)
}

// Line draws a straight line.
func (d *Drawing) Line(x1, y1, x2, y2 float64, note string, extra ...Attr) {
	d.element("line", note, []Attr{{"x1", px(x1)}, {"y1", px(y1)}, {"x2", px(x2)}, {"y2", px(y2)}}, extra)
}

// Circle draws a dot.
func (d *Drawing) Circle(x, y, r float64, note string, extra ...Attr) {
	d.element("circle", note, []Attr{{"cx", px(x)}, {"cy", px(y)}, {"r", px(r)}}, extra)
}

// Path draws what SVG path commands say.
func (d *Drawing) Path(commands, note string, extra ...Attr) {
	d.element("path", note, []Attr{{"d", commands}}, extra)
}

// Text writes a line of text.
func (d *Drawing) Text(x, y float64, text string, extra ...Attr) {
	d.open("text", append([]Attr{{"x", px(x)}, {"y", px(y)}}, extra...))
	d.out.WriteString(html.EscapeString(text) + "</text>")
}

// whisker draws a horizontal interval with its ends.
func (d *Drawing) whisker(low, high, y float64) {
	d.Path(fmt.Sprintf("M%s %sH%sM%[1]s %[4]sV%[5]sM%[3]s %[4]sV%[5]s", px(low), px(y), px(high), px(y-4), px(y+4)), "", Class("chart-whisker"))
}

// SVG ends the picture.
func (d *Drawing) SVG() template.HTML {
	elements := d.out.String()
	d.out.Reset()
	d.open("svg", append([]Attr{
		{"viewBox", fmt.Sprintf("0 0 %d %d", d.width, d.height)}, {"width", strconv.Itoa(d.width)}, {"height", strconv.Itoa(d.height)},
	}, d.root...))
	return template.HTML(d.out.String() + elements + "</svg>") //nolint:gosec // every text was escaped
}

// anchored is the attribute of a text that ends or has its middle at its place.
func anchored(where string) Attr { return Attr{"text-anchor", where} }

// px writes a coordinate with a tenth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// textWidth is about how wide a text of a chart is, in pixels.
func textWidth(text string) float64 { return 7.2 * float64(len([]rune(text))) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
