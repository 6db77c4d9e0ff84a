package plot

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// drawing collects the elements of one SVG picture.
type drawing struct{ out strings.Builder }

func newDrawing(width, height int, title string) *drawing {
	d := &drawing{}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		width, height, width, height, escape(title))
	return d
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

func (d *drawing) text(x, y float64, anchor, text string) {
	d.add(`<text class="label" x="%s" y="%s" text-anchor="%s">%s</text>`, num(x), num(y), anchor, escape(text))
}

func (d *drawing) done() string {
	d.add(`</svg>`)
	return d.out.String()
}

// num writes a coordinate with one decimal.
func num(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// short writes the number of a tick.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func escape(text string) string { return html.EscapeString(text) }
