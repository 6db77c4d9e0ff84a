package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// clusterBehind is a Nomad with access control: the token "reader" may read job
// web of namespace team and its node, and nothing else.
func clusterBehind(t *testing.T) *url.URL {
	t.Helper()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("X-Nomad-Token")
		if token == "" {
			token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
		may := token == "manager" || token == "reader" && (strings.HasPrefix(r.URL.Path, "/v1/job/web") && r.URL.Query().Get("namespace") == "team" || r.URL.Path == "/v1/node/n1")
		switch {
		case !may:
			w.Header().Set("X-Nomad", "own")
			http.Error(w, "Permission denied", http.StatusForbidden)
		case r.URL.Path == "/v1/job/web":
			fmt.Fprint(w, `{"ID":"web","NodePool":"placer","TaskGroups":[{"Name":"g"},{"Name":"plain"}]}`)
		case r.URL.Path == "/v1/job/web/allocations":
			fmt.Fprint(w, `[{"TaskGroup":"g","NodeID":"n1","DesiredStatus":"run","ClientStatus":"running"},
				{"TaskGroup":"g","NodeID":"n1","DesiredStatus":"run","ClientStatus":"running"},{"TaskGroup":"g","NodeID":"n9","DesiredStatus":"stop","ClientStatus":"complete"}]`)
		case r.URL.EscapedPath() == "/v1/job/a%2Fb%3Fc":
			fmt.Fprint(w, `{"ID":"a/b?c","TaskGroups":[]}`)
		case r.URL.Path == "/v1/job/gone":
			http.Error(w, "job not found", http.StatusNotFound)
		default:
			fmt.Fprint(w, "[]")
		}
	}))
	t.Cleanup(behind.Close)
	u, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// agentBehind answers as the placer's agent, and remembers what it was asked.
type agentBehind struct {
	mu     sync.Mutex
	asked  []string
	tokens []string
	broken bool
}

func (a *agentBehind) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.URL.EscapedPath())
	a.tokens = append(a.tokens, r.Header.Get("X-Nomad-Token")+r.Header.Get("Authorization")+r.Header.Get("Cookie"))
	if a.broken {
		http.Error(w, `{"error":"the store is away"}`, http.StatusInternalServerError)
		return
	}
	switch r.URL.Path {
	case "/v1/decision/team/web/g":
		fmt.Fprint(w, `{"profile_key":"k1","seed":18446744073709551615,"sensitivity":{"tolerated":{},"caused":{}}}`)
	case "/v1/profile/k1":
		fmt.Fprint(w, `{"key":"k1"}`)
	case "/v1/node/n1":
		fmt.Fprint(w, `{"node":{"id":"n1","name":"alpha"},"residents":[{"workload":{"namespace":"team","job":"web","group":"g"}},
			{"workload":{"namespace":"secret","job":"other","group":"x"},"allocations":2}]}`)
	case "/v1/observations/team/web/g", "/v1/whatif/team/web/g":
		fmt.Fprint(w, `[]`)
	case "/page":
		fmt.Fprint(w, "hello")
	default:
		http.Error(w, `{"error":"No such record"}`, http.StatusNotFound)
	}
}

// ofTheProxy is the token that the proxy shows the agent.
const ofTheProxy = "proxy's own"

func openPages(t *testing.T) (*agentBehind, *front) {
	t.Helper()
	a := &agentBehind{}
	behind := httptest.NewServer(a)
	t.Cleanup(behind.Close)
	nomad := clusterBehind(t)
	return a, open(t, func(o *proxy.Options) {
		o.Nomad = nomad
		o.Records = func(context.Context) (*url.URL, error) { return url.Parse(behind.URL) }
		o.AgentToken = func() string { return ofTheProxy }
	})
}

// Nobody sees through the proxy what their token may not read in Nomad, and gets
// Nomad's own words for it; the agent never sees a user's token, and always the proxy's.
func TestPagesAskForRights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, token string
		status      int
		asked       string // of the agent; empty: nothing
	}{
		{"/placer/v1/decision/team/web/g", "reader", 200, "/v1/decision/team/web/g"},
		{"/placer/v1/decision/team/web/g", "", 403, ""},
		{"/placer/v1/decision/other/web/g", "reader", 403, ""},
		{"/placer/job/team/web/g", "nobody", 403, ""},
		{"/placer/v1/node/n1", "reader", 200, "/v1/node/n1"},
		{"/placer/v1/node/n2", "reader", 403, ""},
		{"/placer/v1/decisions", "reader", 403, ""},
		{"/placer/", "reader", 403, ""},
		{"/placer/v1/profile/k1", "reader", 403, ""},
		{"/placer/page", "manager", 200, "/page"},
		{"/placer/v1/decision/team/gone/g", "manager", 404, ""},
		{"/placer/v1/decision//web/g", "manager", 404, ""},
		{"/placer/v1/decision/team/a%2Fb%3Fc/g%2Fh", "manager", 404, "/v1/decision/team/a%2Fb%3Fc/g%2Fh"},
		{"/placer/assets/style.css", "", 404, "/assets/style.css"},
		{"/placer/assets/../v1/decisions", "", 404, ""},
		{"/placer/assets/%2e%2E/v1/decisions", "", 404, ""},
		{"/placer/assets%2F../v1/decisions", "", 404, ""},
		{"/placer/v1/decision/team/web%2F..%2F..%2Fdecisions", "reader", 404, ""},
		{"/placer/v1", "reader", 403, ""},
	} {
		a, f := openPages(t)
		answer, data := get(t, "GET", f.url+c.path, map[string]string{"X-Nomad-Token": c.token, "Cookie": "a=b"})
		if answer.StatusCode != c.status {
			t.Errorf("%s as %q: %s %s", c.path, c.token, answer.Status, data)
		}
		if c.status == 403 && (string(data) != "Permission denied\n" || answer.Header.Get("X-Nomad") != "own") {
			t.Errorf("%s as %q: %q is not Nomad's own answer", c.path, c.token, data)
		}
		if want := slices.DeleteFunc([]string{c.asked}, func(s string) bool { return s == "" }); !slices.Equal(a.asked, want) {
			t.Errorf("%s as %q: the agent was asked %q", c.path, c.token, a.asked)
		}
		for _, token := range a.tokens {
			if token != ofTheProxy {
				t.Errorf("%s: the agent saw %q", c.path, token)
			}
		}
	}
	_, f := openPages(t)
	if answer, _ := get(t, "POST", f.url+"/placer/page", map[string]string{"X-Nomad-Token": "manager"}); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", answer.Status)
	}
}

// One answer holds what the tab of a job shows; what the user may not see of its
// co-runners says so.
func TestJobRecord(t *testing.T) {
	t.Parallel()
	_, f := openPages(t)
	answer, data := get(t, "GET", f.url+"/placer-tab/job/team/web", map[string]string{"Authorization": "Bearer reader"})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", answer.Status, data)
	}
	var record proxy.JobRecord
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	if !record.Held || len(record.Groups) != 2 || len(record.Sources) != 17 || record.Evaluation == nil {
		t.Fatalf("%s", data)
	}
	g, plain := record.Groups[0], record.Groups[1]
	if !strings.Contains(string(g.Decision), "18446744073709551615") || string(g.Profile) != `{"key":"k1"}` || g.Actions != nil || !g.WhatIf || len(g.Problems) != 0 {
		t.Errorf("group g: %+v", g)
	}
	if plain.Decision != nil || plain.WhatIf || len(plain.Nodes) != 0 || len(plain.Problems) != 0 {
		t.Errorf("group plain: %+v", plain)
	}
	if len(g.Nodes) != 1 || g.Nodes[0].ID != "n1" || len(g.Nodes[0].CoRunners) != 1 {
		t.Fatalf("nodes: %+v", g.Nodes)
	}
	if n := g.Nodes[0].CoRunners[0]; n.Workload.Job != "other" || n.Caused != nil || !strings.Contains(n.Why, "not allowed to read") {
		t.Errorf("neighbour: %+v", n)
	}
	for path, status := range map[string]int{"job/team/gone": 403, "job/other/web": 403, "node/n2": 403, "node/n1": 200} {
		if answer, data := get(t, "GET", f.url+"/placer-tab/"+path, map[string]string{"X-Nomad-Token": "reader"}); answer.StatusCode != status {
			t.Errorf("%s: %s %s", path, answer.Status, data)
		}
	}
}

// Without an agent, or with one that fails, the tab says so; Nomad itself is not
// touched by it.
func TestNoAgent(t *testing.T) {
	t.Parallel()
	nomad := clusterBehind(t)
	manager := map[string]string{"X-Nomad-Token": "manager"}
	for name, c := range map[string]struct {
		find   func(context.Context) (*url.URL, error)
		status int
		want   string
	}{
		"none":    {nil, 503, "nomad job status nomad-placer"},
		"unknown": {func(context.Context) (*url.URL, error) { return nil, errors.New("no leader") }, 503, "no leader"},
		"away":    {func(context.Context) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }, 502, "does not answer"},
	} {
		f := open(t, func(o *proxy.Options) { o.Nomad, o.Records = nomad, c.find })
		answer, data := get(t, "GET", f.url+"/placer/v1/decision/team/web/g", manager)
		var said struct{ Error string }
		if err := json.Unmarshal(data, &said); err != nil || answer.StatusCode != c.status || !strings.Contains(said.Error, c.want) {
			t.Errorf("%s: %s %s", name, answer.Status, data)
		}
		if answer, _ := get(t, "GET", f.url+"/v1/anything", manager); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: Nomad: %s", name, answer.Status)
		}
	}
	a, f := openPages(t)
	a.broken = true
	answer, data := get(t, "GET", f.url+"/placer-tab/job/team/web", manager)
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(data), "the store is away") {
		t.Errorf("broken: %s %s", answer.Status, data)
	}
}

// The status is for everybody, and where the agent listens is not.
func TestTheStatusDoesNotTellWhereTheAgentIs(t *testing.T) {
	t.Parallel()
	behind := httptest.NewServer(&agentBehind{})
	t.Cleanup(behind.Close)
	nomad := clusterBehind(t)
	f := open(t, func(o *proxy.Options) {
		o.Nomad = nomad
		o.Records = func(context.Context) (*url.URL, error) { return url.Parse(behind.URL) }
	})
	_, before := get(t, "GET", f.url+"/placer-tab/status", nil)
	get(t, "GET", f.url+"/placer/page", map[string]string{"X-Nomad-Token": "manager"})
	_, after := get(t, "GET", f.url+"/placer-tab/status", nil)
	if strings.Contains(string(after), strings.TrimPrefix(behind.URL, "http://")) {
		t.Errorf("everybody is told %s", after)
	}
	if strings.Contains(string(before), "agent") || !strings.Contains(string(after), "the placer's agent") {
		t.Errorf("before the agent is known %s, after %s", before, after)
	}
}
