package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// now is the time of all these tests.
var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// plugin is the autoscaler's side of the plugin: these tests speak the protocol that it does.
type plugin struct {
	base protocol.BasePluginServiceClient
	apm  protocol.APMPluginServiceClient
}

func start(t *testing.T) plugin {
	t.Helper()
	// A busy machine with the race detector takes its time.
	p := &apm{log: hclog.NewNullLogger(), now: func() time.Time { return now }, within: 2 * time.Minute}
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	protocol.RegisterBasePluginServiceServer(server, p)
	protocol.RegisterAPMPluginServiceServer(server, p)
	go func() { _ = server.Serve(listener) }() // ends with the server
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
	})
	return plugin{protocol.NewBasePluginServiceClient(conn), protocol.NewAPMPluginServiceClient(conn)}
}

func (p plugin) configure(t *testing.T, block map[string]string) error {
	t.Helper()
	_, err := p.base.SetConfig(t.Context(), &protocol.SetConfigRequest{Config: block})
	return err
}

// query asks for a type as the autoscaler does: about the last minute.
func (p plugin) query(t *testing.T, typ string) (*protocol.QueryResponse, error) {
	t.Helper()
	return p.apm.Query(t.Context(), &protocol.QueryRequest{Query: typ, TimeRange: lastMinute()})
}

func lastMinute() *protocol.TimeRange {
	return &protocol.TimeRange{From: timestamppb.New(now.Add(-time.Minute)), To: timestamppb.New(now)}
}

// agentThat serves a body at the path of the report, and says nothing elsewhere.
func agentThat(t *testing.T, serve http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+reportPath, serve)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// report is what the agent writes: the type that it marshals, so that what is read here is what
// is written there.
func report(t *testing.T, at time.Time, types ...provision.TypeReport) string {
	t.Helper()
	text, err := json.Marshal(provision.Report{AtMillis: at.UnixMilli(), Strategy: "HM", Types: types, Nodes: []provision.NodeReport{{ID: "1", State: "idle"}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPluginSaysWhoItIs(t *testing.T) {
	t.Parallel()
	info, err := start(t).base.PluginInfo(t.Context(), &protocol.PluginInfoRequest{})
	if err != nil || info.GetName() != "nomad-placer-apm" || info.GetType() != protocol.PluginType_PLUGIN_TYPE_APM {
		t.Errorf("%v, %v", info, err)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	decided := now.Add(-7 * time.Second)
	s := agentThat(t, says(report(t, decided, provision.TypeReport{Name: "burst-4", Wanted: 3}, provision.TypeReport{Name: "burst-16"})))
	p := start(t)
	if err := p.configure(t, map[string]string{"address": s.URL + "/", "nomad_address": "http://127.0.0.1:4646", "nomad_config_inherit": "true"}); err != nil {
		t.Fatal(err)
	}
	for typ, want := range map[string]float64{"burst-4": 3, "burst-16": 0} {
		one, err := p.query(t, typ)
		if err != nil {
			t.Fatal(err)
		}
		many, err := p.apm.QueryMultiple(t.Context(), &protocol.QueryMultipleRequest{Query: typ, TimeRange: lastMinute()})
		if err != nil || len(many.GetTimestampedMetric()) != 1 {
			t.Fatalf("%v, %v", many, err)
		}
		for _, got := range []*protocol.QueryResponse{one, many.GetTimestampedMetric()[0]} {
			points := got.GetTimestampedMetric()
			if len(points) != 1 || points[0].GetValue() != want || !points[0].GetTimestamp().AsTime().Equal(decided) {
				t.Errorf("%s: %v, want %g at %s", typ, points, want, decided)
			}
		}
	}
}

// TestUnusableAnswers: whatever the agent says that is not a number of nodes wanted now is an
// error, for which the autoscaler does nothing, and never a number.
func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	at := now.UnixMilli()
	of := func(wanted string) string {
		return fmt.Sprintf(`{"at_ms": %d, "types": [{"name": "burst-4"%s}]}`, at, wanted)
	}
	for _, c := range []struct{ name, body, want string }{
		{"empty", "", "not an agent"},
		{"a page", "<html><h1>Welcome</h1>", `it begins "<html>`},
		{"a number", "3", "not an agent"},
		{"null", "null", "no at_ms"},
		{"two values", of(`, "wanted": 1`) + of(`, "wanted": 2`), "not an agent"},
		{"cut short", of(`, "wanted": 1`)[:30], "not an agent"},
		{"NaN", of(`, "wanted": NaN`), "not an agent"},
		{"infinite", of(`, "wanted": 1e999`), "not an agent"},
		{"more than is counted", of(`, "wanted": 92233720368547758070`), "not an agent"},
		{"half a node", of(`, "wanted": 1.5`), "not an agent"},
		{"text", of(`, "wanted": "2"`), "not an agent"},
		{"negative", of(`, "wanted": -1`), "wants -1 nodes"},
		{"null nodes", of(`, "wanted": null`), "does not say how many"},
		{"no nodes", of(``), "does not say how many"},
		{"no types", fmt.Sprintf(`{"at_ms": %d}`, at), `no instance type "burst-4"; its provision block has none`},
		{"another type", fmt.Sprintf(`{"at_ms": %d, "types": [{"name": "burst-8", "wanted": 1}]}`, at), `its provision block has "burst-8"`},
		{"the type twice", fmt.Sprintf(`{"at_ms": %d, "types": [{"name": "burst-4", "wanted": 1}, {"name": "burst-4", "wanted": 9}]}`, at), "twice"},
		{"no time", `{"types": [{"name": "burst-4", "wanted": 1}]}`, "no at_ms"},
		{"stale", report(t, now.Add(-61*time.Second), provision.TypeReport{Name: "burst-4"}), "1m1s old"},
		{"of the first of all times", `{"at_ms": 0, "types": [{"name": "burst-4", "wanted": 1}]}`, "old"},
		{"of the last of all times", fmt.Sprintf(`{"at_ms": %d, "types": [{"name": "burst-4", "wanted": 1}]}`, int64(math.MaxInt64)), "clocks differ"},
		{"of before all times", fmt.Sprintf(`{"at_ms": %d, "types": [{"name": "burst-4", "wanted": 1}]}`, int64(math.MinInt64)), "old"},
		{"of the future", report(t, now.Add(61*time.Second), provision.TypeReport{Name: "burst-4"}), "clocks differ"},
		{"huge", strings.Repeat(" ", mostBytes) + of(`, "wanted": 1`), "more than"},
		{"deep", strings.Repeat("[", 1<<16), "not an agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			if err := p.configure(t, map[string]string{"address": agentThat(t, says(c.body)).URL}); err != nil {
				t.Fatal(err)
			}
			got, err := p.query(t, "burst-4")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want an error with %q", got, err, c.want)
			}
			if err != nil && len(err.Error()) > 4*mostShown {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestAgentsThatDoNotAnswer: neither does who refuses, hangs, leads elsewhere, or is not there.
func TestAgentsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var elsewhere bool
	other := agentThat(t, func(http.ResponseWriter, *http.Request) { elsewhere = true })
	with := func(status int) string {
		return agentThat(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", status) }).URL
	}
	for _, c := range []struct{ name, address, want string }{
		{"not there", gone.URL, "connection refused"},
		{"not served", with(http.StatusNotFound), "provision block"},
		{"no token", with(http.StatusUnauthorized), "token_file"},
		{"no right", with(http.StatusForbidden), "token_file"},
		{"broken", with(http.StatusInternalServerError), "500"},
		{"nothing to say", with(http.StatusNoContent), "204"},
		{"elsewhere", agentThat(t, http.RedirectHandler(other.URL+reportPath, http.StatusFound).ServeHTTP).URL, "redirects are not followed"},
		{"half an answer", agentThat(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"at_ms"`)
		}).URL, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t)
			if err := p.configure(t, map[string]string{"address": c.address}); err != nil {
				t.Fatal(err)
			}
			if got, err := p.query(t, "burst-4"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want an error with %q", got, err, c.want)
			}
		})
	}
	if elsewhere {
		t.Error("a redirect was followed, with the token")
	}
}

// TestAnAgentThatHangs: the question ends.
func TestAnAgentThatHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := agentThat(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	p := &apm{log: hclog.NewNullLogger(), now: func() time.Time { return now }, within: 100 * time.Millisecond}
	if _, err := p.SetConfig(t.Context(), &protocol.SetConfigRequest{Config: map[string]string{"address": s.URL}}); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Query(t.Context(), &protocol.QueryRequest{Query: "burst-4"}); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("%v, %v, want an error", got, err)
	}
}

// TestQueriesOfOtherTimes: the agent knows only what is wanted now.
func TestQueriesOfOtherTimes(t *testing.T) {
	t.Parallel()
	s := agentThat(t, says(report(t, now.Add(-20*time.Second), provision.TypeReport{Name: "burst-4", Wanted: 1})))
	p := start(t)
	if err := p.configure(t, map[string]string{"address": s.URL}); err != nil {
		t.Fatal(err)
	}
	ago := func(from, to time.Duration) *protocol.TimeRange {
		return &protocol.TimeRange{From: timestamppb.New(now.Add(-from)), To: timestamppb.New(now.Add(-to))}
	}
	for _, c := range []struct {
		name, want string
		asked      *protocol.TimeRange
	}{
		{"no range", "", nil},
		{"the last minute", "", ago(time.Minute, 0)},
		{"too short a window", "make query_window longer than 20s", ago(10*time.Second, 0)},
		{"an hour ago", "leave query_window_offset out", ago(61*time.Minute, time.Hour)},
	} {
		_, err := p.apm.Query(t.Context(), &protocol.QueryRequest{Query: "burst-4", TimeRange: c.asked})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	var shown []string
	s := agentThat(t, func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("X-Nomad-Token"))
		fmt.Fprint(w, report(t, now, provision.TypeReport{Name: "burst-4", Wanted: 1}))
	})
	file := filepath.Join(t.TempDir(), "token")
	p := start(t)
	// A token is read anew for each question, for Nomad renews it within the hour.
	for _, token := range []string{"first\n", "second"} {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.configure(t, map[string]string{"address": s.URL, "token_file": file}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.query(t, "burst-4"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.query(t, "burst-4"); err == nil || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("without a token: %v", err)
	}
	if strings.Join(shown, " ") != "first second" {
		t.Errorf("the agent was shown %q", shown)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	s, ca, pair := securedAgent(t, says(report(t, now, provision.TypeReport{Name: "burst-4", Wanted: 2})))
	all := map[string]string{"address": s.URL, "ca_file": ca, "cert_file": pair.Cert, "key_file": pair.Key}
	for _, c := range []struct{ name, without, want string }{
		{"all", "", ""},
		{"no authority", "ca_file", "certificate"},
		{"no certificate of its own", "cert_file", "certificate"},
	} {
		block := map[string]string{}
		for key, value := range all {
			if key != c.without && (c.without != "cert_file" || key != "key_file") {
				block[key] = value
			}
		}
		p := start(t)
		if err := p.configure(t, block); err != nil {
			t.Fatal(err)
		}
		got, err := p.query(t, "burst-4")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, words := write("empty", "\n"), write("words", "not one token")
	_, ca, pair := securedAgent(t, says(""))
	for _, c := range []struct {
		want  string
		block map[string]string
	}{
		{"address is missing", nil},
		{"address is missing", map[string]string{"nomad_address": "http://127.0.0.1:4646"}},
		{`no setting "url"`, map[string]string{"url": "http://127.0.0.1:9464"}},
		{"want http", map[string]string{"address": "127.0.0.1:9464"}},
		{"want http", map[string]string{"address": "unix:///run/agent.sock"}},
		{"want http", map[string]string{"address": "http://user@127.0.0.1:9464"}},
		{"want http", map[string]string{"address": "http://:9464"}},
		{"want http", map[string]string{"address": "https://agent:9464/?type=burst-4"}},
		{"address", map[string]string{"address": "http://[::1"}},
		{"in the clear", map[string]string{"address": "http://10.0.0.5:9464", "token_file": words}},
		{"not used", map[string]string{"address": "http://127.0.0.1:9464", "ca_file": ca}},
		{"go together", map[string]string{"address": "https://127.0.0.1:9464", "cert_file": pair.Cert}},
		{"no such file", map[string]string{"address": "https://127.0.0.1:9464", "ca_file": filepath.Join(dir, "missing")}},
		{"no certificate in PEM form", map[string]string{"address": "https://127.0.0.1:9464", "ca_file": empty}},
		{"cert_file", map[string]string{"address": "https://127.0.0.1:9464", "cert_file": empty, "key_file": empty}},
		{"no such file", map[string]string{"address": "http://127.0.0.1:9464", "token_file": filepath.Join(dir, "missing")}},
		{"Secret ID", map[string]string{"address": "http://127.0.0.1:9464", "token_file": empty}},
		{"Secret ID", map[string]string{"address": "http://127.0.0.1:9464", "token_file": words}},
	} {
		p := start(t)
		if err := p.configure(t, c.block); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want an error with %q", c.block, err, c.want)
		}
		if got, err := p.query(t, "burst-4"); err == nil || !strings.Contains(err.Error(), "no configuration") {
			t.Errorf("%v: %v, %v: a bad configuration is in use", c.block, got, err)
		}
	}
}

// TestABadConfigurationLeavesTheOldOne: the autoscaler sets it anew on SIGHUP.
func TestABadConfigurationLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	s := agentThat(t, says(report(t, now, provision.TypeReport{Name: "burst-4", Wanted: 1})))
	p := start(t)
	if err := p.configure(t, map[string]string{"address": s.URL}); err != nil {
		t.Fatal(err)
	}
	if err := p.configure(t, map[string]string{"address": ""}); err == nil {
		t.Fatal("no address was taken")
	}
	if _, err := p.query(t, "burst-4"); err != nil {
		t.Error(err)
	}
}
