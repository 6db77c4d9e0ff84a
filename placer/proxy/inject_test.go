package proxy_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// nomadPolicy is the content security policy of Nomad 1.11 with its defaults.
const nomadPolicy = "default-src 'none'; connect-src *; img-src 'self' data:; script-src 'self'; style-src 'self' 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'"

// A page of the shape of Nomad's index.html, and not its text.
const (
	indexPage = "<!DOCTYPE html>\n<html><HEAD><title>Nomad</title></HEAD><body><script src=\"/ui/assets/app.js\"></script></body></html>"
	wantPage  = "<!DOCTYPE html>\n<html><HEAD><title>Nomad</title><link rel=\"stylesheet\" href=\"/placer-tab/tab.css\"><script type=\"module\" src=\"/placer-tab/tab.js\"></script></HEAD><body><script src=\"/ui/assets/app.js\"></script></body></html>"
)

// ui is a server of pages behind a proxy.
type ui struct {
	body     string
	policies []string
	kind     string
	encoding string // forced, whatever the reader accepts
	status   int
	seen     http.Header
}

func (u *ui) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.seen = r.Header.Clone()
	h := w.Header()
	for _, p := range u.policies {
		h.Add("Content-Security-Policy", p)
	}
	h.Set("X-Own", "kept")
	h.Set("ETag", `"abc"`)
	h.Set("Last-Modified", "Sat, 14 Mar 2026 15:09:26 GMT")
	h.Set("Content-Type", u.kind)
	data := []byte(u.body)
	encoding := u.encoding
	if encoding == "" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		encoding = "gzip"
	}
	if encoding == "gzip" {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
		data = b.Bytes()
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(u.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data)
	}
}

func openUI(t *testing.T, change func(*ui)) (*ui, string) {
	t.Helper()
	u := &ui{body: indexPage, policies: []string{nomadPolicy}, kind: "text/html; charset=utf-8", status: http.StatusOK}
	if change != nil {
		change(u)
	}
	behind := httptest.NewServer(u)
	t.Cleanup(behind.Close)
	f := open(t, func(o *proxy.Options) { o.Nomad, _ = url.Parse(behind.URL) })
	return u, f.url
}

// get answers with what came over the wire, not decoded.
func get(t *testing.T, method, address string, header map[string]string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity")
	for k, v := range header {
		r.Header.Set(k, v)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, data
}

func unzipped(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The UI's page gets the tab, whatever its address, and keeps its policy.
func TestPageGetsTheTab(t *testing.T) {
	t.Parallel()
	u, address := openUI(t, nil)
	for _, path := range []string{"/ui/", "/ui/jobs/web@default", "/ui/jobs/web.js@default/definition", "/ui/clients/1-2?x=y"} {
		answer, data := get(t, "GET", address+path, map[string]string{"If-None-Match": `"abc"`, "If-Modified-Since": "x", "Range": "bytes=0-1"})
		if string(data) != wantPage {
			t.Errorf("%s: %s", path, data)
		}
		h := answer.Header
		if got := h["Content-Security-Policy"]; len(got) != 1 || got[0] != nomadPolicy {
			t.Errorf("%s: policy %q", path, got)
		}
		if h.Get("Content-Length") != strconv.Itoa(len(wantPage)) || h.Get("ETag") != "" || h.Get("Last-Modified") != "" || h.Get("X-Own") != "kept" {
			t.Errorf("%s: header %v", path, h)
		}
		for _, gone := range []string{"If-None-Match", "If-Modified-Since", "Range"} {
			if u.seen.Get(gone) != "" {
				t.Errorf("%s was sent on", gone)
			}
		}
	}
	answer, data := get(t, "GET", address+"/ui/", map[string]string{"Accept-Encoding": "br;q=1, gzip;q=0.5"})
	if got := unzipped(t, data); got != wantPage || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed: %q %v", got, answer.Header)
	}
	if _, data := get(t, "GET", address+"/ui/", map[string]string{"Accept-Encoding": "gzip;q=0"}); string(data) != wantPage {
		t.Errorf("a reader that takes no gzip got %q", data)
	}
	answer, data = get(t, "HEAD", address+"/ui/", nil)
	if len(data) != 0 || answer.StatusCode != http.StatusOK || answer.Header.Get("ETag") != "" || answer.Header.Get("Content-Length") != "" {
		t.Errorf("HEAD: %v %q", answer.Header, data)
	}
}

// Whatever is not surely the UI's page, or cannot be changed safely, passes byte
// for byte.
func TestPageIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, why string
		change          func(*ui)
	}{
		{"an asset", "/ui/assets/app.js", "", func(u *ui) { u.kind = "text/javascript" }},
		{"an asset that claims to be a page", "/ui/assets/x.html", "", nil},
		{"an image beside the assets", "/ui/favicon.ico", "", func(u *ui) { u.kind = "image/x-icon" }},
		{"an error page", "/ui/x", "", func(u *ui) { u.status = http.StatusInternalServerError }},
		{"not the UI", "/v1/jobs", "", nil},
		{"no head", "/ui/", "no head", func(u *ui) { u.body = "<p>hello" }},
		{"an encoding we do not know", "/ui/", `encoded as "br"`, func(u *ui) { u.encoding = "br" }},
		{"too long", "/ui/", "longer than", func(u *ui) { u.body = indexPage + strings.Repeat(" ", 1<<20) }},
		{"scripts by nonce only", "/ui/", "(script-src)", func(u *ui) { u.policies = []string{"script-src 'nonce-abc'"} }},
		{"no scripts", "/ui/", "(default-src)", func(u *ui) { u.policies = []string{"default-src 'none'"} }},
		{"a second policy", "/ui/", "(script-src-elem)", func(u *ui) { u.policies = append(u.policies, "script-src 'self'; script-src-elem 'none'") }},
		{"two policies in one line", "/ui/", "(style-src)", func(u *ui) { u.policies = []string{nomadPolicy + ", style-src 'none'"} }},
		{"strict-dynamic", "/ui/", "(script-src)", func(u *ui) { u.policies = []string{"script-src 'self' 'strict-dynamic' 'nonce-x'"} }},
		{"no requests", "/ui/", "(connect-src)", func(u *ui) { u.policies = []string{"connect-src https://example.org"} }},
		{"sandbox", "/ui/", "sandbox", func(u *ui) { u.policies = []string{"sandbox allow-scripts"} }},
	} {
		u, address := openUI(t, c.change)
		answer, data := get(t, "GET", address+c.path, nil)
		if string(data) != u.body || answer.Header.Get("ETag") != `"abc"` {
			t.Errorf("%s: %.200q %v", c.name, data, answer.Header)
		}
		if got := answer.Header["Content-Security-Policy"]; strings.Join(got, "|") != strings.Join(u.policies, "|") {
			t.Errorf("%s: policy %q", c.name, got)
		}
		_, data = get(t, "GET", address+"/placer-tab/status", nil)
		var status proxy.TabStatus
		if err := json.Unmarshal(data, &status); err != nil || !strings.Contains(status.Why, c.why) || (status.Bare > 0) != (c.why != "") || status.Pages != 0 {
			t.Errorf("%s: status %s, %v", c.name, data, err)
		}
	}
}

// Policies that allow the tab, and are sent on as they are.
func TestPoliciesThatAllowTheTab(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"", "img-src 'none'", "script-src *; style-src http:", "default-src 'SELF'", "script-src 'none' ; script-src-elem 'self'"} {
		u, address := openUI(t, func(u *ui) { u.policies = []string{policy} })
		answer, data := get(t, "GET", address+"/ui/", nil)
		if string(data) != wantPage || answer.Header.Get("Content-Security-Policy") != u.policies[0] {
			t.Errorf("%q: %.200q %v", policy, data, answer.Header)
		}
	}
}

// A page that breaks off breaks off for the reader too, and is not called whole.
func TestPageThatBreaksOff(t *testing.T) {
	t.Parallel()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, indexPage)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(behind.Close)
	f := open(t, func(o *proxy.Options) { o.Nomad, _ = url.Parse(behind.URL) })
	answer, err := http.Get(f.url + "/ui/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if data, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("no error after %q", data)
	}
}

// The tab's own files are complete, and nothing else is served.
func TestTabFiles(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	for path, want := range map[string]string{"tab.js": "text/javascript", "job.js": "text/javascript", "tab.css": "text/css", "chart.js": "text/javascript", "chart.css": "text/css", "status": "application/json"} {
		answer, data := get(t, "GET", f.url+"/placer-tab/"+path, nil)
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), want) || len(data) == 0 || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s %v", path, answer.Status, answer.Header)
		}
	}
	for _, path := range []string{"", "nothing.js", "../proxy.go", "job/default", "job/a/b/c"} {
		if answer, data := get(t, "GET", f.url+"/placer-tab/"+path, nil); answer.StatusCode == http.StatusOK {
			t.Errorf("%q: %s %.80s", path, answer.Status, data)
		}
	}
	if answer, _ := get(t, "POST", f.url+"/placer-tab/tab.js", nil); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", answer.Status)
	}
	if writes := f.nomad.writes(); len(writes) != 0 {
		t.Errorf("Nomad was asked: %q", writes)
	}
}
