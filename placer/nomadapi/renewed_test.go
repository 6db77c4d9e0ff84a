package nomadapi

import (
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
	"github.com/nomad-placer/nomad-placer/placer/certificate"
)

// All certificates of a Nomad are made anew by another authority, under the same names:
// an agent that runs goes on, on new connections and with kept ones closed.
func TestRenewedCertificatesForNomadNeedNoRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	renew := func() (ca string, server, own authority.Pair) {
		t.Helper()
		a, err := authority.New(dir, "ca")
		if err != nil {
			t.Fatal(err)
		}
		if server, err = a.Issue("server", "server.global.nomad"); err != nil {
			t.Fatal(err)
		}
		if own, err = a.Issue("agent"); err != nil {
			t.Fatal(err)
		}
		return a.File(), server, own
	}
	ca, server, own := renew()
	shown, err := certificate.NewServer(certificate.Files{Cert: server.Cert, Key: server.Key, ClientCA: ca}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, "[]")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Listener = tls.NewListener(s.Listener, shown.Config())
	s.Start()
	t.Cleanup(s.Close)
	w, err := New(Options{
		Address: strings.Replace(s.URL, "http://", "https://", 1), Token: "own",
		Configure: func(c *api.Config) {
			c.TLSConfig = &api.TLSConfig{CACert: ca, ClientCert: own.Cert, ClientKey: own.Key, TLSServerName: "server.global.nomad"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(when string) {
		t.Helper()
		if _, err := w.AccessControlled(t.Context()); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	ask("at first")
	renew()
	if err := shown.Reload(); err != nil {
		t.Fatal(err)
	}
	s.CloseClientConnections()
	if err := w.ReloadCertificates(); err != nil {
		t.Fatal(err)
	}
	ask("after the renewal")
	if asked != 2 {
		t.Errorf("Nomad was asked %d times", asked)
	}
}
