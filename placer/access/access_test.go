package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	good    = "11111111-aaaa-bbbb-cccc-000000000001"
	another = "11111111-aaaa-bbbb-cccc-000000000002"
)

// nomad is one that knows some tokens, each with rights written "read-job web".
type nomad struct {
	mu     sync.Mutex
	off    bool
	down   error
	rights map[string][]string
	asked  []string
}

func (n *nomad) ask(question, token string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, question)
	if n.down != nil {
		return false, n.down
	}
	rights, known := n.rights[token]
	for _, r := range rights {
		if r == question {
			return true, nil
		}
	}
	return known && question == "known", nil
}

func (n *nomad) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.asked)
}

func (n *nomad) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *nomad) AccessControlled(context.Context) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.off, n.down
}
func (n *nomad) KnowsToken(_ context.Context, t string) (bool, error) { return n.ask("known", t) }
func (n *nomad) MayReadJobs(_ context.Context, t, ns string) (bool, error) {
	return n.ask("read-job "+ns, t)
}
func (n *nomad) MaySubmitJobs(_ context.Context, t, ns string) (bool, error) {
	return n.ask("submit-job "+ns, t)
}
func (n *nomad) MayReadNodes(_ context.Context, t string) (bool, error) { return n.ask("node", t) }
func (n *nomad) MayReadVariables(_ context.Context, t, ns, prefix string) (bool, error) {
	return n.ask("variables "+ns+" "+prefix, t)
}

// watch is a clock that is set by hand.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) read() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func newGate(t *testing.T, n *nomad) (*Gate, *watch, *strings.Builder) {
	t.Helper()
	clock, log := &watch{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, &strings.Builder{}
	g, err := New(Options{
		Nomad: n, RecordsNamespace: "default", RecordsPrefix: "nomad-placer", Now: clock.read,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g, clock, log
}

func request(t *testing.T, header, value string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if header != "" {
		r.Header.Set(header, value)
	}
	return r
}

func status(err error) int {
	if refused, ok := errors.AsType[*Refusal](err); ok {
		return refused.Status
	}
	return 0
}

func TestWithoutAccessControlNobodyIsAsked(t *testing.T) {
	t.Parallel()
	n := &nomad{off: true}
	g, _, _ := newGate(t, n)
	c, err := g.Caller(request(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for name, may := range map[string]func() (bool, error){
		"jobs":    func() (bool, error) { return c.MayReadJobs(t.Context(), "any") },
		"submit":  func() (bool, error) { return c.MaySubmitJobs(t.Context(), "any") },
		"nodes":   func() (bool, error) { return c.MayReadNodes(t.Context()) },
		"records": func() (bool, error) { return c.MayReadRecords(t.Context()) },
	} {
		if yes, err := may(); !yes || err != nil {
			t.Errorf("%s: %v, %v", name, yes, err)
		}
	}
	if n.count() > 0 {
		t.Errorf("Nomad was asked about nobody: %v", n.asked)
	}
}

func TestATokenIsReadAsNomadReadsIt(t *testing.T) {
	t.Parallel()
	g, _, _ := newGate(t, &nomad{rights: map[string][]string{good: nil}})
	for _, c := range []struct {
		header, value string
		want          int
	}{
		{"", "", 401},
		{"X-Nomad-Token", good, 0},
		{"X-Nomad-Token", " " + good + " ", 0},
		{"X-Nomad-Token", another, 401},
		{"Authorization", "Bearer " + good, 0},
		{"Authorization", "bearer  " + good + " more", 0},
		{"Authorization", "Basic " + good, 401},
		{"Authorization", good, 401},
		{"X-Nomad-Token", good + "\r\nX-Nomad-Token: " + another, 401},
		{"X-Nomad-Token", strings.Repeat("a", maxTokenBytes+1), 401},
		{"Cookie", "nomad-placer-login=" + good, 401},
	} {
		if _, err := g.Caller(request(t, c.header, c.value)); status(err) != c.want {
			t.Errorf("%s: %.60q: %v, want status %d", c.header, c.value, err, c.want)
		}
	}
}

func TestRightsAreNomadsAnswersForAShortTime(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: {"read-job web"}}}
	g, clock, _ := newGate(t, n)
	c, err := g.Caller(request(t, "X-Nomad-Token", good))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(when, namespace string, want bool) {
		t.Helper()
		yes, err := c.MayReadJobs(t.Context(), namespace)
		if yes != want || err != nil {
			t.Errorf("%s: jobs of %s: %v, %v, want %v", when, namespace, yes, err, want)
		}
	}
	expect("first", "web", true)
	expect("first", "secret", false)
	before := n.count()
	for range 100 {
		expect("kept", "web", true)
		expect("kept", "secret", false)
	}
	if n.count() != before {
		t.Errorf("Nomad was asked %d times more for what was just answered", n.count()-before)
	}
	n.set(func() { n.rights[good] = []string{"read-job secret"} })
	clock.pass(RefusedFor)
	expect("after the time of a refusal", "secret", true)
	clock.pass(GrantedFor - RefusedFor)
	expect("after the time of a grant", "web", false)
	for _, namespace := range []string{"*", "", "a/b", "web?x=1", strings.Repeat("n", 129)} {
		expect("no namespace", namespace, false)
	}
}

func TestATokenThatWasTakenAwayIsRefused(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: nil}}
	g, clock, _ := newGate(t, n)
	if _, err := g.Caller(request(t, "X-Nomad-Token", good)); err != nil {
		t.Fatal(err)
	}
	n.set(func() { delete(n.rights, good) })
	clock.pass(GrantedFor)
	if _, err := g.Caller(request(t, "X-Nomad-Token", good)); status(err) != http.StatusUnauthorized {
		t.Errorf("a revoked token: %v", err)
	}
}

// While Nomad does not answer, grants count to the end of their time, and nothing else.
func TestWithoutNomadNothingIsShown(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: {"read-job web", "read-job batch"}}}
	g, clock, log := newGate(t, n)
	c, err := g.Caller(request(t, "X-Nomad-Token", good))
	if err != nil {
		t.Fatal(err)
	}
	if yes, err := c.MayReadJobs(t.Context(), "web"); !yes || err != nil {
		t.Fatal(yes, err)
	}
	n.set(func() { n.down = errors.New("dial tcp 10.1.2.3:4646: connection refused") })
	if _, err := g.Caller(request(t, "X-Nomad-Token", good)); err != nil {
		t.Errorf("a grant inside its time: %v", err)
	}
	if yes, err := c.MayReadJobs(t.Context(), "web"); !yes || err != nil {
		t.Errorf("a grant inside its time: %v, %v", yes, err)
	}
	if yes, err := c.MayReadJobs(t.Context(), "batch"); yes || status(err) != http.StatusServiceUnavailable {
		t.Errorf("what was not asked before: %v, %v", yes, err)
	}
	clock.pass(GrantedFor)
	_, err = g.Caller(request(t, "X-Nomad-Token", good))
	if status(err) != http.StatusServiceUnavailable {
		t.Errorf("a grant after its time: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "10.1.2.3") {
		t.Errorf("the caller is told where Nomad is: %v", err)
	}
	if !strings.Contains(log.String(), "10.1.2.3") || strings.Contains(log.String(), good) {
		t.Errorf("the log has the reason and no token:\n%s", log)
	}
}

// Whoever tries tokens reaches Nomad a bounded number of times, and nobody else is
// locked out.
func TestGuessesAreBounded(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: nil}}
	g, clock, _ := newGate(t, n)
	guess := func(i int) error {
		r := request(t, "X-Nomad-Token", fmt.Sprintf("22222222-0000-0000-0000-%012d", i))
		r.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:999", i) // one machine has many of these
		_, err := g.Caller(r)
		return err
	}
	limited := 0
	for i := range 1000 {
		switch err := guess(i); status(err) {
		case http.StatusUnauthorized:
		case http.StatusTooManyRequests:
			if refused, _ := errors.AsType[*Refusal](err); refused.RetryAfter <= 0 {
				t.Fatal("no time to try again")
			}
			limited++
		default:
			t.Fatal(err)
		}
	}
	if n.count() != triesBurst || limited != 1000-triesBurst {
		t.Errorf("1000 guesses reached Nomad %d times, and %d were stopped", n.count(), limited)
	}
	elsewhere := request(t, "X-Nomad-Token", good)
	if _, err := g.Caller(elsewhere); err != nil {
		t.Errorf("a caller from elsewhere: %v", err)
	}
	clock.pass(2 * time.Second)
	if err := guess(5000); status(err) != http.StatusUnauthorized {
		t.Errorf("after a while: %v", err)
	}
	// The same unknown token is not asked about twice in a short time.
	before := n.count()
	for range 10 {
		if err := guess(5000); status(err) != http.StatusUnauthorized {
			t.Errorf("asked again: %v", err)
		}
	}
	if n.count() != before {
		t.Errorf("one unknown token reached Nomad %d times more", n.count()-before)
	}
}

// A known token cannot have Nomad asked without end either.
func TestQuestionsOfOneTokenAreBounded(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: nil, another: nil}}
	g, _, _ := newGate(t, n)
	c, err := g.Caller(request(t, "X-Nomad-Token", good))
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	for i := range 2 * questionsBurst {
		if _, err := c.MayReadJobs(t.Context(), fmt.Sprintf("n%d", i)); status(err) == http.StatusTooManyRequests {
			stopped++
		}
	}
	if stopped != questionsBurst {
		t.Errorf("%d of %d questions were stopped", stopped, 2*questionsBurst)
	}
	other, err := g.Caller(request(t, "X-Nomad-Token", another))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.MayReadNodes(t.Context()); err != nil {
		t.Errorf("another token: %v", err)
	}
	if kept := g.verdicts.answers.Len(); kept > keptAnswers {
		t.Errorf("%d answers are kept", kept)
	}
}

func login(t *testing.T, g *Gate, token string, change func(*http.Request)) (*httptest.ResponseRecorder, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://agent.example:9464/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	return w, g.Login(w, r)
}

func TestLogin(t *testing.T) {
	t.Parallel()
	n := &nomad{rights: map[string][]string{good: nil}}
	g, clock, log := newGate(t, n)
	w, err := login(t, g, " "+good+"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure || cookie.MaxAge != 0 || !cookie.Expires.IsZero() || cookie.Domain != "" {
		t.Errorf("cookie %+v", cookie)
	}
	if strings.Contains(w.Result().Header.Get("Set-Cookie"), good) || strings.Contains(log.String(), good) {
		t.Error("the token is in the cookie or in the log")
	}
	page := func() error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://agent.example:9464/", nil)
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
		c, err := g.Caller(r)
		if err == nil && !c.LoggedIn {
			t.Error("the caller did not come by a login")
		}
		if _, err := g.Program(r); status(err) != http.StatusUnauthorized {
			t.Errorf("a login counts for a program: %v", err)
		}
		return err
	}
	if err := page(); err != nil {
		t.Fatal(err)
	}
	clock.pass(LoginLasts - time.Second)
	if err := page(); err != nil {
		t.Errorf("just before its end: %v", err)
	}
	clock.pass(time.Second)
	if err := page(); status(err) != http.StatusUnauthorized {
		t.Errorf("after its end: %v", err)
	}
}

func TestLoginIsRefused(t *testing.T) {
	t.Parallel()
	g, _, _ := newGate(t, &nomad{rights: map[string][]string{good: nil}})
	cases := map[string]struct {
		token  string
		change func(*http.Request)
		want   int
	}{
		"unknown token":  {another, nil, 401},
		"no token":       {"", nil, 401},
		"another site":   {good, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"another port":   {good, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"another origin": {good, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"in the address": {"", func(r *http.Request) { r.URL.RawQuery = "token=" + good }, 401},
		"without an end": {strings.Repeat("a", maxFormBytes), nil, 400},
	}
	for name, c := range cases {
		w, err := login(t, g, c.token, c.change)
		if status(err) != c.want || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %v and %d cookies, want status %d", name, err, len(w.Result().Cookies()), c.want)
		}
	}
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	g, _, _ := newGate(t, &nomad{rights: map[string][]string{good: nil}})
	w, err := login(t, g, good, nil)
	if err != nil {
		t.Fatal(err)
	}
	stolen := w.Result().Cookies()[0]
	out := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://agent.example:9464/logout", nil)
	out.AddCookie(stolen)
	elsewhere := out.Clone(t.Context())
	elsewhere.Header.Set("Sec-Fetch-Site", "cross-site")
	if err := g.Logout(httptest.NewRecorder(), elsewhere); status(err) != http.StatusForbidden {
		t.Errorf("a logout sent by another site: %v", err)
	}
	w = httptest.NewRecorder()
	if err := g.Logout(w, out); err != nil {
		t.Fatal(err)
	}
	if c := w.Result().Cookies()[0]; c.MaxAge >= 0 || c.Name != stolen.Name {
		t.Errorf("cookie %+v", c)
	}
	again := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://agent.example:9464/", nil)
	again.AddCookie(stolen)
	if _, err := g.Caller(again); status(err) != http.StatusUnauthorized {
		t.Errorf("the cookie of before: %v", err)
	}
}

func TestUnderTLSTheCookieIsForThisHostAlone(t *testing.T) {
	t.Parallel()
	g, _, _ := newGate(t, &nomad{rights: map[string][]string{good: nil}})
	for _, forwarded := range []bool{false, true} {
		w, err := login(t, g, good, func(r *http.Request) {
			if forwarded {
				r.Header.Set("X-Forwarded-Proto", "https")
				return
			}
			*r = *httptest.NewRequestWithContext(r.Context(), http.MethodPost, "https://agent.example:9464/login", r.Body)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if err != nil {
			t.Fatal(err)
		}
		if c := w.Result().Cookies()[0]; !c.Secure || !strings.HasPrefix(c.Name, "__Host-") || c.Path != "/" {
			t.Errorf("cookie %+v", c)
		}
	}
}

func TestLoginsAreBounded(t *testing.T) {
	t.Parallel()
	g, _, _ := newGate(t, &nomad{rights: map[string][]string{good: nil}})
	for range keptSessions + 10 {
		if _, err := login(t, g, good, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.sessions.all.Len(); n != keptSessions {
		t.Errorf("%d logins are kept", n)
	}
}
