package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// The agent at the address that was given gets the token; where it points does not.
func TestTheTokenGoesToTheAgentThatWasNamed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Nomad-Token") != "mine":
			http.Error(w, "a token is needed", http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/profiles"):
			_, _ = w.Write([]byte(`["k"]`))
		case strings.HasSuffix(r.URL.Path, "/nodes"):
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(agent.Close)
	mine, err := newPageRecords(agent.URL, &nomadFlags{token: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := mine.Profiles(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
	if _, err := mine.Nodes(t.Context()); err == nil {
		t.Error("a redirect is no answer")
	}
	if _, err := mine.Decision(t.Context(), cluster.WorkloadID{}); !errors.Is(err, cluster.ErrNoRecord) {
		t.Error(err)
	}
	nobody, err := newPageRecords(agent.URL, &nomadFlags{token: "another"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.Profiles(t.Context()); err == nil || !strings.Contains(err.Error(), "NOMAD_TOKEN") {
		t.Errorf("without a good token: %v", err)
	}
}
