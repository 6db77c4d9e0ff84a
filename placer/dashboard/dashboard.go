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

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
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
	Access   *access.Gate                // who may see what; nil: everybody everything
	Metrics  MetricsFor                  // who may read /metrics, where there is Access; "": MetricsForLoopback
	Root     fs.FS                       // file system of the node, for its pressure stall information; nil: none is shown
}

// server renders records. It keeps no state of its own.
type server struct {
	records Records
	caller  *access.Caller // of the request that is served; nil before that is known
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
			mux.HandleFunc("GET "+pattern, s.page(p.render))
		}
	}

	data := func(pattern string, f func(*server, *http.Request) (any, error)) {
		mux.HandleFunc("GET "+pattern, s.json(f))
	}
	data("/v1/decisions", (*server).decisionsJSON)
	data("/v1/decision/{namespace}/{job}/{group}", (*server).decisionJSON)
	data("/v1/decision/{namespace}/{job}/{$}", (*server).decisionJSON)
	data("/v1/evaluations", (*server).evaluationsJSON)
	data("/v1/profiles", (*server).profilesJSON)
	data("/v1/profile/{key}", (*server).profileJSON)
	data("/v1/productions", (*server).productionsJSON)
	data("/v1/production/{key}", (*server).productionJSON)
	data("/v1/nodes", (*server).nodesJSON)
	data("/v1/node/{id}", (*server).nodeJSON)
	data("/v1/heat", (*server).heatJSON)
	data("/v1/targets", (*server).targetsJSON)
	data("/v1/policies", (*server).policiesJSON)
	data("/v1/provision", (*server).provisionJSON)
	data("/v1/provision/capacity", (*server).capacityJSON)
	data("/v1/traffic", (*server).trafficJSON)
	data("/v1/provision/runs", (*server).runsJSON)
	data("/v1/provision/whatif", (*server).compareJSON)
	data("/v1/actions/{namespace}/{job}/{group}", (*server).actionsJSON)
	data("/v1/whatif/{namespace}/{job}/{group}", (*server).whatIfJSON)
	data("/v1/observations/{namespace}/{job}/{group}", (*server).observationsJSON)
	data("/v1/observations/{namespace}/{job}/{$}", (*server).observationsJSON)
	data("/v1/disk-limits/{namespace}/{job}/{group}", (*server).diskLimitsJSON)
	data("/v1/disk-limits/{namespace}/{job}/{$}", (*server).diskLimitsJSON)
	data("/v1/measured/{namespace}/{job}/{group}", (*server).measuredJSON)
	data("/v1/measured/{namespace}/{job}/{$}", (*server).measuredJSON)
	data("/v1/learnt/{namespace}/{job}/{group}", (*server).learntJSON)

	mux.HandleFunc("GET /chart/{namespace}/{job}/{file}", s.chart)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.healthz)
	for _, file := range []string{"chart.css", "chart.js"} {
		mux.Handle("GET /assets/"+file, http.StripPrefix("/assets/", cached(http.FileServerFS(chart.Assets()))))
	}
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", cached(http.FileServerFS(assets))))
	if s.options.Access != nil {
		mux.HandleFunc("GET /login", s.loginPage)
		mux.HandleFunc("POST /login", s.login)
		mux.HandleFunc("POST /logout", s.logout)
	}
	mux.HandleFunc("/", s.page(func(*server, *http.Request) (pageView, error) {
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
	LoggedIn bool   // by the form, so that there is a logout
	Data     any
}

// templateNames are those of all pages, of the one that tells an error, and of the login.
func templateNames() []string {
	names := []string{"error", "login"}
	for _, p := range pages {
		names = append(names, p.name)
	}
	return names
}

// page renders into memory first, so that a failure is an error page and not
// half a page.
func (s *server) page(f func(*server, *http.Request) (pageView, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var view pageView
		mine, err := s.seenBy(r)
		if err != nil {
			mine = s
		} else {
			view, err = f(mine, r)
		}
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			s.logFailure(r, status, err)
			tellHow(w, err)
			view = errorPage(r, status, err)
		}
		view.Root = rootOf(r)
		mine.render(w, status, view)
	}
}

// errorPage says why a page is not shown; where a login would help, it has the form.
func errorPage(r *http.Request, status int, err error) pageView {
	message := wording.Capital(err.Error())
	if status == http.StatusUnauthorized {
		return loginView(message, pathFrom(r))
	}
	return pageView{Template: "error", Title: http.StatusText(status), Data: errorView{Status: status, Message: message}}
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
	view.LoggedIn = s.caller != nil && s.caller.LoggedIn
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
	if refused, ok := errors.AsType[*access.Refusal](err); ok {
		return refused.Status
	}
	switch {
	case errors.Is(err, cluster.ErrNoRecord), errors.Is(err, cluster.ErrGone), errors.Is(err, provision.ErrNoRuns):
		return http.StatusNotFound
	case errors.As(err, new(inputError)), errors.Is(err, provision.ErrQuestion), errors.Is(err, provision.ErrTooMany), errors.Is(err, provision.ErrNoTypes):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}

func (s *server) logFailure(r *http.Request, status int, err error) {
	if status != http.StatusNotFound && !errors.As(err, new(*access.Refusal)) { // whose reasons are logged where they are
		s.options.Log.Warn("a request failed", "path", r.URL.Path, "error", err)
	}
}

func workloadOf(r *http.Request) cluster.WorkloadID {
	return cluster.WorkloadID{Namespace: r.PathValue("namespace"), Job: r.PathValue("job"), Group: r.PathValue("group")}
}
