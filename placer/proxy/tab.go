package proxy

import (
	"embed"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// TabPath is where the files of the tab are.
const TabPath = "/placer-tab/"

//go:embed assets
var assetFiles embed.FS

// tab serves the files of the placement tab and knows whether it is shown.
type tab struct {
	files http.Handler

	mu    sync.Mutex
	pages int64  // that got the tab
	bare  int64  // that were left as they came
	why   string // the newest of those was
}

func newTab() (*tab, error) {
	files, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return nil, err
	}
	return &tab{files: http.StripPrefix(TabPath, http.FileServerFS(files))}, nil
}

func (t *tab) added() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages++
	t.why = ""
}

// left counts a page without the tab, and logs a reason once.
func (t *tab) left(why string, log *slog.Logger) {
	t.mu.Lock()
	known := t.why == why
	t.bare++
	t.why = why
	t.mu.Unlock()
	if !known {
		log.Warn("Nomad's page is served without the placement tab", "reason", why)
	}
}

// TabStatus is what /placer-tab/status answers.
type TabStatus struct {
	Pages   int64  `json:"pages"`         // that got the tab since the proxy started
	Bare    int64  `json:"bare"`          // that were left as Nomad sent them
	Why     string `json:"why,omitempty"` // the newest page was left as it was
	Records string `json:"records"`       // what the records come from; empty: from nowhere
	// Passed are the jobs that went to Nomad as they are although they may have had a
	// performance block, by reason.
	Passed map[string]int64 `json:"passed,omitempty"`
}

func (t *tab) status(records string) TabStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return TabStatus{Pages: t.pages, Bare: t.bare, Why: t.why, Records: records}
}

// serveTab answers below TabPath. The files are read again at each start of the
// UI: they are small, and an updated proxy must not meet old ones.
func (p *Proxy) serveTab(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-cache")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	switch name := strings.TrimPrefix(r.URL.Path, TabPath); name {
	case "":
		http.NotFound(w, r) // no listing
	case "status":
		h.Set("Content-Type", "application/json")
		status := p.tab.status(p.records.where())
		status.Passed = p.passed.counts()
		_ = json.NewEncoder(w).Encode(status) // the reader may be gone
	case "chart.css", "chart.js":
		http.ServeFileFS(w, r, chart.Assets(), name)
	default:
		// Names of jobs may have any character, escaped slashes too.
		parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), TabPath), "/")
		switch {
		case len(parts) == 3 && parts[0] == "job":
			p.serveJobRecord(w, r, unescaped(parts[1]), unescaped(parts[2]))
		case len(parts) == 2 && parts[0] == "node":
			p.serveNodeRecord(w, r, unescaped(parts[1]))
		default:
			p.tab.files.ServeHTTP(w, r)
		}
	}
}

// unescaped is empty for what no name can be; the path itself was read before.
func unescaped(part string) string {
	s, err := url.PathUnescape(part)
	if err != nil {
		return ""
	}
	return s
}
