package main

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
)

// securedAgent answers callers that trust its authority, and of which it knows the certificate.
func securedAgent(t *testing.T, serve http.HandlerFunc) (s *httptest.Server, ca string, pair authority.Pair) {
	t.Helper()
	a, err := authority.New(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	if pair, err = a.Issue("agent"); err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	s = httptest.NewUnstartedServer(serve)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refused callers are the test
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, a.File(), pair
}
