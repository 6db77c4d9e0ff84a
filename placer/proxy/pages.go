package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// PagesPath is where the pages and records of the placer's agent are.
const PagesPath = "/placer/"

// recordsWithin bounds a request for records; the agent's own bound is 15 s.
const recordsWithin = 20 * time.Second

// errNoAgent: no address of an agent is known.
var errNoAgent = errors.New("no agent of nomad-placer is known; is its job running? `nomad job status nomad-placer`")

// records are the placer's pages on their way through the proxy: what a user may
// not read in Nomad is not shown here either.
type records struct {
	find  func(context.Context) (*url.URL, error) // the agent's address
	token func() string                           // that we show the agent; nil: none
	agent *httputil.ReverseProxy

	mu    sync.Mutex
	found bool
}

type agentKey struct{}

func newRecords(find func(context.Context) (*url.URL, error), transport http.RoundTripper, token func() string, log *slog.Logger) *records {
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.Proxy = nil
		own.MaxIdleConnsPerHost = MaxIdle
		transport = own
	}
	s := &records{find: find, token: token}
	s.agent = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(r.In.Context().Value(agentKey{}).(*url.URL))
			r.Out.Host = r.In.Host
			r.SetXForwarded()
			r.Out.Header.Set("X-Forwarded-Prefix", strings.TrimSuffix(PagesPath, "/"))
			for _, h := range append([]string{"Cookie"}, tokenHeaders...) {
				r.Out.Header.Del(h) // the user's go to Nomad alone
			}
			s.showToken(r.Out.Header)
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(r.Context().Err(), context.Canceled) {
				return // the reader is gone
			}
			log.Warn("the placer's agent does not answer", "path", r.URL.Path, "error", err)
			noRecords(w, http.StatusBadGateway, fmt.Sprintf("The placer's agent does not answer: %s", err))
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return s
}

// showToken lets the agent know us. What the user may see we have asked of Nomad.
func (s *records) showToken(h http.Header) {
	if s.token == nil {
		return
	}
	if token := s.token(); token != "" {
		h.Set("X-Nomad-Token", token)
	}
}

// noRecords answers as the placer's own JSON does.
func noRecords(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message}) // the reader may be gone
}

// where the records came from last, for everybody: the address is not.
func (s *records) where() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.found {
		return ""
	}
	return "the placer's agent"
}

func (s *records) address(ctx context.Context) (*url.URL, error) {
	if s.find == nil {
		return nil, errNoAgent
	}
	u, err := s.find(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = false
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, errNoAgent
	}
	s.found = true
	return u, nil
}

// servePages passes a request on to the agent if the user may read in Nomad what
// it is about.
func (p *Proxy) servePages(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		noRecords(w, http.StatusMethodNotAllowed, "Only GET and HEAD.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), recordsWithin)
	defer cancel()
	r = r.WithContext(ctx)
	agent, err := p.records.address(ctx)
	if err != nil {
		noRecords(w, http.StatusServiceUnavailable, "The placer's records cannot be reached: "+err.Error())
		return
	}
	if !p.permitted(w, r) {
		return
	}
	r = r.WithContext(context.WithValue(ctx, agentKey{}, agent))
	http.StripPrefix(strings.TrimSuffix(PagesPath, "/"), p.records.agent).ServeHTTP(w, r)
}

// permitted asks Nomad, with the user's token, for what a page is about. Where
// Nomad refuses, its own answer is the user's.
func (p *Proxy) permitted(w http.ResponseWriter, r *http.Request) bool {
	path, query, err := rightFor(r)
	if err != nil {
		noRecords(w, http.StatusNotFound, err.Error())
		return false
	}
	if path == "" {
		return true
	}
	answer, ok := p.asUser(w, r, path, query)
	if ok {
		_ = answer.Body.Close() // that it may be read is all we want to know
	}
	return ok
}

// asUser asks Nomad with the user's token. Where Nomad refuses, its own answer is
// the user's, and ok is false.
func (p *Proxy) asUser(w http.ResponseWriter, r *http.Request, path string, query url.Values) (answer *http.Response, ok bool) {
	answer, err := p.as(r).get(r.Context(), path, query)
	if err != nil {
		p.unreachable(w, r, err)
		return nil, false
	}
	if answer.StatusCode == http.StatusOK {
		return answer, true
	}
	defer answer.Body.Close()
	for h, v := range answer.Header {
		w.Header()[h] = v
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // the reader may be gone
	return nil, false
}

// rightFor is the request to Nomad that whoever sees a page must be able to make;
// empty where everyone may.
//
//	…/<namespace>/<job>[/…]   the job
//	node/<id>, v1/node/<id>   the node
//	everything else           operator:read, for it spans namespaces
func rightFor(r *http.Request) (path string, query url.Values, err error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), PagesPath), "/")
	if parts[0] == "v1" {
		parts = parts[1:]
	}
	words := make([]string, len(parts))
	for i, part := range parts {
		if words[i], err = url.PathUnescape(part); err != nil {
			return "", nil, err
		}
		// The agent must read the same path as we do.
		if slices.Contains(strings.Split(words[i], "/"), "..") || words[i] == "." {
			return "", nil, errors.New("no such page")
		}
	}
	if len(words) > 0 && words[0] == "assets" {
		return "", nil, nil
	}
	switch {
	case len(words) == 2 && words[0] == "node":
		return "/v1/node/" + url.PathEscape(words[1]), url.Values{}, nil
	case len(words) >= 3:
		return rightForJob(words[1], words[2])
	default:
		return "/v1/operator/scheduler/configuration", url.Values{}, nil
	}
}

func rightForJob(namespace, job string) (string, url.Values, error) {
	if namespace == "" || job == "" {
		return "", nil, errors.New("a namespace and a job are needed")
	}
	return "/v1/job/" + url.PathEscape(job), url.Values{"namespace": {namespace}}, nil
}

// read returns one of the agent's records; nil where it has none.
func (s *records) read(ctx context.Context, agent *url.URL, path string) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(agent.String(), "/")+path, nil)
	if err != nil {
		return nil, err
	}
	s.showToken(r.Header)
	answer, err := s.agent.Transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("the placer's agent does not answer: %w", err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxReadBytes))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the placer's agent does not answer: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return nil, nil
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the placer's agent says: %s", strings.TrimSpace(string(data[:min(len(data), 200)])))
	case !json.Valid(data):
		return nil, errors.New("the placer's agent does not answer with JSON; is the address that of its pages?")
	}
	return data, nil
}
