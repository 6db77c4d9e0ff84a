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
	"time"

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
	wantPage(t, h, "/provision", []string{
		"Strategy HM", "Capacity over time", "rented, retained", "cost 0.95 per hour now", "burst-a", "It has 2 jobs.", "on its way", "c5.4xlarge",
		"used by measured jobs", "Of 1 group of jobs it is not known now", "Spent by day", "2026-03-13", "11.02", `<td class="num">1.5</td>`,
	}, []string{"What other strategies would have cost"})
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

// What was not measured is a gap in the line, and no line where nothing was.
func TestUseThatIsNotKnown(t *testing.T) {
	t.Parallel()
	used := func(v float64) *float64 { return &v }
	var samples provision.Capacities
	for i, u := range []*float64{nil, used(2), used(3), nil, used(0), nil} {
		samples = append(samples, provision.Capacity{At: dashboardtest.Now.Add(time.Duration(i) * time.Hour), Owned: 16, Used: u})
	}
	lines := usedLines(samples, "5")
	if len(lines) != 2 || lines[0].Name == "" || lines[1].Name != "" || len(lines[0].Points) != 2 || lines[0].Points[0].X != -4 || lines[1].Points[0].Y != 0 {
		t.Errorf("%+v", lines)
	}
	for i := range samples {
		samples[i].Used = nil
	}
	if lines := usedLines(samples, "5"); len(lines) != 0 {
		t.Errorf("%+v", lines)
	}
	if svg := capacityChart(samples); svg == "" || strings.Contains(string(svg), "used by") {
		t.Errorf("%s", svg)
	}
}

// The question is a form of the page and an address for programs. What is not answered yet is asked for
// again by the page itself; a saving is shown with its weeks.
func TestComparingStrategies(t *testing.T) {
	t.Parallel()
	h := handler(t, asking{dashboardtest.Fixture()})
	const node = "&cores=16&memory_mb=65536&price=0.28"
	wantPage(t, h, "/provision", []string{"What other strategies would have cost", `<option value="168h" selected>`, `name="term_weeks" inputmode="numeric" value="52"`, `data-refresh="5"`}, []string{"What is assumed"})
	wantPage(t, h, "/provision?compare=1"+node, []string{
		"50 allocations of 25 runs", "1 left out: runs whose end nobody saw.", "OdM", "99.5 %", "% more</div>", "% less</div>", "Every week is as this one.",
		"SR is cheaper than OdM from week", `value="65536"`, `data-refresh="-1"`, "how that compares with SR in the same weeks",
	}, nil)
	wantPage(t, h, "/provision?compare=1&since=24h"+node, []string{"40 % done: HF", `<progress max="100" value="40"`, `data-refresh="5"`}, []string{"What is assumed"})
	for query, want := range map[string]string{
		"": "cores of an owned node: &#34;&#34; is not a whole number from 1 to 4096", "&cores=0" + node: "is not a whole number from 1", "&since=soon" + node: "is not a duration above 0",
		"&since=720h" + node: "3 left out: runs whose end nobody saw", "&term_weeks=1e9" + node: "weeks that an owned node is paid for in advance", "&cores=1&memory_mb=1&price=NaN": "is not a number from 0 on",
		"&cores=1&memory_mb=1&price=-1": "is not a number from 0 on", "&cores=1&memory_mb=99999999999999999999&price=1": "memory of an owned node", "&since=99999999h" + node: "is not a duration above 0",
	} {
		w := get(t, h, "/provision?compare=1"+query)
		if w.Code != http.StatusOK || !strings.Contains(strings.ToLower(w.Body.String()), want) || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%q: status %d, and not %q: %s", query, w.Code, want, w.Body)
		}
	}
	for query, status := range map[string]int{"?" + node: 200, "?since=24h" + node: 200, "": 400, "?price=x" + node: 400, "?since=720h" + node: 404} {
		w := get(t, h, "/v1/provision/whatif"+query)
		if w.Code != status {
			t.Errorf("%q: status %d, want %d: %s", query, w.Code, status, w.Body)
		}
	}
	for _, records := range []Records{asking{&dashboardtest.Records{}}, dashboardtest.Fixture(), onlyRecords{dashboardtest.Fixture()}} {
		if w := get(t, handler(t, records), "/v1/provision/whatif?"+node); w.Code != http.StatusNotFound {
			t.Errorf("records that cannot say are answered with %d", w.Code)
		}
		wantPage(t, handler(t, records), "/provision?compare=1"+node, nil, []string{"What is assumed"})
	}
}

// Runs name the jobs of everybody: they are for who may read all records.
func TestWhoReadsRuns(t *testing.T) {
	t.Parallel()
	fixture := dashboardtest.Fixture()
	h := guarded(t, asking{fixture}, MetricsForToken)
	for token, status := range map[string]int{"": 401, "unknown": 401, ofDefault: 403, ofBatch: 403, ofNobody: 403, ofOperator: 200} {
		w := getAs(t, h, token, "/v1/provision/runs")
		if w.Code != status || (status != 200 && strings.Contains(w.Body.String(), "ffmpeg")) {
			t.Errorf("%q: status %d, want %d: %.300s", token, w.Code, status, w.Body)
		}
		var runs provision.Runs
		if err := json.Unmarshal(w.Body.Bytes(), &runs); err != nil || (status == 200) != reflect.DeepEqual(runs, fixture.AllRuns) {
			t.Errorf("%q: %v, %+v", token, err, runs)
		}
	}
	const asked = "/v1/provision/whatif?cores=16&memory_mb=65536&price=0.28"
	for token, status := range map[string]int{"": 401, ofNobody: 403, ofBatch: 200} {
		if w := getAs(t, h, token, asked); w.Code != status {
			t.Errorf("%q: status %d, want %d", token, w.Code, status)
		}
	}
}
