package dashboard

import (
	"context"
	"errors"
	"html/template"
	"net/http"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// provisionView is the page of rented nodes.
type provisionView struct {
	Rented     bool
	Report     provision.Report
	Chart      template.HTML // empty: too little is known yet
	Used       bool          // the chart has what jobs used
	Unmeasured int           // groups of jobs whose use is not in the newest sample
	Compare    *compareView  // nil where it cannot be asked
}

func (s *server) provisionPage(r *http.Request) (pageView, error) {
	page := pageView{Template: "provision", Title: "Rented nodes"}
	view, err := s.provisionView(r.Context())
	switch {
	case errors.Is(err, cluster.ErrNoRecord):
		err = nil
	case err == nil:
		if view.Compare = s.compareForm(r); view.Compare != nil && view.Compare.Asked && view.Compare.Percent == "" {
			page.Refresh = -1 // the answer is of the moment it was asked for
		}
	}
	page.Data = view
	return page, err
}

func (s *server) provisionView(ctx context.Context) (view provisionView, err error) {
	rented, err := s.provisioning(ctx)
	if err != nil {
		return view, err
	}
	if view.Report, err = rented.Provision(ctx); err != nil {
		return view, err
	}
	view.Rented = true
	samples, err := rented.Capacity(ctx)
	view.Chart = capacityChart(samples)
	view.Used = len(usedLines(samples, "")) > 0
	if len(samples) > 0 {
		view.Unmeasured = samples[len(samples)-1].Unmeasured
	}
	return view, err
}

func (s *server) provisionJSON(r *http.Request) (any, error) {
	rented, err := s.provisioning(r.Context())
	if err != nil {
		return nil, err
	}
	return rented.Provision(r.Context())
}

func (s *server) capacityJSON(r *http.Request) (any, error) {
	rented, err := s.provisioning(r.Context())
	if err != nil {
		return nil, err
	}
	samples, err := rented.Capacity(r.Context())
	return listed(samples, err)
}

// capacityChart draws what there was of each kind, in hours before the newest sample.
func capacityChart(samples provision.Capacities) template.HTML {
	if len(samples) < 2 {
		return ""
	}
	newest := samples[len(samples)-1].At
	line := func(name string, of func(provision.Capacity) float64) chart.Series {
		s := chart.Series{Name: name}
		for _, c := range samples {
			s.Points = append(s.Points, chart.Point{X: c.At.Sub(newest).Hours(), Y: of(c)})
		}
		return s
	}
	lines := []chart.Series{
		line("owned", func(c provision.Capacity) float64 { return c.Owned }),
		line("given to jobs, of the owned", func(c provision.Capacity) float64 { return c.Given }),
		line("rented, with jobs", func(c provision.Capacity) float64 { return c.Serving }),
		line("rented, held", func(c provision.Capacity) float64 { return c.Held }),
		line("rented, retained", func(c provision.Capacity) float64 { return c.Retained }),
	}
	return chart.Plot{
		Label: "cores of owned and rented nodes over time", Width: 760, Height: 240,
		X: chart.Axis{Title: "hours from now", Tight: true, Text: wording.Number}, Y: chart.Axis{Title: "cores", Text: wording.Number},
		Series: append(lines, usedLines(samples, chart.Colour(len(lines)))...),
	}.SVG()
}

// usedLines are what measured jobs used, broken where it is not known; none where it never was.
func usedLines(samples provision.Capacities, colour string) []chart.Series {
	var out []chart.Series
	known := false
	for _, c := range samples {
		if c.Used == nil {
			known = false
			continue
		}
		if !known {
			out = append(out, chart.Series{Kind: colour})
		}
		known = true
		last := &out[len(out)-1]
		last.Points = append(last.Points, chart.Point{X: c.At.Sub(samples[len(samples)-1].At).Hours(), Y: *c.Used})
	}
	if len(out) > 0 {
		out[0].Name = "used by measured jobs"
	}
	return out
}
