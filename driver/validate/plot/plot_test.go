package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/validate/plot"
)

// wellFormed reads the picture to its end as XML.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, chart := range map[string]plot.Lines{
		"empty": {XMax: 100, YMax: 100},
		"full": {Title: `<&">`, XLabel: "x < y", YLabel: "&", XMax: 100, YMax: 100, Series: []plot.Series{
			{Name: "a<b", X: []float64{0, 50, 100}, Y: []float64{0, nan, 200}, Low: []float64{nan, 1, 2}, High: []float64{nan, 3, 4}},
			{Name: "dots", X: []float64{1}, Y: []float64{-1}, Dots: true, Dashed: true},
		}},
	} {
		svg := chart.SVG()
		wellFormed(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: a number that is none: %s", name, svg)
		}
	}
}

func TestHeat(t *testing.T) {
	t.Parallel()
	h := plot.Heat{Title: "m", Rows: []string{"a", "<b>"}, Columns: []string{"c", "d"}, Full: 100, Cells: [][]plot.HeatCell{
		{{Value: math.NaN(), Note: "not measured"}, {Value: 17, Class: "miss", Note: `1 & "2"`}},
		{{Value: -3}, {Value: 250}},
	}}
	svg := h.SVG()
	wellFormed(t, svg)
	if strings.Count(svg, "unknown") != 1 || strings.Count(svg, "mark miss") != 1 || strings.Contains(svg, "NaN") {
		t.Errorf("wrong squares: %s", svg)
	}
}
