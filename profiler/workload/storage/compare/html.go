package compare

import (
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"style": chart.CSS, "number": numberText, "verdict": Row.Verdict,
}).Parse(pageText))

// HTML writes the report as one page that loads nothing.
func (r *Report) HTML(w io.Writer) error {
	if err := pageTemplate.Execute(w, r); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

// Verdict is met, missed, or that the row could not be judged.
func (r Row) Verdict() string {
	switch {
	case r.Met == nil:
		return "not known"
	case *r.Met:
		return "met"
	default:
		return "missed"
	}
}

// numberText writes a number of a row with four digits.
func numberText(v *float64) string {
	if v == nil {
		return ""
	}
	return chart.Number(*v)
}

// The size of a picture, and into how many streams a picture can be read.
const (
	pictureWidth, pictureHeight = 640, 280
)

// shown are the streams of the pictures: more lines could not be told apart.
var shown = []string{walkName, replayName, "level-0", "no-locality"}

// lines are the original and the streams that are shown, with points of each.
func (r *Report) lines(points func(*Measured) []chart.Point) []chart.Series {
	series := []chart.Series{{Name: "original", Kind: "measured", Style: chart.LineAndDots, Points: points(&r.Original)}}
	for _, name := range shown {
		for i := range r.Streams {
			if r.Streams[i].Name == name {
				series = append(series, chart.Series{Name: name, Kind: chart.Colour(len(series)), Points: points(&r.Streams[i].Measured)})
			}
		}
	}
	return series
}

// MissPicture is the miss-ratio curve.
func (r *Report) MissPicture() template.HTML {
	return chart.Plot{
		Label: "miss ratio by the size of the cache", Width: pictureWidth, Height: pictureHeight,
		X: chart.Axis{Title: "cache, part of what is touched", Log: true, Low: cacheParts[0], High: 1, Ticks: cacheParts, Text: partText},
		Y: chart.Axis{Title: "misses, %", High: 100},
		Series: r.lines(func(m *Measured) []chart.Point {
			var out []chart.Point
			for i, p := range m.MissRatio {
				out = append(out, chart.Point{X: cacheParts[i], Y: 100 * p.MissRatio})
			}
			return out
		}),
	}.SVG()
}

// StatePicture is how the I/Os are spread over the 64 ranges.
func (r *Report) StatePicture() template.HTML {
	return chart.Plot{
		Label: "I/Os by range of addresses", Width: pictureWidth, Height: pictureHeight,
		X: chart.Axis{Title: "range of addresses", Tight: true}, Y: chart.Axis{Title: "I/Os, %"},
		Series: r.lines(func(m *Measured) []chart.Point {
			var out []chart.Point
			for i, share := range m.States {
				out = append(out, chart.Point{X: float64(i), Y: 100 * share})
			}
			return out
		}),
	}.SVG()
}

// RatePicture is the rate over time.
func (r *Report) RatePicture() template.HTML {
	return chart.Plot{
		Label: "rate by time", Width: pictureWidth, Height: pictureHeight,
		X: chart.Axis{Title: "time, h", Tight: true}, Y: chart.Axis{Title: "I/Os per second"},
		Series: r.lines(func(m *Measured) []chart.Point {
			var out []chart.Point
			for i, rate := range m.Rates {
				out = append(out, chart.Point{X: float64(i) * rateInterval.Hours(), Y: rate, Note: strconv.FormatFloat(rate, 'g', 4, 64)})
			}
			return out
		}),
	}.SVG()
}
