package dashboard

import (
	"errors"
	"html/template"
	"net/http"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// profilePage is one profile in full.
type profilePage struct {
	*profileView
	Rows     []sourceRow // every source, known or not
	ScaleUp  []profile.ScalePoint
	ScaleMap template.HTML
	Workload *cluster.WorkloadID // where it has a page
}

func (s *server) profile(r *http.Request) (pageView, error) {
	p, err := s.records.Profile(r.Context(), r.PathValue("key"))
	if err != nil {
		return pageView{}, err
	}
	view := profilePage{profileView: viewProfile(p), Rows: viewEverySource(p.Sensitivity), ScaleUp: p.ScaleUp, ScaleMap: scaleUpChart(p.ScaleUp)}
	if w, ok := workloadOfProfile(p); ok {
		switch _, err := s.records.Decision(r.Context(), w); {
		case err == nil:
			view.Workload = &w
		case !errors.Is(err, cluster.ErrNoRecord):
			return pageView{}, err
		}
	}
	title := p.Workload
	if title == "" {
		title = p.Key
	}
	return pageView{Template: "profile", Title: "Profile of " + title, Data: view}, nil
}
