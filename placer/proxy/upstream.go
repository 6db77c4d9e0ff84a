package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// limited passes at most so many requests at once to Nomad, and answers the rest itself.
// Each is a connection for as long as it waits, and Nomad counts those of one address.
type limited struct {
	next http.RoundTripper
	most int64
	now  atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.now.Add(1) > l.most {
		l.now.Add(-1)
		if r.Body != nil {
			_ = r.Body.Close() // nobody reads it
		}
		return tooMany(r, "as many requests as -max-requests allows wait for Nomad; ask again, or give it more"), nil
	}
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		l.now.Add(-1)
		return nil, err
	}
	ended := sync.OnceFunc(func() { l.now.Add(-1) })
	if both, ok := answer.Body.(io.ReadWriteCloser); ok { // a web socket
		answer.Body = countedSocket{both, ended}
	} else {
		answer.Body = countedBody{answer.Body, ended}
	}
	return answer, nil
}

type countedBody struct {
	io.ReadCloser
	ended func()
}

// Close implements io.Closer.
func (c countedBody) Close() error {
	defer c.ended()
	return c.ReadCloser.Close()
}

type countedSocket struct {
	io.ReadWriteCloser
	ended func()
}

// Close implements io.Closer.
func (c countedSocket) Close() error {
	defer c.ended()
	return c.ReadWriteCloser.Close()
}

// tooMany is an answer that asks for patience.
func tooMany(r *http.Request, why string) *http.Response {
	said := "nomad-placer proxy: " + why + "\n"
	return &http.Response{
		Status: "429 Too Many Requests", StatusCode: http.StatusTooManyRequests, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Retry-After": {"1"}},
		Request: r, ContentLength: int64(len(said)), Body: io.NopCloser(strings.NewReader(said)),
	}
}

// fullText is said where Nomad takes no more connections.
const fullText = "Nomad at %s closes new connections from this host at once, as it does when there are too many. It allows http_max_conns_per_client to one address, 100 unless set, and this proxy is one address for all its users: " +
	"set limits { http_max_conns_per_client = 0 } in the configuration of the Nomad agent that the proxy asks, and restart that agent; until then, ask again. What this request asked for may not have been done"

// The times of a look at whether Nomad takes connections.
const (
	probeDial = time.Second
	probeWait = 100 * time.Millisecond
)

// takesNone reports whether Nomad closes a new connection at once: so it does to an
// address that has as many as it may. An agent that is away takes none either, but does
// not get as far as this. told is true where Nomad says that this is why, which it does
// some ten times a second.
func (p *Proxy) takesNone(ctx context.Context) (closes, told bool) {
	if p.probe == "" {
		return false, false
	}
	ctx, cancel := context.WithTimeout(ctx, probeDial)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", p.probe)
	if err != nil {
		return false, false
	}
	defer conn.Close()
	if conn.SetReadDeadline(p.o.Clock.Now().Add(probeWait)) != nil {
		return false, false
	}
	n, err := conn.Read(make([]byte, 1))
	return n > 0 || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET), n > 0
}

// probeAddress is where connections to Nomad go; empty where they are no network's.
func probeAddress(nomad *url.URL) string {
	port := nomad.Port()
	switch {
	case nomad.Scheme != "http" && nomad.Scheme != "https":
		return ""
	case port == "" && nomad.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(nomad.Hostname(), port)
}
