package report

import (
	"html/template"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// The size of a picture in pixels.
const (
	pictureWidth  = 560
	pictureHeight = 250
)

// Plot draws lines over two axes in the size of all pictures.
func Plot(label string, x, y chart.Axis, series []chart.Series) template.HTML {
	return chart.Plot{Label: label, Width: pictureWidth, Height: pictureHeight, X: x, Y: y, Series: series}.SVG()
}

// CurvesPicture draws the performance of jobs from worst to best, a line each.
func CurvesPicture(lines []Line, names []string, wait bool) template.HTML {
	var series []chart.Series
	for i := range lines {
		values := lines[i].Curve
		if wait {
			values = lines[i].WithWait
		}
		series = append(series, chart.Series{Name: names[i], Points: chart.Points(quantiles(len(values)), scaled(values, 100, curveMost))})
	}
	return Plot("performance of jobs from worst to best", chart.Axis{Title: "jobs, from worst to best, %", High: 100}, chart.Axis{Title: "performance, %", High: curveMost}, series)
}

// curveMost is where curves are cut, percent: a job with a target may be faster.
const curveMost = 100

// CDFPicture draws how many jobs have at most a value: one of the Spread
// constants, times a factor.
func CDFPicture(lines []Line, names []string, spread, below string, factor float64, log bool) template.HTML {
	var series []chart.Series
	for i := range lines {
		values := lines[i].Spread[spread]
		series = append(series, chart.Series{Name: names[i], Points: chart.Points(scaled(values, factor, math.Inf(1)), quantiles(len(values)))})
	}
	return Plot("share of jobs with at most: "+below, chart.Axis{Title: below, Tight: true, Log: log}, chart.Axis{Title: "jobs, %", High: 100}, series)
}

// quantiles are the percent at which n points of a distribution lie.
func quantiles(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 * float64(i) / float64(max(1, n-1))
	}
	return out
}

func scaled(values []float64, factor, most float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = min(most, v*factor)
	}
	return out
}

// reservedMost cuts reservations in pictures, percent of the cores.
const reservedMost = 300

// UsagePicture draws used, allocated and reserved cores over time.
func UsagePicture(l Line, name string) template.HTML {
	series, top := []chart.Series{{Name: "used"}, {Name: "allocated"}, {Name: "reserved"}}, 100.0
	for _, u := range l.Usage {
		for k, share := range []float64{u.Used, u.Allocated, u.Reserved} {
			v := min(reservedMost, 100*share)
			top = max(top, v)
			series[k].Points = append(series[k].Points, chart.Point{X: u.Seconds, Y: v})
		}
	}
	return Plot("cores used, allocated and reserved over time, "+name, chart.Axis{Title: "time, s", Tight: true}, chart.Axis{Title: "cores, %", High: top}, series)
}

// HeatPicture draws the used share of nodes over time: a row per group of nodes.
func HeatPicture(l Line, name string) template.HTML {
	return chart.Raster{
		Label: "used share of nodes over time, " + name, Title: "time; rows are nodes, colour is the used share",
		Width: pictureWidth, Height: pictureHeight, Cells: l.Heat,
	}.SVG()
}
