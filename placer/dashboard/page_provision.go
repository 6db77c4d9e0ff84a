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
	Rented bool
	Report provision.Report
	Chart  template.HTML // empty: too little is known yet
}

func (s *server) provisionPage(r *http.Request) (pageView, error) {
	view, err := s.provisionView(r.Context())
	if errors.Is(err, cluster.ErrNoRecord) {
		err = nil
	}
	return pageView{Template: "provision", Title: "Rented nodes", Data: view}, err
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
	return chart.Plot{
		Label: "cores of owned and rented nodes over time", Width: 760, Height: 240,
		X: chart.Axis{Title: "hours from now", Tight: true, Text: wording.Number}, Y: chart.Axis{Title: "cores", Text: wording.Number},
		Series: []chart.Series{
			line("owned", func(c provision.Capacity) float64 { return c.Owned }),
			line("given to jobs, of the owned", func(c provision.Capacity) float64 { return c.Given }),
			line("rented, with jobs", func(c provision.Capacity) float64 { return c.Serving }),
			line("rented, held", func(c provision.Capacity) float64 { return c.Held }),
			line("rented, retained", func(c provision.Capacity) float64 { return c.Retained }),
		},
	}.SVG()
}
