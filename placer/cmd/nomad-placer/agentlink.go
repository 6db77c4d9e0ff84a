package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// agentLink is how the proxy reaches the leading agent: by whose certificate it knows it,
// and by which one it is known.
type agentLink struct{ ca, cert, key string }

func (a *agentLink) add(f *flag.FlagSet) {
	f.StringVar(&a.ca, "agent-ca-file", "", "Trust the authority in this PEM `file`, and no other, for the certificate of the leading agent, where its address begins with https. Else those of the system.")
	f.StringVar(&a.cert, "agent-cert-file", "", "Show the leading agent this certificate, a PEM `file`.")
	f.StringVar(&a.key, "agent-key-file", "", "Private key `file` of that certificate.")
}

// config is what TLS to the agent needs. The certificate is read anew for each connection,
// so that it may be renewed.
func (a *agentLink) config() (*tls.Config, error) {
	if (a.cert == "") != (a.key == "") {
		return nil, command.UsageError("-agent-cert-file and -agent-key-file go together")
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.ca != "" {
		text, err := os.ReadFile(a.ca)
		if err != nil {
			return nil, fmt.Errorf("-agent-ca-file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, command.UsageError("-agent-ca-file: %s has no certificate in PEM form", a.ca)
		}
	}
	if a.cert != "" {
		if _, err := a.show(nil); err != nil {
			return nil, err
		}
		c.GetClientCertificate = a.show
	}
	return c, nil
}

func (a *agentLink) show(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(a.cert, a.key)
	if err != nil {
		return nil, fmt.Errorf("-agent-cert-file: %w", err)
	}
	return &pair, nil
}

// errImpostor: what answers is not the agent that the leader's variable names.
var errImpostor = errors.New("whatever answers there is not the agent that leads; the job is held instead")

// guardedTransport keeps the proxy's token from whoever can read along or answer in the
// agent's place: it goes over TLS, or does not leave the host.
type guardedTransport struct {
	next http.RoundTripper
	log  *slog.Logger
	once sync.Once
}

// RoundTrip implements http.RoundTripper.
func (g *guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get(nomadHeader) != "" && r.URL.Scheme != "https" && !onLoopback(r.URL.Host) {
		r = r.Clone(r.Context())
		r.Header.Del(nomadHeader)
		g.once.Do(func() {
			g.log.Warn("the proxy does not show its token to the leading agent, which is on another host and not reached by https; jobs are held instead of decided on before", "agent", r.URL.Host,
				"hint", "give the agents certificates and an https -dashboard-url, and the proxy -agent-ca-file")
		})
	}
	return g.next.RoundTrip(r)
}

// nomadHeader is how Nomad is shown a token.
const nomadHeader = "X-Nomad-Token"

// agentTransport reaches the leading agent.
func agentTransport(config *tls.Config, log *slog.Logger) http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DialContext = (&net.Dialer{Timeout: dialAgentWithin}).DialContext
	transport.TLSClientConfig = config
	transport.MaxIdleConnsPerHost = proxy.MaxIdle
	return &guardedTransport{next: transport, log: log}
}
