package dashboard

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func handler(t *testing.T, r Records) http.Handler {
	t.Helper()
	h, err := New(r, Options{Now: dashboardtest.Clock, Version: "1.2.3", NomadURL: "http://nomad.example:4646"})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// The page of a job, and its data, say how its use of disks is limited.
func TestDiskLimitsAreShown(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Fixture()
	m.AllDecisions[0].Disk = &cluster.DiskSaid{Promise: performance.DiskSpec{BandwidthMBPerSec: 40, Limit: true}}
	m.AllDiskLimits = map[cluster.WorkloadID][]cluster.DiskLimit{
		dashboardtest.CacheID: {{Workload: dashboardtest.CacheID, Allocation: "a1", Node: "alpha", MBPerSec: 40, Tasks: 1, At: dashboardtest.Clock()}},
	}
	h := handler(t, m)
	for path, want := range map[string]string{
		"/job/default/cache/redis":            "Its reads and writes are limited to 40 MB/s each on alpha, as its promise says.",
		"/v1/disk-limits/default/cache/redis": `"mb_per_sec": 40`,
		"/v1/disk-limits/default/none/none":   "[]",
	} {
		if w := get(t, h, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d lacks %q", path, w.Code, want)
		}
	}
}

func TestPagesSayWhatTheRecordHolds(t *testing.T) {
	t.Parallel()
	h := handler(t, dashboardtest.Fixture())
	const node = "a1b2c3d4-0000-0000-0000-000000000003"
	cases := []struct {
		path string
		want []string
	}{
		{"/", []string{
			"cache / redis", "20,000 requests/s with p99 ≤ 5 ms", "placed", "21,300 requests/s", "✓ met", "waiting for room", "left to Nomad",
			"search / index", "about 31 s left", "at the latest", "mem_bw", "not ready", `<th scope="row">`,
		}},
		{"/job/default/cache/redis", []string{
			"alpha is the least interfered node", "20,100 to 22,400", "p99 4.1 ms", "beside", "residents would lose more than their QoS bound, 12.5 points short",
			"encode/ffmpeg tolerates 30 %", "memory exhausted", "integer units", "could not be told from noise in 12 s", "measured", "predicted", "assumed",
			"In production", "9 experiments of its running allocations", "72 (55–90)", "60 (50–70)", "91 % (89–93)", "97 % (90–100)",
			"default/batch/encode, 1 workload of other namespaces", "its performance in isolation with 2 cores is not known", "12 times as well",
			"The ramp", "profile 41 s", "modify index 812", "Not known: memory capacity", `href="http://nomad.example:4646/ui/jobs/cache@default"`,
		}},
		{"/job/batch/encode/ffmpeg", []string{"No node has the ibench driver", "Nothing has been learnt from its running allocations yet.", "unknown", "No score is known", "This workload was not profiled"}},
		{"/node/" + node, []string{"beta", "Headroom and pressure", "the scores of 1 resident are unknown", "1,800 of 5,192 MHz", "default"}},
		{"/node/a1b2c3d4-0000-0000-0000-000000000001", []string{"alpha", "No allocation runs here", "Decisions that chose this node"}},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			w := get(t, h, c.path)
			if w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			for _, want := range c.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("the page does not say %q", want)
				}
			}
		})
	}
}

func TestStatesWithoutData(t *testing.T) {
	t.Parallel()
	h := handler(t, &dashboardtest.Records{})
	cases := []struct {
		path   string
		status int
		want   string
	}{
		{"/", 200, "Nothing placed yet"},
		{"/", 200, "No nodes seen yet"},
		{"/?q=zzz", 200, "No job matches"},
		{"/job/default/none/none", 404, "Nothing here"},
		{"/node/none", 404, "Nothing here"},
		{"/nowhere", 404, "Nothing here"},
		{"/chart/default/none/none.svg", 200, "nothing is recorded"},
		{"/chart/default/none/none.png", 404, ""},
		{"/v1/decisions", 200, "[]"},
		{"/v1/evaluations", 200, "[]"},
		{"/v1/profiles", 200, "[]"},
		{"/v1/nodes", 200, "[]"},
		{"/v1/observations/default/none/none", 200, "[]"},
		{"/v1/decision/default/none/none", 404, `"error"`},
		{"/v1/measured/default/none/none", 404, `"error"`},
		{"/v1/profile/none", 404, `"error"`},
		{"/v1/productions", 200, "[]"},
		{"/v1/production/none", 404, `"error"`},
		{"/v1/learnt/default/none/none", 404, `"error"`},
		{"/v1/node/none", 404, `"error"`},
		{"/healthz", 200, "ok"},
		{"/metrics", 200, "placer_records_readable 1"},
	}
	for _, c := range cases {
		w := get(t, h, c.path)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: status %d, want %d with %q; got %.300s", c.path, w.Code, c.status, c.want, w.Body)
		}
	}
}

func TestAHeldJobWithoutADecisionHasAPage(t *testing.T) {
	t.Parallel()
	w := get(t, handler(t, dashboardtest.Fixture()), "/job/default/search/index")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "No decision yet") || !strings.Contains(w.Body.String(), "about 31 s left") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	svg := get(t, handler(t, dashboardtest.Fixture()), "/chart/default/search/index.svg").Body.String()
	if !strings.Contains(svg, "profile: measuring one copy") {
		t.Errorf("the chart does not show the stage: %s", svg)
	}
}

const script = `<script>alert(1)</script>"'&`

// hostile puts a script into every string a user chooses.
func hostile() (*dashboardtest.Records, cluster.WorkloadID) {
	id := cluster.WorkloadID{Namespace: "a/b " + script, Job: "j/" + script, Group: "g?#%2F" + script}
	d := dashboardtest.CacheDecision()
	d.Workload, d.Reason, d.Policy, d.ProfileKey = id, script, script, "3f2a9c"
	d.Target.Unit, d.Warnings = script, []string{script}
	d.Predicted.Unit = script
	for i := range d.Candidates {
		c := &d.Candidates[i]
		c.Name, c.Configuration, c.Why, c.Neighbours, c.Node = script, script, script, []string{script}, cluster.NodeID(script)
		c.Parts = []cluster.ScorePart{{Name: script, Value: 1}}
	}
	for i := range d.Rejected {
		r := &d.Rejected[i]
		r.Node, r.Name, r.Detail, r.Source = cluster.NodeID(script), script, script, interference.Source(script)
	}
	d.Steps[0].Name = script
	m := dashboardtest.Fixture()
	m.AllDecisions = []cluster.Decision{d}
	m.AllEvaluations[0].Job, m.AllEvaluations[0].Group, m.AllEvaluations[0].Message = id.JobID(), script, script
	for i := range m.AllNodes {
		n := &m.AllNodes[i]
		n.Node.Name, n.Node.Class, n.Node.Configuration, n.Node.Pool = script, script, script, script
		n.Residents = []cluster.Resident{{Workload: id, Allocations: 1}}
	}
	m.AllNodes[4].Node.ID = cluster.NodeID(script)
	m.AllActions[id] = []cluster.ActionRecord{{Kind: script, Allocation: script, From: script, To: script, Reason: script, Result: script}}
	p := m.AllProfiles["3f2a9c"]
	p.Machine.CPUModel, p.Machine.NodeName, p.Warnings, p.Workload = script, script, []string{script}, id.String()
	p.Provenance = &profile.Provenance{Application: script, Command: script, DataSet: &profile.DataSet{Name: script, Repository: script, License: script}}
	p.ScaleUp[0].Speed.Unit, p.Isolated[script] = script, p.Isolated["fast"]
	m.AllProfiles["3f2a9c"] = p
	said := m.AllProductions["3f2a9c"]
	e := &said.Experiments[0]
	e.Node, e.Began, e.Says, e.Neighbours = script, script, script, []string{id.String(), script}
	said.Suspicion.CoRunners = []string{id.String()}
	said.Distrust = &profile.Distrust{At: dashboardtest.Now, Reason: script, CoRunners: []string{script}}
	m.AllProductions["3f2a9c"] = said
	m.AllObservations[id] = []cluster.Observation{{Allocation: "x", At: dashboardtest.Now, Unavailable: script}}
	return m, id
}

func TestStringsOfUsersAreEscaped(t *testing.T) {
	t.Parallel()
	m, id := hostile()
	h := handler(t, asking{m})
	const evil = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22%27%26"
	// The crawl of links_test.go reaches every page and record; these are forms.
	for _, path := range []string{
		"/?q=" + evil, ChartPath(id), "/heat?q=" + evil + "&class=" + evil + "&sort=" + evil, "/targets?q=" + evil, "/log?policy=" + evil + "&q=" + evil,
		JobPath(id) + "?whatif=1&policy=" + evil, JobPath(id) + "?whatif=1&target=" + evil + "&latency=" + evil, JobPath(id) + "?whatif=1&target=5",
		"/provision?compare=1&since=" + evil + "&cores=" + evil + "&memory_mb=" + evil + "&price=" + evil + "&term_weeks=" + evil,
	} {
		w := get(t, h, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.200s", path, w.Code, w.Body)
		}
		checkHarmless(t, path, w)
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	t.Parallel()
	m, id := hostile()
	for name, h := range map[string]http.Handler{"plain": handler(t, dashboardtest.Fixture()), "hostile": handler(t, m)} {
		for _, path := range []string{ChartPath(dashboardtest.CacheID), ChartPath(id), "/chart/default/render/frames.svg", "/chart/batch/encode/ffmpeg.svg"} {
			w := get(t, h, path)
			if got := w.Header().Get("Content-Type"); got != "image/svg+xml" {
				t.Errorf("%s %s: content type %q", name, path, got)
			}
			checkXML(t, name+" "+path, w.Body)
		}
	}
}

func checkXML(t *testing.T, what string, r io.Reader) {
	t.Helper()
	d := xml.NewDecoder(r)
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	h := handler(t, dashboardtest.Fixture())
	for _, path := range []string{"/", "/v1/nodes", "/nowhere", "/assets/style.css", "/assets/chart.css", "/assets/chart.js", "/metrics"} {
		header := get(t, h, path).Header()
		if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: headers %v", path, header)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/nodes", nil))
	if w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusNotFound {
		t.Errorf("a POST is answered with %d", w.Code)
	}
}

func TestJSONIsTheRecord(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Fixture()
	var got cluster.Decision
	if err := json.Unmarshal(get(t, handler(t, m), "/v1/decision/default/cache/redis").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(dashboardtest.CacheDecision())
	if have, _ := json.Marshal(got); string(have) != string(want) {
		t.Errorf("the decision changed on its way:\n%s\n%s", have, want)
	}
}

func TestARecordWithoutAGroupHasAddresses(t *testing.T) {
	t.Parallel()
	d := dashboardtest.EncodeDecision()
	d.Workload.Group = ""
	h := handler(t, &dashboardtest.Records{AllDecisions: []cluster.Decision{d}})
	for _, path := range []string{JobPath(d.Workload), ChartPath(d.Workload), "/v1/decision/batch/encode/"} {
		if w := get(t, h, path); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "nothing is recorded") {
			t.Errorf("%s: status %d: %.200s", path, w.Code, w.Body)
		}
	}
}

func TestFailuresAreTold(t *testing.T) {
	t.Parallel()
	h, err := New(&dashboardtest.Records{Err: errors.New("the store is on fire")}, Options{Now: dashboardtest.Clock, Leader: func() string { return "http://leader.example" }})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/": "The store is on fire", "/v1/nodes": "The store is on fire",
		"/chart/a/b/c.svg": "cannot be read now", "/metrics": "placer_records_readable 0",
	} {
		if w := get(t, h, path); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s does not say %q: %.300s", path, want, w.Body)
		}
	}
	if _, err := New(&dashboardtest.Records{}, Options{}); err == nil {
		t.Error("a dashboard without a clock was made")
	}
}

func TestMetricsParse(t *testing.T) {
	t.Parallel()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(get(t, handler(t, dashboardtest.Fixture()), "/metrics").Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, samples := range map[string]int{
		"placer_workloads": 3, "placer_evaluations": 1, "placer_workload_target": 3, "placer_workload_predicted": 1,
		"placer_workload_measured": 1, "placer_node_headroom_percent": 25, "placer_node_pressure_percent": 24,
	} {
		if got := len(families[name].GetMetric()); got != samples {
			t.Errorf("%s has %d samples, want %d", name, got, samples)
		}
	}
}

func TestLongListsAreBounded(t *testing.T) {
	t.Parallel()
	m := &dashboardtest.Records{}
	for i := range maxRows + 7 {
		d := dashboardtest.EncodeDecision()
		d.Workload.Job = strings.Repeat("x", i+1)
		m.AllDecisions = append(m.AllDecisions, d)
		m.AllNodes = append(m.AllNodes, cluster.NodeRecord{Node: cluster.Node{ID: cluster.NodeID(strings.Repeat("n", i+1)), Name: "n"}})
	}
	body := get(t, handler(t, m), "/").Body.String()
	if got := strings.Count(body, "7 more are not shown"); got != 2 {
		t.Errorf("%d notes about rows left out, want 2", got)
	}
}

func TestOverdueHoldIsVisible(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Fixture()
	m.AllEvaluations[0].Deadline = dashboardtest.Now.Add(-time.Minute)
	if body := get(t, handler(t, m), "/").Body.String(); !strings.Contains(body, "hold deadline passed 1 min ago") {
		t.Error("an overdue hold looks like any other")
	}
}
