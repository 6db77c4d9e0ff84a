package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

//go:embed page.html.tmpl style.css
var files embed.FS

var page = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"value": value, "curves": curves, "usage": func(l Line) template.HTML { return UsagePicture(l, lineName(l)) },
	"heat": func(l Line) template.HTML { return HeatPicture(l, lineName(l)) }, "name": lineName, "metrics": Metrics, "figure": figureOf, "style": Style,
}).ParseFS(files, "page.html.tmpl"))

// HTML writes the report as one page that loads nothing.
func (r *Report) HTML(w io.Writer) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

// Style is the style sheet of pages with pictures, light and dark.
func Style() (template.CSS, error) {
	text, err := files.ReadFile("style.css")
	return chart.CSS() + template.CSS(text), err //nolint:gosec // our own file
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

func value(f *Figure) string {
	if f == nil {
		return "–"
	}
	return f.String()
}

// String is the figure with half its interval.
func (f Figure) String() string {
	out := Decimal(f.Mean)
	if f.Low != nil {
		out += " ±" + Decimal(f.Mean-*f.Low)
	}
	return out
}

// Decimal has one digit after the point, and none from 1,000 on.
func Decimal(v float64) string {
	digits := 1
	if math.Abs(v) >= 1000 {
		digits = 0
	}
	out := strconv.FormatFloat(v, 'f', digits, 64)
	if out == "-0.0" {
		return "0.0"
	}
	return out
}

func curves(r *Report, wait bool) template.HTML {
	var names []string
	for _, l := range r.Lines {
		names = append(names, lineName(l))
	}
	return CurvesPicture(r.Lines, names, wait)
}
