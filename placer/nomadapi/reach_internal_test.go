package nomadapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// A workload's page that points elsewhere is not followed: the agent is in the network of
// its host, and the workload may not be.
func TestAPageThatPointsElsewhereIsNotFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer host.Close()
	page := httptest.NewServer(http.RedirectHandler(host.URL, http.StatusFound))
	defer page.Close()
	r := &reach{ports: map[string]string{"metrics": strings.TrimPrefix(page.URL, "http://")}}
	if data, err := r.HTTPGet(t.Context(), "metrics", "/"); err == nil || followed {
		t.Errorf("read %q, %v; followed: %v", data, err, followed)
	}
}

// What Nomad does not know is refused, and no 0.
func TestInstructionsAreNotReadThroughNomad(t *testing.T) {
	t.Parallel()
	if n, err := (&reach{}).Instructions(t.Context(), "main"); !errors.Is(err, probe.ErrUnsupported) {
		t.Errorf("%v, %v", n, err)
	}
}
