//go:build e2e

package provision

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// token is what the scripted agent wants to be shown.
const token = "8a1e0c52-3c0f-4b52-9d3f-1c2b3a4d5e6f"

// scripted plays the agent: it says what the test tells it to, over TLS, to whoever shows the
// token. Everything else is real.
type scripted struct {
	url, ca, token string // the latter two are files

	mu     sync.Mutex
	wanted int
	silent bool // it is overloaded
	asked  int
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	dir := t.TempDir()
	a, err := authority.New(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.Issue("agent")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{ca: a.File(), token: filepath.Join(dir, "token")}
	if err := os.WriteFile(s.token, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/provision", s.serve)
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	switch {
	case r.Header.Get("X-Nomad-Token") != token:
		http.Error(w, "log in", http.StatusUnauthorized)
	case s.silent:
		http.Error(w, "later", http.StatusServiceUnavailable)
	default:
		_ = json.NewEncoder(w).Encode(provision.Report{
			AtMillis: time.Now().UnixMilli(), Strategy: "HM",
			Types: []provision.TypeReport{{Name: "burst-16", NodeClass: "burst-16"}, {Name: burst, NodeClass: burst, Wanted: s.wanted}},
		})
	}
}

// want so many nodes from now on.
func (s *scripted) want(nodes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = nodes
}

func (s *scripted) fall(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// heard waits until the agent was asked so many times more: so many evaluations began after this,
// and all but the last one ended.
func (s *scripted) heard(t *testing.T, times int) {
	t.Helper()
	before := s.count()
	eventually(t, "the autoscaler asks the agent", time.Duration(times+10)*time.Second, func() bool { return s.count() >= before+times })
}
