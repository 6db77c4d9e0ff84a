package dashboard

import (
	"errors"
	"net/http"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// provisionView is the page of rented nodes.
type provisionView struct {
	Rented bool
	Report provision.Report
}

func (s *server) provisionPage(r *http.Request) (pageView, error) {
	report, err := s.provision(r.Context())
	if errors.Is(err, cluster.ErrNoRecord) {
		err = nil
	} else if err == nil {
		return pageView{Template: "provision", Title: "Rented nodes", Data: provisionView{true, report}}, nil
	}
	return pageView{Template: "provision", Title: "Rented nodes", Data: provisionView{}}, err
}

func (s *server) provisionJSON(r *http.Request) (any, error) { return s.provision(r.Context()) }
