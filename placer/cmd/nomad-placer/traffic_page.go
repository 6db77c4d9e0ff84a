package main

import (
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"

	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

//go:embed traffic_page.html.tmpl
var trafficPageText string

var trafficPageTemplate = template.Must(template.New("traffic").Parse(trafficPageText))

// trafficPage is a page of pictures of traffic.
type trafficPage struct {
	Title    string
	Style    template.CSS
	Sections []trafficSection
}

// trafficSection is a row of pictures.
type trafficSection struct {
	Title, Note string
	Pictures    []template.HTML
}

func writeTrafficPage(path string, page trafficPage) error {
	page.Style = chart.CSS()
	err := writeWhole(path, func(w io.Writer) error { return trafficPageTemplate.Execute(w, page) })
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// The size of pictures in pixels.
const (
	mapWidth    = 420
	mapHeight   = 400
	curveWidth  = 420
	curveHeight = 260
)

// raster draws a heat map.
func raster(label, title string, m network.Map, unit string) template.HTML {
	return chart.Raster{Label: label, Title: fmt.Sprintf("%s; 100 %% is %s%s", title, wording.Bytes(m.Range), unit), Width: mapWidth, Height: mapHeight, Cells: m.Cells}.SVG()
}

// showPictures are the maps of traffic (Delimitrou 2015, Fig. C.2), and the load over
// the day.
func showPictures(a *network.Activity, source string) trafficPage {
	maps, hours := a.Maps(), chart.Series{Name: "load"}
	for hour, v := range a.Character().Hours {
		hours.Points = append(hours.Points, chart.Point{X: float64(hour), Y: float64(v)})
	}
	day := chart.Plot{
		Label: "load over the day", Title: "Load over the day", Width: curveWidth, Height: curveHeight,
		X: chart.Axis{Title: "hour", High: 24}, Y: chart.Axis{Title: "% of the mean"}, Series: []chart.Series{hours},
	}
	return trafficPage{Title: "Network traffic: " + source, Sections: []trafficSection{
		{"Over time", "Servers in the order of racks, from top to bottom; time from left to right.", []template.HTML{raster("servers over time", "servers over time", maps.Servers, "/s"), day.SVG()}},
		{"Who talks to whom", "Both directions are added up.", []template.HTML{raster("servers", "servers × servers", maps.Pairs, ""), raster("racks", "racks × racks", maps.Racks, "")}},
	}}
}

// comparePictures are the maps of the original and of what was generated, and the
// distributions of errors (Fig. C.11, C.12 and C.16).
func comparePictures(original, made network.Maps, d network.Deviation, source string) trafficPage {
	return trafficPage{Title: "Generated traffic compared: " + source, Sections: []trafficSection{
		{"Over time", "Servers in the order of racks, from top to bottom; time from left to right.", []template.HTML{
			raster("original, servers over time", "original", original.Servers, "/s"), raster("generated, servers over time", "generated", made.Servers, "/s"),
		}},
		{"Who talks to whom", "Servers × servers; both directions are added up.", []template.HTML{
			raster("original, servers", "original", original.Pairs, ""), raster("generated, servers", "generated", made.Pairs, ""),
		}},
		{"Racks", "Racks × racks; both directions are added up.", []template.HTML{
			raster("original, racks", "original", original.Racks, ""), raster("generated, racks", "generated", made.Racks, ""),
		}},
		{"Errors of servers", "So many percent of the servers have at most this error.", []template.HTML{errorPlot(d)}},
	}}
}

// errorPlot draws the distributions of the errors of servers.
func errorPlot(d network.Deviation) template.HTML {
	series := func(name string, q network.Quantiles) chart.Series {
		s := chart.Series{Name: name}
		for percent, v := range q {
			s.Points = append(s.Points, chart.Point{X: float64(v), Y: float64(percent)})
		}
		return s
	}
	return chart.Plot{
		Label: "errors of servers", Title: "Errors of servers", Width: curveWidth, Height: curveHeight,
		X: chart.Axis{Title: "error, %"}, Y: chart.Axis{Title: "servers, %", High: 100},
		Series: []chart.Series{series("over time", d.Temporal), series("over pairs", d.Spatial)},
	}.SVG()
}
