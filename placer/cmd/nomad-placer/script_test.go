package main

import (
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata, and the pages of placer/docs that are generated")

// TestMain lets the scripts run this test binary as nomad-placer, at the time
// of the fixture and never on a terminal.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"nomad-placer": func() {
			s := &command.Shell{
				In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
				Now: dashboardtest.Clock, After: time.After, Terminal: os.Getenv("FAKE_TERMINAL") != "",
			}
			os.Exit(nomadPlacer().Run(context.Background(), s, os.Args[1:]))
		},
	})
}

// TestScripts runs testdata/script against an agent's pages over fixed records
// (NOMAD_PLACER_ADDR), the same without any records (EMPTY_PLACER), a Nomad that
// only parses and validates (NOMAD_ADDR), one where the placer runs (READY_NOMAD), and one
// with nodes to be measured (FLEET_NOMAD).
func TestScripts(t *testing.T) {
	t.Parallel()
	full := pages(t, dashboardtest.Fixture())
	empty := pages(t, &dashboardtest.Records{})
	nomad := httptest.NewServer(http.HandlerFunc(checkingNomad))
	t.Cleanup(nomad.Close)
	ready := readyNomad(t)
	fleet := fleetNomad(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": commandtest.Exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NOMAD_PLACER_ADDR", full)
			e.Setenv("EMPTY_PLACER", empty)
			e.Setenv("NOMAD_ADDR", nomad.URL)
			e.Setenv("READY_NOMAD", ready)
			e.Setenv("FLEET_NOMAD", fleet)
			return nil
		},
	})
}

// stalledNode is a node with pressure stall information, and a task in a group of
// its own.
var stalledNode = fstest.MapFS{
	"proc/pressure/cpu": {Data: []byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")},
	"sys/fs/cgroup/nomad.slice/share.slice/8ad1c6a5.web.scope/cpu.pressure": {Data: []byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")},
}

func pages(t *testing.T, r dashboard.Records) string {
	t.Helper()
	h, err := dashboard.New(r, dashboard.Options{Now: dashboardtest.Clock, Root: stalledNode})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// readyNomad has a node with the driver, not calibrated, both pools and an agent
// that leads, at the time of the fixture.
func readyNomad(t *testing.T) string {
	t.Helper()
	s := nomadtest.New(t)
	s.Now = dashboardtest.Clock
	s.AddNode(nomadtest.Node{
		ID: "a1b2c3d4", Name: "alpha", Drivers: []string{"ibench"}, Address: strings.TrimPrefix(s.URL, "http://"),
		Attributes: map[string]string{"driver.ibench.version": command.Version},
	})
	for path, body := range map[string]string{
		"/v1/node/pools": `{"Name":"placer"}`,
		"/v1/var/nomad-placer/leader?lock-acquire": `{"Items":{"address":"http://127.0.0.1:9464"},"Lock":{"TTL":"15s"}}`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("PUT %s: %s, %v", path, answer.Status, err)
		}
	}
	return s.URL
}

// fleetNomad has nodes with the driver, of which one allows less, and one without. Nobody may
// submit jobs.
func fleetNomad(t *testing.T) string {
	t.Helper()
	s := nomadtest.New(t)
	for name, allow := range map[string]string{"alpha": "profile,pairs,calibrate", "beta": "profile,calibrate", "gamma": "profile", "delta": ""} {
		n := nomadtest.Node{ID: map[string]string{"alpha": "n1", "beta": "n2", "gamma": "n3", "delta": "n4"}[name], Name: name, Class: "large", CPUMHz: 4000, MemoryMB: 4096}
		if allow != "" {
			n.Drivers = []string{"ibench"}
			n.Attributes = map[string]string{
				"driver.ibench.version": command.Version, nomadapi.DriverBuild: "b1", "driver.ibench.allow": allow, nomadapi.DriverCalibration: "c1", nomadapi.DriverCPUs: "0-3",
			}
		}
		if !strings.Contains(allow, "calibrate") {
			n.Class = "other"
		}
		s.AddNode(n)
	}
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	nodes := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/jobs/parse":
			checkingNomad(w, r)
		case r.Method != http.MethodGet && r.URL.Path == "/v1/jobs":
			http.Error(w, "Permission denied", http.StatusForbidden)
		default:
			nodes.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// checkingNomad answers what `job validate` asks: any jobspec parses, unless it
// says "broken", and a job is valid unless it has no groups.
func checkingNomad(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body := string(raw)
	switch {
	case r.URL.Path == "/v1/jobs/parse" && strings.Contains(body, "broken"):
		http.Error(w, "input.hcl:2,3-9: Unsupported block type", http.StatusBadRequest)
	case r.URL.Path == "/v1/jobs/parse" && strings.Contains(body, "performance"):
		http.Error(w, "input.hcl: the performance block was left in", http.StatusBadRequest)
	case r.URL.Path == "/v1/jobs/parse":
		_, _ = w.Write([]byte(`{"ID":"cache","Namespace":"default","TaskGroups":[{"Name":"redis"}]}`))
	case r.URL.Path == "/v1/validate/job" && strings.Contains(body, "rate = 120"):
		_, _ = w.Write([]byte(`{"ValidationErrors":["Missing tasks"]}`))
	case r.URL.Path == "/v1/validate/job":
		_, _ = w.Write([]byte(`{"ValidationErrors":null}`))
	default:
		http.NotFound(w, r)
	}
}
