package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Placer is what the front door asks of the placer.
type Placer interface {
	// Extract takes performance blocks out of a jobspec. attach puts them into the
	// job that Nomad makes of the rest; it is nil where there are none. err says
	// what is wrong with them, with line and hint.
	Extract(jobspec string) (stripped string, attach func(job map[string]any) error, err error)
	// Check reports whether a job has targets, and what is wrong with them.
	Check(job map[string]any) (targets bool, err error)
	// Preview returns the job as a decision on stored profiles would rewrite it.
	Preview(ctx context.Context, job map[string]any) (map[string]any, error)
	// Evaluation is where the work on a job stands; cluster.ErrNoRecord before it
	// was taken up.
	Evaluation(ctx context.Context, id cluster.JobID) (cluster.Evaluation, error)
	// Release frees a held job to stock rules.
	Release(ctx context.Context, id cluster.JobID) error
}

// Defaults of Options.
const (
	DefaultTakenUpWithin = 10 * time.Second // agents list jobs every two seconds
	DefaultWait          = 15 * time.Minute
	DefaultPreviewWithin = 3 * time.Second
)

// Options of a proxy.
type Options struct {
	// Nomad is the address behind the proxy: http, https or unix.
	Nomad *url.URL
	// Transport reaches it; nil makes one without client certificates.
	Transport http.RoundTripper
	Placer    Placer
	// HoldPool and RunPool are the pools of the agent.
	HoldPool, RunPool string
	// Pages are served under /placer/ where given.
	Pages http.Handler
	// TakenUpWithin is how long a held job waits for an agent before the proxy
	// releases it itself.
	TakenUpWithin time.Duration
	// Wait bounds how long an answer is kept back; the job goes on after.
	Wait time.Duration
	// PreviewWithin bounds a decision for a plan; without one the job is planned as
	// it is.
	PreviewWithin time.Duration
	Clock         cluster.Clock
	Log           *slog.Logger
}

// Proxy is an http.Handler.
type Proxy struct {
	o       Options
	reverse *httputil.ReverseProxy
}

// New returns a proxy.
func New(o Options) (*Proxy, error) {
	if o.Nomad == nil || o.Placer == nil || o.Clock == nil || o.HoldPool == "" || o.RunPool == "" {
		return nil, errors.New("proxy: Nomad's address, a placer, a clock, a hold pool and a run pool are needed")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = transport(o.Nomad)
	}
	if o.Nomad.Scheme == "unix" {
		o.Nomad = &url.URL{Scheme: "http", Host: "nomad"} // the transport knows the socket
	}
	o.TakenUpWithin = orDefault(o.TakenUpWithin, DefaultTakenUpWithin)
	o.Wait = orDefault(o.Wait, DefaultWait)
	o.PreviewWithin = orDefault(o.PreviewWithin, DefaultPreviewWithin)
	p := &Proxy{o: o}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.Nomad)
			r.Out.Host = r.In.Host // the UI's links stay ours
			r.SetXForwarded()
		},
		Transport:      o.Transport,
		FlushInterval:  -1, // events and logs as they come
		ModifyResponse: answered,
		ErrorHandler:   p.unreachable,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return p, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// transport is Go's own with a socket instead of the network where the address is
// one.
func transport(nomad *url.URL) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // this is the proxy
	if nomad.Scheme == "unix" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", nomad.Path)
		}
	}
	return t
}

// PagesPath is where the placer's own pages are.
const PagesPath = "/placer/"

// ServeHTTP looks into the four requests and passes everything else through.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.o.Pages != nil && strings.HasPrefix(r.URL.Path, PagesPath) {
		http.StripPrefix(strings.TrimSuffix(PagesPath, "/"), p.o.Pages).ServeHTTP(w, r)
		return
	}
	handle := p.handlerOf(r)
	if handle == nil {
		p.reverse.ServeHTTP(w, r)
		return
	}
	b, ok, err := readBody(r)
	if err != nil {
		http.Error(w, "nomad-placer: reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	if !ok {
		p.reverse.ServeHTTP(w, r) // not ours to understand
		return
	}
	handle(w, r, b)
}

// handler answers a request whose body was read.
type handler func(w http.ResponseWriter, r *http.Request, b *body)

// handlerOf is nil for requests that pass through.
func (p *Proxy) handlerOf(r *http.Request) handler {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return nil
	}
	switch path := r.URL.EscapedPath(); {
	case path == "/v1/jobs":
		return p.register
	case path == "/v1/jobs/parse":
		return p.parse
	case path == "/v1/validate/job":
		return p.validate
	default:
		id, isJob := strings.CutPrefix(path, "/v1/job/")
		planned, isPlan := strings.CutSuffix(id, "/plan")
		switch {
		case isJob && isPlan && planned != "" && !strings.Contains(planned, "/"):
			return p.plan
		case isJob && id != "" && !strings.Contains(id, "/"):
			return p.register
		}
		return nil
	}
}

// unreachable answers for a Nomad that does not.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there to read it
	}
	p.o.Log.Warn("Nomad does not answer", "method", r.Method, "path", r.URL.Path, "error", err)
	http.Error(w, fmt.Sprintf("nomad-placer proxy: Nomad at %s does not answer: %s", p.o.Nomad.Host, err), http.StatusBadGateway)
}

// afterKey finds in a request's context what is to be done with its answer.
type afterKey struct{}

// after changes a successful answer; what it returns as an error is told as one.
type after func(answer *http.Response) error

// answered is called for every answer that passes through.
func answered(answer *http.Response) error {
	f, ok := answer.Request.Context().Value(afterKey{}).(after)
	if !ok || answer.StatusCode != http.StatusOK {
		return nil
	}
	return f(answer)
}

// forward sends a request on with another body, and f on its answer.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, data []byte, f after) {
	if f != nil {
		r = r.WithContext(context.WithValue(r.Context(), afterKey{}, f))
		// An answer we look into must not come compressed.
		r.Header.Set("Accept-Encoding", "identity")
	}
	setBody(r, data)
	p.reverse.ServeHTTP(w, r)
}
