package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The proxy's token is shown to the agent over TLS or on the same host, and to nobody who
// reads along on the network.
func TestTheTokenDoesNotCrossTheNetworkInTheClear(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	var seen string
	g := &guardedTransport{log: slog.New(slog.NewTextHandler(&said, nil)), next: roundTrip(func(r *http.Request) (*http.Response, error) {
		seen = r.Header.Get(nomadHeader)
		return &http.Response{Body: http.NoBody}, nil
	})}
	for address, want := range map[string]string{
		"https://placer.example/v1/admit": "secret", "http://127.0.0.1:9464/v1/admit": "secret", "http://[::1]:9464/v1/admit": "secret",
		"http://10.0.0.1:9464/v1/admit": "", "http://placer.example/v1/admit": "",
	} {
		r := httptest.NewRequest(http.MethodPost, address, nil)
		r.Header.Set(nomadHeader, "secret")
		answer, err := g.RoundTrip(r)
		if err != nil || seen != want || r.Header.Get(nomadHeader) != "secret" {
			t.Errorf("%s: shown %q, want %q, %v", address, seen, want, err)
		}
		_ = answer.Body.Close() // empty
	}
	if strings.Count(said.String(), "\n") != 1 {
		t.Errorf("said %q", said.String())
	}
}

// The agent's certificate must be of the named authority, and the proxy shows its own.
func TestTheAgentIsKnownByItsCertificate(t *testing.T) {
	t.Parallel()
	agent := newSecuredNomad(t) // any server that wants a certificate
	for _, c := range []struct {
		link agentLink
		ok   bool
	}{
		{agentLink{ca: agent.cert, cert: agent.cert, key: agent.key}, true},
		{agentLink{cert: agent.cert, key: agent.key}, false},
		{agentLink{ca: agent.cert}, false},
	} {
		config, err := c.link.config()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := agentClient(agentTransport(config, slog.New(slog.DiscardHandler))).Get(agent.url)
		if c.ok != (err == nil) {
			t.Errorf("%+v: %v", c.link, err)
		}
		if err == nil {
			_ = answer.Body.Close() // it was not read
		}
	}
	for _, wrong := range []agentLink{{cert: agent.cert}, {key: agent.key}, {ca: agent.key}, {ca: agent.cert + ".none"}, {cert: agent.key, key: agent.cert}} {
		if _, err := wrong.config(); err == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}
