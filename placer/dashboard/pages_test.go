package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// wantPage reads a page and looks for what it must and must not say.
func wantPage(t *testing.T, h http.Handler, path string, want, not []string) {
	t.Helper()
	w := get(t, h, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %.300s", path, w.Code, w.Body)
	}
	for _, s := range want {
		if !strings.Contains(w.Body.String(), s) {
			t.Errorf("%s does not say %q", path, s)
		}
	}
	for _, s := range not {
		if strings.Contains(w.Body.String(), s) {
			t.Errorf("%s says %q", path, s)
		}
	}
}

func TestTargetsPage(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Fixture()
	h := handler(t, m)
	wantPage(t, h, "/targets", []string{"✓ met", "not measured yet", "100 %", "30 of 30", "20,100 to 22,400 requests/s", "30 windows between", "waiting for room"}, nil)
	wantPage(t, h, "/targets?state=met", []string{"cache / redis"}, []string{"encode / ffmpeg"})
	wantPage(t, h, "/targets?q=ENCODE", []string{"encode / ffmpeg"}, []string{"cache / redis"})
	var list []targetRecord
	if err := json.Unmarshal(get(t, h, "/v1/targets").Body.Bytes(), &list); err != nil || len(list) != 3 {
		t.Fatalf("%v, %+v", err, list)
	}
	met := list[0]
	if met.State != stateMet || met.Measured == nil || met.Measured.Low >= met.Measured.High || met.MetShare == nil || *met.MetShare != 1 {
		t.Errorf("the measured job is %+v", met)
	}
	for _, r := range list[1:] {
		if r.Measured != nil || r.MetShare != nil || r.Predicted != nil {
			t.Errorf("something unknown has a number: %+v", r)
		}
	}
}

func TestMissedTargetsComeFirst(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Large(60)
	var list []targetRecord
	if err := json.Unmarshal(get(t, handler(t, m), "/v1/targets").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, func(a, b targetRecord) int { return stateRank(a.State) - stateRank(b.State) }) || list[0].State != stateMissed {
		t.Errorf("the first is %s", list[0].State)
	}
}

func TestHeatPage(t *testing.T) {
	t.Parallel()
	h := handler(t, dashboardtest.Large(230))
	wantPage(t, h, "/heat", []string{"1 to 100 of 230 nodes", "?page=2", `rel="next"`}, []string{"aria-sort"})
	wantPage(t, h, "/heat?page=3", []string{"201 to 230 of 230 nodes", "?page=2"}, []string{`rel="next"`})
	wantPage(t, h, "/heat?page=99&class=slow", []string{"of 57 nodes", `<option value="slow" selected>`}, []string{"fast-0000"})
	wantPage(t, h, "/heat?q=fast-0001", []string{"1 to 1 of 1 nodes"}, []string{"fast-0000"})
	wantPage(t, h, "/heat?q=nothing", []string{"No node matches"}, nil)
	wantPage(t, h, "/heat?sort=mem_bw&measure=pressure", []string{`aria-sort="ascending"`, `<option value="mem_bw" selected>`}, nil)
}

var heatCellPattern = regexp.MustCompile(`title="memory bandwidth: headroom ([0-9.]+|unknown), pressure ([0-9.]+|unknown)`)

// Sorted by a source, its column has the least room first and what is unknown
// last.
func TestHeatIsSortedByASource(t *testing.T) {
	t.Parallel()
	for _, m := range measures {
		body := get(t, handler(t, dashboardtest.Large(90)), "/heat?sort=mem_bw&measure="+m.Value).Body.String()
		last, n := -1.0, 0
		for _, match := range heatCellPattern.FindAllStringSubmatch(body, -1) {
			var headroom, pressure float64
			_, errH := fmt.Sscan(match[1], &headroom)
			_, errP := fmt.Sscan(match[2], &pressure)
			room := min(headroom, 100-pressure)
			switch {
			case m.Value == string(measureHeadroom):
				room, errP = headroom, nil
			case m.Value == string(measurePressure):
				room, errH = 100-pressure, nil
			}
			if errH != nil || errP != nil {
				room = 1000
			}
			if room < last-0.11 { // pages print a tenth
				t.Errorf("%s: room %v comes after %v", m.Value, room, last)
			}
			last, n = room, n+1
		}
		if n != 90 {
			t.Errorf("%s: %d cells", m.Value, n)
		}
	}
}

func TestHeatRecordIsTheNodes(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Fixture()
	var got heatRecord
	if err := json.Unmarshal(get(t, handler(t, m), "/v1/heat").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sources) != 5 || len(got.Nodes) != 5 {
		t.Fatalf("%d sources, %d nodes", len(got.Sources), len(got.Nodes))
	}
	for _, n := range got.Nodes {
		at := slices.IndexFunc(m.AllNodes, func(r cluster.NodeRecord) bool { return r.Node.ID == n.ID })
		for i, s := range got.Sources {
			if want := m.AllNodes[at].Pressure.Caused[s.Source].Score; n.Pressure[i] != want {
				t.Errorf("%s %s: pressure %v, want %v", n.Name, s.Source, n.Pressure[i], want)
			}
		}
	}
}

func TestAnUnknownHeatIsNoColour(t *testing.T) {
	t.Parallel()
	n := cluster.NodeRecord{Pressure: cluster.Pressure{Tolerated: interference.Scores{interference.TLB: {Score: interference.Percent(0)}}}}
	for m, want := range map[measure]string{measureRoom: "unknown", measurePressure: "unknown", measureHeadroom: "heat-4"} {
		if got := heat(n, interference.TLB, m).Kind; got != want {
			t.Errorf("%s: %s, want %s", m, got, want)
		}
	}
}

func TestLogPage(t *testing.T) {
	t.Parallel()
	h := handler(t, dashboardtest.Fixture())
	wantPage(t, h, "/log", []string{"1 to 3 of 3", "2 interference, 1 memory exhausted", "Every node lacks room now", "left to Nomad"}, nil)
	wantPage(t, h, "/log?outcome=stock", []string{"encode / ffmpeg"}, []string{"cache / redis"})
	wantPage(t, h, "/log?policy=quasar", []string{"No decision matches", `<option value="quasar" selected>`}, nil)
	wantPage(t, h, "/log?q=least+interfered", []string{"cache / redis"}, []string{"encode / ffmpeg"})
}

func TestPoliciesPage(t *testing.T) {
	t.Parallel()
	h := handler(t, asking{dashboardtest.Fixture()})
	wantPage(t, h, "/policies", []string{"paragon", "Without a decision on record: quasar", "2 ms", "of 1"}, nil)
	var list []policyRecord
	if err := json.Unmarshal(get(t, h, "/v1/policies").Body.Bytes(), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	p := list[0]
	if p.Decisions != 3 || p.WithTarget != 3 || p.Met != 1 || p.Missed != 0 || p.Judged != 1 || p.Compared != 1 || p.OffShare == nil {
		t.Errorf("%+v", p)
	}
	// Where nothing was measured nothing is known.
	m := dashboardtest.Fixture()
	m.AllObservations = nil
	wantPage(t, handler(t, m), "/policies", []string{"unknown"}, []string{"100 %", "0 %"})
}

func TestProfilePages(t *testing.T) {
	t.Parallel()
	h := handler(t, dashboardtest.Fixture())
	wantPage(t, h, "/profiles", []string{"default/cache/redis", "6 of 17", "llc_cap</abbr> 35", "net_bw</abbr> 65", "fast: 22,600 requests/s"}, nil)
	wantPage(t, h, "/profile/3f2a9c", []string{
		"Scale up", "39,500 requests/s", "The ramp", "vector units", "slow", "could not be told from noise in 12 s", "Its job",
	}, nil)
	if w := get(t, h, "/profile/none"); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func TestJobPageShowsWhatHappensNow(t *testing.T) {
	t.Parallel()
	m := dashboardtest.Large(60)
	id := m.AllDecisions[0].Workload
	other := m.AllDecisions[1]
	for i := range m.AllNodes {
		if n := &m.AllNodes[i]; n.Node.ID == m.AllDecisions[0].Candidates[0].Node {
			n.Residents = append(n.Residents, cluster.Resident{Workload: other.Workload, Allocations: 1, Known: true},
				cluster.Resident{Workload: cluster.WorkloadID{Namespace: "default", Job: "stranger", Group: "main"}, Allocations: 2})
		}
	}
	wantPage(t, handler(t, m), JobPath(id), []string{
		"Co-runners now", other.Workload.Job + " / ", "its scores are unknown", "1 of them unknown, so the pressure may be higher",
		"Actions since it started", "12 % below its target for 90 s", "the job does not allow moves", "windows", "The whole profile",
	}, []string{"What would be decided now"})
	wantPage(t, handler(t, onlyRecords{m}), JobPath(id), nil, []string{"Actions since it started"})
}

func TestWhatIf(t *testing.T) {
	t.Parallel()
	h := handler(t, asking{dashboardtest.Fixture()})
	job := JobPath(dashboardtest.CacheID)
	const ask = "?whatif=1"
	wantPage(t, h, job, []string{"What would be decided now", `<option value="quasar">`}, []string{"Acceptable nodes, best first.</caption>"})
	wantPage(t, h, job+ask+"&policy=quasar&target=25000&latency=3ms", []string{
		"25,000 requests/s with p99 ≤ 3 ms", "These are the nodes of the decision on record", `value="25000"`, `data-refresh="-1"`,
	}, nil)
	for bad, want := range map[string]string{
		"&policy=magic": "There is no policy &#34;magic&#34;; known: paragon, quasar", "&target=much": "is not a number above 0",
		"&target=-4": "is not a number above 0", "&latency=soon": "is not a duration above 0",
	} {
		wantPage(t, h, job+ask+bad, []string{want, `role="alert"`}, nil)
	}
	wantPage(t, h, "/job/batch/encode/ffmpeg"+ask+"&target=90s", []string{"finish within 1m 30s", "it would be profiled first"}, nil)
	for query, status := range map[string]int{"?policy=quasar": 200, "?target=x": 400, "?policy=magic": 400, "?latency=3ms&target=1": 200} {
		if w := get(t, h, "/v1/whatif/default/cache/redis"+query); w.Code != status {
			t.Errorf("%s: status %d, want %d: %s", query, w.Code, status, w.Body)
		}
	}
	if w := get(t, handler(t, dashboardtest.Fixture()), "/v1/whatif/default/cache/redis"); w.Code != http.StatusNotFound {
		t.Errorf("records that cannot say are answered with %d", w.Code)
	}
}

func TestPagerStaysInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page               string
		total, first, last int
	}{{"", 0, 0, 0}, {"-3", 5, 1, 5}, {"2", 100, 1, 100}, {"2", 101, 101, 101}, {"9999999999999999999", 250, 1, 100}, {"9", 250, 201, 250}} {
		p := paginate(map[string][]string{"page": {c.page}}, c.total)
		if p.First() != c.first || p.To != c.last {
			t.Errorf("%q of %d: %d to %d, want %d to %d", c.page, c.total, p.First(), p.To, c.first, c.last)
		}
	}
}

// benchmarked are the pages that grow with the cluster.
var benchmarked = map[string]string{"Home": "/", "Heat": "/heat", "HeatJSON": "/v1/heat", "Targets": "/targets", "Log": "/log", "Policies": "/policies"}

func BenchmarkPages(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		h, err := New(dashboardtest.Large(nodes), Options{Now: dashboardtest.Clock})
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(benchmarked)) {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, nodes), func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, benchmarked[name], nil))
					if w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
					size = w.Body.Len()
				}
				b.ReportMetric(float64(size)/1024, "KiB")
			})
		}
	}
}

// What is rented is shown with its reasons, to who may read nodes; without any the page says so.
func TestRentedNodes(t *testing.T) {
	t.Parallel()
	fixture := dashboardtest.Fixture()
	h := handler(t, fixture)
	wantPage(t, h, "/provision", []string{"Strategy HM", "Capacity over time", "rented, retained", "cost 0.95 per hour now", "burst-a", "It has 2 jobs.", "on its way", "c5.4xlarge"}, nil)
	w := get(t, h, "/v1/provision")
	var report provision.Report
	if err := json.Unmarshal(w.Body.Bytes(), &report); err != nil || !reflect.DeepEqual(report, *fixture.Rented) {
		t.Errorf("%v, %+v", err, report)
	}
	for _, records := range []Records{onlyRecords{fixture}, &dashboardtest.Records{}} {
		h := handler(t, records)
		wantPage(t, h, "/provision", []string{"No nodes are rented"}, nil)
		if w := get(t, h, "/v1/provision"); w.Code != http.StatusNotFound {
			t.Errorf("status %d", w.Code)
		}
	}
	if w := getAs(t, guarded(t, fixture, MetricsForToken), ofNobody, "/v1/provision"); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "burst") {
		t.Errorf("who may not read nodes: status %d, %s", w.Code, w.Body)
	}
}
