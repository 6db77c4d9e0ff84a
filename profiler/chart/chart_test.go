package chart

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// wellFormed reads the picture to its end as XML, without numbers that are none.
func wellFormed(t *testing.T, name string, svg template.HTML) {
	t.Helper()
	if text := string(svg); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("%s: a number that is none: %s", name, svg)
	}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v in %s", name, err, svg)
		}
	}
}

var nan = math.NaN()

func TestPlot(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Plot{
		"empty":       {Width: 300, Height: 200},
		"logarithmic": {Width: 300, Height: 200, X: Axis{Log: true}, Series: []Series{{Name: "s", Points: Points([]float64{0, 1, 2e6}, []float64{1, 2, 3})}}},
		"one value":   {Width: 300, Height: 200, X: Axis{Log: true}, Y: Axis{Log: true}, Series: []Series{{Points: Points([]float64{3}, []float64{3})}}},
		"bare":        {Width: 100, Height: 20, Bare: true, X: Axis{Tight: true}, Y: Axis{Tight: true}, Series: []Series{{Points: Points([]float64{1, 2}, []float64{5, 5})}}},
		"hostile": {
			Label: `<l&"'>`, Title: `<t&">`, Width: 300, Height: 200, X: Axis{Title: "x < y", High: 100}, Y: Axis{Title: "&", High: 100}, Diagonal: true,
			Marks: []Mark{{Name: "<m>", Kind: "target", At: 3, Low: nan, High: nan}, {Kind: "predicted", At: 50, Low: 40, High: 60}},
			Series: []Series{
				{Name: "a<b", Style: LineAndDots, Points: []Point{{Low: nan, High: nan}, {X: 50, Y: nan}, {X: 100, Y: 200, Low: 2, High: 4, Note: "<n>"}}},
				{Name: "dots", Style: Dots, Points: []Point{{X: 1, Y: -1}}},
			},
		},
	} {
		svg := p.SVG()
		wellFormed(t, name, svg)
		if strings.Contains(string(svg), "<t&") || strings.Contains(string(svg), "<n>") {
			t.Errorf("%s: not escaped: %s", name, svg)
		}
	}
}

// A point that is not known is no point, and an interval is drawn where there is
// one.
func TestUnknownPointsAreLeftOut(t *testing.T) {
	t.Parallel()
	svg := string(Plot{Width: 300, Height: 200, Series: []Series{{Style: LineAndDots, Points: []Point{
		{X: 1, Y: 1, Low: 0.5, High: 2}, {X: 2, Y: nan, Low: 1, High: 9}, {X: 3, Y: 3},
	}}}}.SVG())
	if strings.Count(svg, "<circle") != 2 || strings.Count(svg, "chart-interval") != 1 {
		t.Errorf("%s", svg)
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	svg := Bars{Label: "<b>", Width: 400, Target: 3, Rows: []Bar{
		{Name: "<n>", Kind: "measured", Value: 5, Low: 4, High: 7, Text: "5 &"}, {Name: "other", Value: nan, Low: 1, High: 2, Text: "unknown"},
	}}.SVG()
	wellFormed(t, "bars", svg)
	for want, times := range map[string]int{"chart-bar": 1, "chart-whisker": 1, "chart-missing": 1, "chart-target": 1} {
		if strings.Count(string(svg), want) != times {
			t.Errorf("%s: %s", want, svg)
		}
	}
	wellFormed(t, "no bars", Bars{Width: 400, Target: nan}.SVG())
}

// What is not known must not look like zero.
func TestTrack(t *testing.T) {
	t.Parallel()
	zero, unknown := string(Track("l", 100, 100, Bar{})), string(Track("l", 100, 100, Bar{Value: nan}))
	if zero == unknown || strings.Contains(unknown, "chart-bar") || !strings.Contains(unknown, "chart-unknown") {
		t.Errorf("zero %s\nunknown %s", zero, unknown)
	}
	wellFormed(t, "shares of nothing", Shares("l", 100, []Share{{}}))
	if got := string(Shares("l", 100, []Share{{1, "<a>"}, {3, "b"}})); strings.Count(got, "<title>") != 2 || !strings.Contains(got, `width="73"`) {
		t.Errorf("%s", got)
	}
}

func TestHeat(t *testing.T) {
	t.Parallel()
	svg := Heat{Label: "m", Rows: []string{"a", "<b>"}, Columns: []string{"c", "d"}, Full: 100, Unit: " %", Cells: [][]Cell{
		{{Value: nan, Note: "not measured"}, {Value: 17, Flagged: true, Note: `1 & "2"`}},
		{{Value: -3}, {Value: 250}},
	}}.SVG()
	wellFormed(t, "heat", svg)
	if text := string(svg); strings.Count(text, "chart-unknown") != 1 || strings.Count(text, "chart-flag") != 1 || !strings.Contains(text, "100 %") {
		t.Errorf("wrong squares: %s", svg)
	}
}

func TestRaster(t *testing.T) {
	t.Parallel()
	svg := Raster{Label: "m", Width: 300, Height: 100, Cells: [][]float64{{0, 0.5, 0.5, 1}, {2, -1, 0, 0}}}.SVG()
	wellFormed(t, "raster", svg)
	if strings.Count(string(svg), "chart-raster") != 2 {
		t.Errorf("%s", svg)
	}
}

func TestAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		axis   Axis
		values []float64
		want   []float64
	}{
		{Axis{}, nil, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Axis{}, []float64{0}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Axis{}, []float64{22400}, []float64{0, 5000, 10000, 15000, 20000, 25000}},
		{Axis{}, []float64{-5, 19}, []float64{-5, 0, 5, 10, 15, 20}},
		{Axis{Tight: true}, []float64{43, 99}, []float64{60, 80}},
		{Axis{High: 100}, []float64{250}, []float64{0, 20, 40, 60, 80, 100}},
		{Axis{Log: true}, []float64{0, 0.5, 40}, []float64{0.5, 1, 2, 5, 10, 20}},
		{Axis{Log: true}, []float64{1, 1e4}, []float64{1, 10, 100, 1000, 10000}},
		{Axis{Log: true}, []float64{3}, []float64{3, 4}},
	} {
		got := c.axis.fit(c.values).Ticks
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%+v of %v: %v, want %v", c.axis, c.values, got, c.want)
		}
	}
}

func TestScaleClips(t *testing.T) {
	t.Parallel()
	s := scale{Axis{High: 100}, 10, 110}
	for v, want := range map[float64]float64{-5: 10, 0: 10, 50: 60, 100: 110, 900: 110} {
		if got := s.at(v); got != want {
			t.Errorf("at(%v) = %v, want %v", v, got, want)
		}
	}
	if got := (scale{Axis{Low: 3, High: 3}, 1, 9}).at(3); got != 1 {
		t.Errorf("an axis of nothing maps to %v", got)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", math.Copysign(0, -1): "0", 0.1 + 0.2: "0.3", 25000: "25000", 1234567: "1235000", 2e9: "2e+09", 0.00025: "0.00025", -3.14159: "-3.142"} {
		if got := Number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// A picture that is a file of its own needs nothing from a page.
func TestStandalone(t *testing.T) {
	t.Parallel()
	d := NewDrawing(10, 10, "a line")
	d.Line(0, 0, 10, 10, "", Class("chart-line chart-0"))
	got := Standalone(d.SVG())
	for _, want := range []string{`<svg xmlns="http://www.w3.org/2000/svg" `, "<style>", "--chart-0: " + Light("0"), `fill="` + Light("page") + `"`, "chart-line"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "light-dark") || strings.Count(got, "<svg ") != 1 {
		t.Errorf("%s", got)
	}
}
