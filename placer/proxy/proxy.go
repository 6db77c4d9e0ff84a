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
	"sync"
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
	// Admit decides on a job before it is registered, and returns it as it shall be,
	// with what its user should read. An error: it must be held.
	Admit(ctx context.Context, job map[string]any) (rewritten map[string]any, message string, err error)
	// Evaluation is how far the work on a job is; cluster.ErrNoRecord before it
	// was taken up.
	Evaluation(ctx context.Context, id cluster.JobID) (cluster.Evaluation, error)
	// Release frees a held job to stock rules if the version with that JobModifyIndex is
	// still its newest; else cluster.ErrStale.
	Release(ctx context.Context, id cluster.JobID, index uint64) error
}

// Defaults of Options.
const (
	DefaultTakenUpWithin = 10 * time.Second // agents list jobs every two seconds
	DefaultWait          = 15 * time.Minute
	DefaultPreviewWithin = 3 * time.Second
	DefaultPlacerWithin  = 5 * time.Second
	DefaultAdmitWithin   = 3 * time.Second
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
	// Records finds the pages of the placer's agent, which are served under
	// PagesPath; nil: there are none.
	Records func(context.Context) (*url.URL, error)
	// TakenUpWithin is how long a held job waits for an agent before the proxy
	// releases it itself.
	TakenUpWithin time.Duration
	// Wait bounds how long an answer is kept back; the job goes on after.
	Wait time.Duration
	// Progress answers a registration that holds a job at once, and tells the
	// progress as the status of its evaluation. Without it the answer is kept back
	// until the job is released.
	Progress bool
	// PlacerWithin bounds one question to the placer about a held job, and its
	// release.
	PlacerWithin time.Duration
	// PreviewWithin bounds a decision for a plan; without one the job is planned as
	// it is.
	PreviewWithin time.Duration
	// AdmitWithin bounds a decision before the registration; without one the job is
	// held.
	AdmitWithin time.Duration
	Clock       cluster.Clock
	Log         *slog.Logger
}

func (o Options) pools() cluster.Pools { return cluster.Pools{Hold: o.HoldPool, Run: o.RunPool} }

// Proxy is an http.Handler.
type Proxy struct {
	o       Options
	reverse *httputil.ReverseProxy
	records *records
	tab     *tab

	following  following
	background sync.WaitGroup
	life       context.Context // of what runs in the background
	end        context.CancelFunc
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
	o.PlacerWithin = orDefault(o.PlacerWithin, DefaultPlacerWithin)
	o.PreviewWithin = orDefault(o.PreviewWithin, DefaultPreviewWithin)
	o.AdmitWithin = orDefault(o.AdmitWithin, DefaultAdmitWithin)
	p := &Proxy{o: o, records: newRecords(o.Records, o.Log)}
	p.life, p.end = context.WithCancel(context.Background())
	var err error
	if p.tab, err = newTab(); err != nil {
		return nil, fmt.Errorf("proxy: files of the tab: %w", err)
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.Nomad)
			r.Out.Host = r.In.Host // the UI's links stay ours
			r.SetXForwarded()
		},
		Transport:      o.Transport,
		FlushInterval:  -1, // events and logs as they come
		BufferPool:     &buffers{},
		ModifyResponse: answered,
		ErrorHandler:   p.unreachable,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return p, nil
}

// buffers are those that bodies are copied with. A new one for each of many
// blocking queries would be garbage.
type buffers struct{ pool sync.Pool }

const bufferBytes = 32 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return *v
	}
	return make([]byte, bufferBytes)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(v []byte) { b.pool.Put(&v) }

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// dialer gives up on a Nomad that does not answer, so that a request ends with a
// clear error in a bounded time. Answers may take as long as Nomad likes: queries
// block for minutes.
var dialer = net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}

// MaxIdle connections are kept for the next request. Go keeps two, and would open a new
// one for most requests of a busy client. Nomad allows 100 from one address
// (http_max_conns_per_client), to all programs there together: those that are kept are
// taken from the others.
const MaxIdle = 16

// Tune sets what every way to Nomad needs.
func Tune(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, MaxIdle
	// Asked for by Go itself, a compressed answer would be unpacked here: its length is
	// lost then, and three quarters of the throughput. A client that asks gets it.
	t.DisableCompression = true
}

// transport is Go's own with a socket instead of the network where the address is
// one.
func transport(nomad *url.URL) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // this is the proxy
	Tune(t)
	t.DialContext = dialer.DialContext
	if nomad.Scheme == "unix" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", nomad.Path)
		}
	}
	return t
}

// ServeHTTP looks into the four requests and passes everything else through.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, TabPath):
		p.serveTab(w, r)
		return
	case r.URL.Path+"/" == PagesPath:
		http.Redirect(w, r, PagesPath, http.StatusPermanentRedirect)
		return
	case strings.HasPrefix(r.URL.Path, PagesPath):
		p.servePages(w, r)
		return
	case isPage(r):
		p.page(w, r)
		return
	}
	if f := p.evaluationOf(r); f != nil {
		p.evaluation(w, r, f)
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
		// The client has gone, or closed its side early. An answer that nobody gave would
		// read as success: the connection is broken off instead.
		panic(http.ErrAbortHandler)
	}
	p.o.Log.Warn("Nomad does not answer", "method", r.Method, "path", r.URL.Path, "error", err)
	http.Error(w, fmt.Sprintf("nomad-placer proxy: Nomad at %s does not answer: %s. Is its agent running, and is that its address? "+
		"The proxy takes it from -address or NOMAD_ADDR and keeps nothing: send a job again once Nomad answers", p.o.Nomad.Host, err), http.StatusBadGateway)
}

// afterKey finds in a request's context what is to be done with its answer.
type afterKey struct{}

// after changes a successful answer; what it returns as an error is answered as one.
type after func(answer *http.Response) error

// answered is called for every answer that passes through.
func answered(answer *http.Response) error {
	f, ok := answer.Request.Context().Value(afterKey{}).(after)
	if !ok || answer.StatusCode != http.StatusOK {
		return nil
	}
	return f(answer)
}

// check asks whether a job has targets. A placer that fails costs the job its
// placement, and nothing else.
func (p *Proxy) check(job map[string]any) (targets bool, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			p.o.Log.Error("looking for targets failed; the job passes as it is", "job", text(job, "ID"), "failure", fmt.Sprint(failure))
			targets, err = false, nil
		}
	}()
	return p.o.Placer.Check(job)
}

// forward sends a request on with another body, and f on its answer.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, data []byte, f after) {
	setBody(r, data)
	if f != nil {
		p.forwardRead(w, r, f)
		return
	}
	p.reverse.ServeHTTP(w, r)
}

// forwardRead sends a request on, and f on its answer.
func (p *Proxy) forwardRead(w http.ResponseWriter, r *http.Request, f after) {
	r = r.WithContext(context.WithValue(r.Context(), afterKey{}, f))
	// An answer we look into must not come compressed.
	r.Header.Set("Accept-Encoding", "identity")
	p.reverse.ServeHTTP(w, r)
}
