package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Placer is what the proxy asks of the placer.
type Placer interface {
	// Extract takes performance blocks out of a jobspec. attach puts them into the
	// job that Nomad makes of the rest; it is nil where there are none, and where the
	// text is no jobspec: Nomad says what is wrong with that. err says what is wrong
	// with the blocks, with line and hint; or ErrUnread.
	Extract(jobspec string) (stripped string, attach func(job map[string]any) error, err error)
	// Canonical gives the keys of a job Nomad's own spelling. An error: two of them are
	// the same to Nomad.
	Canonical(job map[string]any) error
	// Check reports whether a job has targets, what is wrong with them, and what its user
	// should read of texts that are none.
	Check(job map[string]any) (targets bool, note string, err error)
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

// ErrUnread: Extract did not look for blocks. If Nomad refuses the text, too, its user
// should read why.
var ErrUnread = errors.New("performance blocks of this jobspec were not read")

// Defaults of Options.
const (
	DefaultTakenUpWithin = 10 * time.Second // agents list jobs every two seconds
	DefaultWait          = 15 * time.Minute
	DefaultPreviewWithin = 3 * time.Second
	DefaultPlacerWithin  = 5 * time.Second
	DefaultAdmitWithin   = 3 * time.Second
	DefaultBodyWithin    = time.Minute
)

// The jobs that are decided on before they are registered, at once. One sender may fill a
// batch of the placer's (placement.AtOnce), and still leaves as much to others.
const (
	maxDeciding            = 32
	maxDecidingOfOneSender = 16
	maxExtracting          = 2 // jobspecs whose blocks are read
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
	// Region is the one that the placer serves. Jobs for another pass as they are; where it
	// is not known, so do those that name one.
	Region func(context.Context) (string, error)
	// Records finds the pages of the placer's agent, which are served under
	// PagesPath; nil: there are none.
	Records func(context.Context) (*url.URL, error)
	// ToAgent reaches that agent; nil makes one without certificates.
	ToAgent http.RoundTripper
	// AgentToken is the token of Nomad's that the proxy shows that agent, as it is now:
	// its own; nil: none.
	AgentToken func() string
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
	// BodyWithin is how long a body that is looked into may take to arrive.
	BodyWithin time.Duration
	// PreviewWithin bounds a decision for a plan; without one the job is planned as
	// it is.
	PreviewWithin time.Duration
	// AdmitWithin bounds a decision before the registration; without one the job is
	// held.
	AdmitWithin time.Duration
	// MaxRequests to Nomad at once; the rest are answered with 429. 0 is no limit.
	MaxRequests int
	// Name is unlike that of any other proxy: by it, one notices its own requests.
	Name  string
	Clock cluster.Clock
	Log   *slog.Logger
}

func (o Options) pools() cluster.Pools { return cluster.Pools{Hold: o.HoldPool, Run: o.RunPool} }

// Proxy is an http.Handler.
type Proxy struct {
	o       Options
	reverse *httputil.ReverseProxy
	records *records
	tab     *tab
	passed  passed

	probe string // where Nomad takes connections

	room     *room  // for bodies
	deciding *quota // on jobs before they are registered
	decoded  *semaphore.Weighted
	// extracting are jobspecs whose blocks are read.
	extracting *quota

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
	probe := probeAddress(o.Nomad)
	if o.Nomad.Scheme == "unix" {
		o.Nomad = &url.URL{Scheme: "http", Host: "nomad"} // the transport knows the socket
	}
	o.TakenUpWithin = orDefault(o.TakenUpWithin, DefaultTakenUpWithin)
	o.Wait = orDefault(o.Wait, DefaultWait)
	o.PlacerWithin = orDefault(o.PlacerWithin, DefaultPlacerWithin)
	o.PreviewWithin = orDefault(o.PreviewWithin, DefaultPreviewWithin)
	o.BodyWithin = orDefault(o.BodyWithin, DefaultBodyWithin)
	o.AdmitWithin = orDefault(o.AdmitWithin, DefaultAdmitWithin)
	p := &Proxy{
		o: o, probe: probe, records: newRecords(o.Records, o.ToAgent, o.AgentToken, o.Log), passed: passed{log: o.Log},
		room: newRoom(o.Clock), deciding: newQuota(o.Clock, maxDeciding, maxDecidingOfOneSender, o.AdmitWithin),
		decoded: semaphore.NewWeighted(maxDecodedCost), extracting: newQuota(o.Clock, maxExtracting, 1, o.AdmitWithin),
	}
	p.life, p.end = context.WithCancel(context.Background())
	var err error
	if p.tab, err = newTab(); err != nil {
		return nil, fmt.Errorf("proxy: files of the tab: %w", err)
	}
	toNomad := o.Transport
	if o.MaxRequests > 0 {
		toNomad = &limited{next: o.Transport, most: int64(o.MaxRequests)}
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.Nomad)
			r.Out.Host = r.In.Host // the UI's links stay ours
			r.SetXForwarded()
			if o.Name != "" {
				r.Out.Header.Add("Via", via(o.Name))
			}
		},
		Transport:      toNomad,
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
	case p.o.Name != "" && slices.Contains(r.Header.Values("Via"), via(p.o.Name)):
		http.Error(w, "nomad-placer proxy: the request came back to the proxy that sent it: the address of Nomad that it was given (-address or NOMAD_ADDR) leads to itself", http.StatusLoopDetected)
		return
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
	text, passes, err := p.readBody(w, r)
	if err != nil {
		p.unread(w, err)
		return
	}
	defer text.release()
	if passes != nil {
		p.pass(w, r, nil, passes)
		return
	}
	handle(w, r, text)
}

// via is how a proxy names itself to the next one.
func via(name string) string { return "1.1 nomad-placer-" + name }

// unread answers a request whose body did not come.
func (p *Proxy) unread(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	if errors.Is(err, os.ErrDeadlineExceeded) {
		http.Error(w, fmt.Sprintf("nomad-placer proxy: the request did not arrive whole within %s; nothing was sent to Nomad, send it again", p.o.BodyWithin), http.StatusRequestTimeout)
		return
	}
	http.Error(w, "nomad-placer proxy: reading the request: "+err.Error(), http.StatusBadRequest)
}

// handler answers a request whose body was read.
type handler func(w http.ResponseWriter, r *http.Request, text *spool)

// ofJob are the ends of paths below /v1/job/ID that Nomad takes for something else than
// the job itself.
var ofJob = []string{
	"/evaluate", "/allocations", "/evaluations", "/periodic/force", "/summary", "/dispatch", "/dispatch/payload", "/versions", "/revert",
	"/deployments", "/deployment", "/stable", "/scale", "/services", "/submission", "/actions", "/action", "/tag",
}

// parsePath is where Nomad makes a job of a jobspec.
const parsePath = "/v1/jobs/parse"

// handlerOf is nil for requests that pass through. As in Nomad a path is read without its
// escapes, so the name of a job may have slashes.
func (p *Proxy) handlerOf(r *http.Request) handler {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return nil
	}
	switch path := r.URL.Path; path {
	case "/v1/jobs":
		return p.register
	case parsePath:
		return p.parse
	case "/v1/validate/job":
		return p.validate
	default:
		id, isJob := strings.CutPrefix(path, "/v1/job/")
		switch {
		case !isJob || id == "":
			return nil
		case strings.HasSuffix(id, "/plan"):
			return p.plan
		case slices.ContainsFunc(ofJob, func(end string) bool { return strings.HasSuffix(id, end) }):
			return nil
		}
		return p.register
	}
}

// unreachable answers for a Nomad that does not.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		// The client has gone, or closed its side early. An answer that nobody gave would
		// read as success: the connection is broken off instead.
		panic(http.ErrAbortHandler)
	}
	if closes, told := p.takesNone(r.Context()); closes {
		p.o.Log.Warn("Nomad takes no more connections from this host", "method", r.Method, "path", r.URL.Path, "hint", "set http_max_conns_per_client to 0 in the agent that the proxy asks")
		status := http.StatusBadGateway
		if told && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			status = http.StatusTooManyRequests // nothing was done, for certain
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, fmt.Sprintf("nomad-placer proxy: "+fullText, p.o.Nomad.Host), status)
		return
	}
	p.o.Log.Warn("Nomad does not answer", "method", r.Method, "path", r.URL.Path, "error", err)
	http.Error(w, fmt.Sprintf("nomad-placer proxy: Nomad at %s does not answer: %s. Is its agent running, and is that its address? "+
		"The proxy takes it from -address or NOMAD_ADDR and keeps nothing: send a job again once Nomad answers", p.o.Nomad.Host, err), http.StatusBadGateway)
}

// afterKey finds in a request's context what is to be done with its answer.
type afterKey struct{}

// refusalKey finds in a request's context what its user should read below a refusal.
type refusalKey struct{}

// after changes a successful answer; what it returns as an error is answered as one.
type after func(answer *http.Response) error

// answered is called for every answer that passes through.
func answered(answer *http.Response) error {
	if more, ok := answer.Request.Context().Value(refusalKey{}).(string); ok {
		return explained(answer, more)
	}
	f, ok := answer.Request.Context().Value(afterKey{}).(after)
	if !ok || answer.StatusCode != http.StatusOK {
		return nil
	}
	return f(answer)
}

// maxRefusalBytes of a refusal are kept where a line is added to it.
const maxRefusalBytes = 64 << 10

// explained adds a line to what Nomad says of a request that it refuses.
func explained(answer *http.Response, line string) error {
	if answer.StatusCode != http.StatusBadRequest {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusalBytes))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	replaceAnswer(answer, append(bytes.TrimRight(said, "\n"), "\nnomad-placer: "+line+"\n"...))
	return nil
}

// check asks whether a job has targets. A placer that fails costs the job its
// placement, and nothing else.
func (p *Proxy) check(job map[string]any) (targets bool, note string, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			p.o.Log.Error("looking for targets failed; the job passes as it is", "job", text(job, "ID"), "failure", fmt.Sprint(failure))
			targets, note, err = false, "", nil
		}
	}()
	return p.o.Placer.Check(job)
}

// forward sends a request on with another body, and f on its answer.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, text *parts, f after) {
	setBody(r, text)
	p.forwardRead(w, r, f)
}

// forwardRefusal sends a request on, and adds a line to a refusal.
func (p *Proxy) forwardRefusal(w http.ResponseWriter, r *http.Request, text *parts, line string) {
	setBody(r, text)
	r.Header.Set("Accept-Encoding", "identity")
	p.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusalKey{}, line)))
}

// forwardRead sends a request on, and f on its answer.
func (p *Proxy) forwardRead(w http.ResponseWriter, r *http.Request, f after) {
	if f == nil {
		p.reverse.ServeHTTP(w, r)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), afterKey{}, f))
	// An answer we look into must not come compressed.
	r.Header.Set("Accept-Encoding", "identity")
	p.reverse.ServeHTTP(w, r)
}
