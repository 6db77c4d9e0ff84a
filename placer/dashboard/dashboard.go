package dashboard

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// DefaultRefresh is how often an open page reads itself again.
const DefaultRefresh = 5 * time.Second

// requestTimeout bounds the reading of records for one request.
const requestTimeout = 15 * time.Second

// Options are the facts around the records.
type Options struct {
	Base     string                      // path the pages are mounted under, for example "/placer"; requests carry it
	Version  string                      // of nomad-placer
	NomadURL string                      // of Nomad's web UI, for links; empty: no links
	Refresh  time.Duration               // of open pages; 0: DefaultRefresh
	Now      func() time.Time            // required
	Leader   func() string               // address of the leading replica, "" if unknown; may be nil
	Health   func(context.Context) error // what /healthz asks; may be nil
	Log      *slog.Logger                // may be nil
	Root     fs.FS                       // file system of the node, for its pressure stall information; nil: none is shown
}

// server renders records. It keeps no state of its own.
type server struct {
	records Records
	options Options
	pages   map[string]*template.Template
}

// New returns the handler of all pages, charts, JSON and metrics.
func New(records Records, options Options) (http.Handler, error) {
	if options.Now == nil {
		return nil, errors.New("dashboard: Options.Now is required")
	}
	options.Base = strings.TrimSuffix(options.Base, "/")
	if options.Base != "" && !strings.HasPrefix(options.Base, "/") {
		return nil, fmt.Errorf("dashboard: Options.Base is %q, but must begin with a slash, as in \"/placer\"", options.Base)
	}
	if options.Refresh == 0 {
		options.Refresh = DefaultRefresh
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{records: records, options: options, pages: map[string]*template.Template{}}
	for _, name := range templateNames() {
		t, err := template.New("layout.html").Funcs(templateFuncs()).
			ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("dashboard: page %s: %w", name, err)
		}
		s.pages[name] = t
	}
	assets, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return nil, fmt.Errorf("dashboard: assets: %w", err)
	}
	return mounted(options.Base, s.routes(assets)), nil
}

// mounted takes the base path off requests. Links in pages are relative, so
// nothing else knows of it.
func mounted(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	mux := http.NewServeMux()
	mux.Handle(base+"/", http.StripPrefix(base, next)) // the mux redirects base itself to base/
	return mux
}

// rootOf is the relative way from a request's page to the first one: "./",
// "../", and so on. A browser counts the slashes of the address as it was sent.
func rootOf(r *http.Request) string {
	depth := strings.Count(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if depth == 0 {
		return "./"
	}
	return strings.Repeat("../", depth)
}

func (s *server) routes(assets fs.FS) http.Handler {
	mux := http.NewServeMux()
	for _, p := range pages {
		for _, pattern := range p.patterns {
			mux.HandleFunc("GET "+pattern, s.page(func(r *http.Request) (pageView, error) { return p.render(s, r) }))
		}
	}

	data := func(pattern string, f func(*http.Request) (any, error)) {
		mux.HandleFunc("GET "+pattern, s.json(f))
	}
	data("/v1/decisions", s.decisionsJSON)
	data("/v1/decision/{namespace}/{job}/{group}", s.decisionJSON)
	data("/v1/decision/{namespace}/{job}/{$}", s.decisionJSON)
	data("/v1/evaluations", s.evaluationsJSON)
	data("/v1/profiles", s.profilesJSON)
	data("/v1/profile/{key}", s.profileJSON)
	data("/v1/nodes", s.nodesJSON)
	data("/v1/node/{id}", s.nodeJSON)
	data("/v1/heat", s.heatJSON)
	data("/v1/targets", s.targetsJSON)
	data("/v1/policies", s.policiesJSON)
	data("/v1/actions/{namespace}/{job}/{group}", s.actionsJSON)
	data("/v1/whatif/{namespace}/{job}/{group}", s.whatIfJSON)
	data("/v1/observations/{namespace}/{job}/{group}", s.observationsJSON)
	data("/v1/observations/{namespace}/{job}/{$}", s.observationsJSON)
	data("/v1/measured/{namespace}/{job}/{group}", s.measuredJSON)
	data("/v1/measured/{namespace}/{job}/{$}", s.measuredJSON)

	mux.HandleFunc("GET /chart/{namespace}/{job}/{file}", s.chart)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.healthz)
	for _, file := range []string{"chart.css", "chart.js"} {
		mux.Handle("GET /assets/"+file, http.StripPrefix("/assets/", cached(http.FileServerFS(chart.Assets()))))
	}
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", cached(http.FileServerFS(assets))))
	mux.HandleFunc("/", s.page(func(*http.Request) (pageView, error) {
		return pageView{}, fmt.Errorf("this page does not exist: %w", cluster.ErrNoRecord)
	}))
	return secured(mux)
}

// secured sets the headers every answer carries. Nothing is loaded from
// elsewhere and no inline script or style runs.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "+
			"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		next.ServeHTTP(w, r)
	})
}

// pageView is one page: its template, title and data.
type pageView struct {
	Template string
	Title    string
	Root     string // relative way to the first page; every link begins with it
	Version  string
	NomadURL string
	Leader   string
	Refresh  int // seconds; 0: as Options say; negative: never
	Now      time.Time
	Nav      []navItem
	Script   string // a script of its own, in assets/; empty: none
	Wide     bool   // the content may use the whole window
	Data     any
}

// templateNames are those of all pages, and of the one that tells an error.
func templateNames() []string {
	names := []string{"error"}
	for _, p := range pages {
		names = append(names, p.name)
	}
	return names
}

// page renders into memory first, so that a failure is an error page and not
// half a page.
func (s *server) page(f func(*http.Request) (pageView, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		view, err := f(r)
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			s.logFailure(r, status, err)
			view = pageView{Template: "error", Title: http.StatusText(status), Data: errorView{Status: status, Message: wording.Capital(err.Error())}}
		}
		view.Root = rootOf(r)
		s.render(w, status, view)
	}
}

func (s *server) render(w http.ResponseWriter, status int, view pageView) {
	view.Version, view.NomadURL = s.options.Version, s.options.NomadURL
	view.Now, view.Nav = s.options.Now(), navigation(view.Template)
	if view.Refresh == 0 {
		view.Refresh = int(s.options.Refresh.Seconds())
	}
	if s.options.Leader != nil {
		view.Leader = s.options.Leader()
	}
	var body bytes.Buffer
	if err := s.pages[view.Template].Execute(&body, view); err != nil {
		s.options.Log.Error("rendering a page failed", "page", view.Template, "error", err)
		http.Error(w, "the page could not be rendered; the reason is in the agent's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the reader may be gone
}

type errorView struct {
	Status  int
	Message string
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, cluster.ErrNoRecord), errors.Is(err, cluster.ErrGone):
		return http.StatusNotFound
	case errors.As(err, new(inputError)):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}

func (s *server) logFailure(r *http.Request, status int, err error) {
	if status != http.StatusNotFound {
		s.options.Log.Warn("a request failed", "path", r.URL.Path, "error", err)
	}
}

func workloadOf(r *http.Request) cluster.WorkloadID {
	return cluster.WorkloadID{Namespace: r.PathValue("namespace"), Job: r.PathValue("job"), Group: r.PathValue("group")}
}
