package dashboard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// tokens of a Nomad, each with its rights: namespaces, "node", "records".
type tokens map[string][]string

const (
	ofDefault  = "token-of-default"
	ofBatch    = "token-of-batch"
	ofNobody   = "token-of-nobody"
	ofOperator = "token-of-operator"
)

var everybody = tokens{
	ofDefault: {"default", "node"}, ofBatch: {"batch", "node"}, ofNobody: nil, ofOperator: {"node", "records"}, // not the jobs themselves
}

func (t tokens) may(token, right string) (bool, error) {
	if t == nil {
		return false, errors.New("no answer")
	}
	return slices.Contains(t[token], right), nil
}

func (t tokens) AccessControlled(context.Context) (bool, error) { return true, nil }
func (t tokens) KnowsToken(_ context.Context, token string) (bool, error) {
	_, known := t[token]
	return known, nil
}
func (t tokens) MayReadJobs(_ context.Context, token, namespace string) (bool, error) {
	return t.may(token, namespace)
}
func (t tokens) MaySubmitJobs(context.Context, string, string) (bool, error) { return false, nil }
func (t tokens) MayReadNodes(_ context.Context, token string) (bool, error) {
	return t.may(token, "node")
}
func (t tokens) MayReadVariables(_ context.Context, token, _, _ string) (bool, error) {
	return t.may(token, "records")
}

func guarded(t *testing.T, r Records, metrics MetricsFor) http.Handler {
	t.Helper()
	gate, err := access.New(access.Options{
		Nomad: everybody, RecordsNamespace: "default", RecordsPrefix: "nomad-placer", Now: dashboardtest.Clock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(r, Options{Now: dashboardtest.Clock, Access: gate, Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func getAs(t *testing.T, h http.Handler, token, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if token != "" {
		r.Header.Set("X-Nomad-Token", token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const node = "a1b2c3d4-0000-0000-0000-000000000003" // has a resident of default

// everyPath is an address of each kind.
var everyPath = []string{
	"/", "/heat", "/targets", "/log", "/policies", "/profiles", "/profile/3f2a9c", "/job/default/cache/redis", "/node/" + node,
	"/job/default/cache/redis?whatif=1", "/v1/decisions", "/v1/decision/default/cache/redis", "/v1/evaluations", "/v1/profiles", "/v1/profile/3f2a9c", "/v1/productions", "/v1/production/3f2a9c",
	"/provision", "/provision?compare=1&cores=16&memory_mb=65536&price=0.28", "/v1/provision", "/v1/provision/capacity", "/v1/provision/whatif?cores=16&memory_mb=65536&price=0.28", "/traffic", "/v1/traffic", "/v1/nodes", "/v1/node/" + node, "/v1/heat", "/v1/targets", "/v1/policies", "/v1/actions/default/cache/redis", "/v1/whatif/default/cache/redis",
	"/v1/observations/default/cache/redis", "/v1/disk-limits/default/cache/redis", "/v1/measured/default/cache/redis", "/v1/learnt/default/cache/redis",
}

func TestWithoutATokenNothingIsServed(t *testing.T) {
	t.Parallel()
	h := guarded(t, asking{dashboardtest.Fixture()}, MetricsForToken)
	for _, path := range append(everyPath, "/metrics", "/no/such/page") {
		for _, token := range []string{"", "unknown"} {
			w := getAs(t, h, token, path)
			if w.Code != http.StatusUnauthorized || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s with token %q: status %d, %v", path, token, w.Code, w.Header())
			}
			// The way back is in the form, and names only what was asked for.
			for _, secret := range []string{"redis", "20,000", "alpha", "3f2a9c"} {
				if strings.Contains(strings.ReplaceAll(w.Body.String(), path[1:], ""), secret) {
					t.Errorf("%s with token %q shows %q", path, token, secret)
				}
			}
			if strings.HasPrefix(path, "/job/") && !strings.Contains(w.Body.String(), `action="`+rootOf(httptest.NewRequest(http.MethodGet, path, nil))+`login"`) {
				t.Errorf("%s has no login:\n%s", path, w.Body)
			}
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/login": 200, "/assets/style.css": 200, "/assets/chart.css": 200} {
		if w := getAs(t, h, "", path); w.Code != want {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}

func TestATokenSeesItsOwnNamespaces(t *testing.T) {
	t.Parallel()
	fixture := dashboardtest.Fixture()
	for i := range fixture.AllDecisions {
		if d := &fixture.AllDecisions[i]; d.Workload.Namespace == "batch" {
			d.Candidates = []cluster.Candidate{{Node: node, Name: "beta", Neighbours: []string{"default/cache/redis", "batch/other/main"}}}
		}
	}
	h := guarded(t, asking{fixture}, MetricsForToken)
	for _, token := range []string{ofDefault, ofOperator} {
		for _, path := range everyPath {
			w := getAs(t, h, token, path)
			if asks := strings.HasPrefix(path, "/v1/whatif"); asks && token == ofOperator {
				if w.Code != http.StatusNotFound {
					t.Errorf("what if about a job that may not be read: status %d", w.Code)
				}
				continue
			}
			if w.Code != http.StatusOK {
				t.Errorf("%s with %s: status %d: %.200s", path, token, w.Code, w.Body)
			}
		}
	}
	if w := getAs(t, h, ofOperator, "/v1/node/"+node); strings.Contains(w.Body.String(), "redis") {
		t.Errorf("residents that may not be read: %s", w.Body)
	}
	for _, token := range []string{ofBatch, ofNobody} {
		for _, path := range everyPath {
			w := getAs(t, h, token, path)
			for _, secret := range []string{"redis", "20,000", "render", "frames", "search / index", `"stage"`, "3f2a9c"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("%s with %s shows %q:\n%.2000s", path, token, secret, w.Body)
				}
			}
		}
	}
	if w := getAs(t, h, ofBatch, "/v1/decisions"); !strings.Contains(w.Body.String(), "ffmpeg") || !strings.Contains(w.Body.String(), "batch/other/main") {
		t.Errorf("the token's own are not there: %s", w.Body)
	}
	if w := getAs(t, h, ofNobody, "/v1/nodes"); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "beta") {
		t.Errorf("nodes without node read: status %d: %s", w.Code, w.Body)
	}
	if w := getAs(t, h, ofNobody, "/"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "may not read nodes") {
		t.Errorf("first page without node read: status %d", w.Code)
	}
}

// What one may not see answers as what there is not: word for word, but for the name.
func TestWhatATokenMayNotSeeIsAsIfItWereNot(t *testing.T) {
	t.Parallel()
	h := guarded(t, asking{dashboardtest.Fixture()}, "")
	for _, path := range []string{
		"/job/%/cache/redis", "/v1/decision/%/cache/redis", "/v1/actions/%/cache/redis", "/v1/whatif/%/cache/redis",
		"/v1/observations/%/cache/redis", "/v1/disk-limits/%/cache/redis", "/v1/measured/%/cache/redis", "/v1/learnt/%/cache/redis", "/chart/%/cache/redis.svg",
	} {
		there := getAs(t, h, ofBatch, strings.Replace(path, "%", "default", 1))
		not := getAs(t, h, ofBatch, strings.Replace(path, "%", "nowhere", 1))
		if there.Code != not.Code || strings.ReplaceAll(there.Body.String(), "default", "nowhere") != not.Body.String() {
			t.Errorf("%s: %d and %d:\n%s\n%s", path, there.Code, not.Code, there.Body, not.Body)
		}
	}
	without := getAs(t, h, "", "/chart/default/cache/redis.svg").Body.String()
	if strings.Contains(without, "20,000") || !strings.Contains(without, "log in") {
		t.Errorf("chart without a token: %s", without)
	}
	if own := getAs(t, h, ofDefault, "/chart/default/cache/redis.svg").Body.String(); strings.Contains(own, "log in") {
		t.Errorf("chart of one's own: %s", own)
	}
}

// Several namespaces may share a profile. What production says of it names the workloads of
// those that the caller may read and counts the others; the words on a job's page are for the
// readers of its namespace, whoever asks.
func TestProductionNamesNoStrangers(t *testing.T) {
	t.Parallel()
	const stranger, own = "secret-team/db/main", "default/web/nginx"
	fixture := dashboardtest.Fixture()
	said := fixture.AllProductions["3f2a9c"]
	said.Workload = "secret-team/cache/redis"
	said.Experiments[0].Neighbours = []string{stranger, own}
	said.Suspicion.CoRunners = []string{stranger}
	said.Distrust = &profile.Distrust{At: dashboardtest.Now, Reason: "it did less (each time next to " + stranger + ")", CoRunners: []string{stranger}}
	fixture.AllProductions["3f2a9c"] = said
	shared := fixture.AllProfiles["3f2a9c"]
	shared.Workload = said.Workload
	fixture.AllProfiles["3f2a9c"] = shared
	h := guarded(t, asking{fixture}, MetricsForToken)
	for _, path := range []string{"/v1/production/3f2a9c", "/v1/learnt/default/cache/redis", "/job/default/cache/redis", "/v1/profile/3f2a9c", "/profile/3f2a9c", "/profiles"} {
		w := getAs(t, h, ofDefault, path)
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "secret-team") {
			t.Errorf("%s: status %d, or it names a stranger: %.3000s", path, w.Code, w.Body)
		}
	}
	if body := getAs(t, h, ofDefault, "/v1/production/3f2a9c").Body.String(); !strings.Contains(body, own) || !strings.Contains(body, `"others": 2`) || !strings.Contains(body, "next to a workload of another namespace") {
		t.Errorf("its own is not named, or the stranger is not counted: %s", body)
	}
	for path, named := range map[string]bool{"/v1/production/3f2a9c": true, "/v1/learnt/default/cache/redis": false} {
		if body := getAs(t, h, ofOperator, path).Body.String(); strings.Contains(body, stranger) != named || !strings.Contains(body, own) {
			t.Errorf("%s for who may read all records: %s", path, body)
		}
	}
	if said := fixture.AllProductions["3f2a9c"]; said.Experiments[0].Neighbours[0] != stranger || said.Suspicion.CoRunners[0] != stranger || said.Distrust.CoRunners[0] != stranger {
		t.Error("the record itself was written to")
	}
}

func TestLoginLeadsBack(t *testing.T) {
	t.Parallel()
	h := http.StripPrefix("/placer", guarded(t, dashboardtest.Fixture(), ""))
	post := func(path string, form url.Values, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://agent.example"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for to, want := range map[string]string{
		"job/default/cache/redis?whatif=1&policy=a": "./job/default/cache/redis?whatif=1&policy=a", "": "./", "//evil.example/": "./",
		"https://evil.example/": "./", "/evil": "./", `\\evil.example`: "./", "javascript:alert(1)": "./", "a\r\nX: y": "./",
	} {
		w := post("/placer/login", url.Values{"token": {ofDefault}, "to": {to}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || w.Header().Get("X") != "" {
			t.Errorf("login to %q: status %d to %q", to, w.Code, w.Header().Get("Location"))
		}
	}
	refused := post("/placer/login", url.Values{"token": {"unknown"}, "to": {"targets"}})
	if refused.Code != http.StatusUnauthorized || !strings.Contains(refused.Body.String(), `value="targets"`) || strings.Contains(refused.Body.String(), "unknown") {
		t.Errorf("refused login: status %d:\n%s", refused.Code, refused.Body)
	}

	session := post("/placer/login", url.Values{"token": {ofDefault}}).Result().Cookies()[0]
	page := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://agent.example/placer/targets", nil)
		r.AddCookie(&http.Cookie{Name: session.Name, Value: session.Value})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := page(); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `action="./logout"`) || !strings.Contains(w.Body.String(), "redis") {
		t.Errorf("a page after the login: status %d:\n%.500s", w.Code, w.Body)
	}
	if w := post("/placer/logout", nil, session); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./login" {
		t.Errorf("logout: status %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := page(); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "The login has ended") {
		t.Errorf("a page after the logout: status %d", w.Code)
	}
}

func TestMetricsAreForThisMachineOrAToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metrics             MetricsFor
		from, passed, token string
		want                int
	}{
		{"", "127.0.0.1:5", "", "", 200},
		{"", "[::1]:5", "", "", 200},
		{"", "127.0.0.1:5", "10.0.0.9", "", 401}, // through a proxy on this machine
		{"", "10.0.0.9:5", "", "", 401},
		{"", "10.0.0.9:5", "", ofOperator, 200},
		{"", "10.0.0.9:5", "", ofDefault, 403},
		{MetricsForLoopback, "10.0.0.9:5", "", "", 401},
		{MetricsForToken, "127.0.0.1:5", "", "", 401},
		{MetricsForToken, "127.0.0.1:5", "", ofOperator, 200},
		{MetricsForAll, "10.0.0.9:5", "", "", 200},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.from
		if c.passed != "" {
			r.Header.Set("X-Forwarded-For", c.passed)
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		guarded(t, dashboardtest.Fixture(), c.metrics).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v: status %d", c, w.Code)
		}
	}
}

// A question costs as much as it asks: one token that guesses is told to wait.
func TestRetryAfterIsSaid(t *testing.T) {
	t.Parallel()
	h := guarded(t, dashboardtest.Fixture(), "")
	for i := range 100 {
		w := getAs(t, h, "guess-"+strings.Repeat("x", i+1), "/v1/decisions")
		if w.Code == http.StatusTooManyRequests {
			if w.Header().Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
			return
		}
	}
	t.Error("100 guesses were not slowed down")
}
