package dashboard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
)

// leading are records of a replica that leads.
type leading struct {
	*dashboardtest.Records
	stats cluster.AdaptationStats
}

func (l leading) AdaptationStats() cluster.AdaptationStats { return l.stats }

func scrape(t *testing.T, r Records) string {
	t.Helper()
	h, err := New(r, Options{Now: dashboardtest.Clock})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

func TestAdaptationIsCounted(t *testing.T) {
	t.Parallel()
	other := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "g"}
	page := scrape(t, leading{dashboardtest.Fixture(), cluster.AdaptationStats{
		Actions:   map[cluster.ActionCount]int{{Kind: "evict", Result: cluster.ActionDone}: 2},
		Below:     map[cluster.WorkloadID]bool{dashboardtest.CacheID: true, other: false},
		BelowTime: map[cluster.WorkloadID]time.Duration{dashboardtest.CacheID: 90 * time.Second},
		Observed:  4, ObserveTime: 2 * time.Second, Failed: 1, Unavailable: 3,
	}})
	for _, want := range []string{
		`placer_adaptation_actions_total{kind="evict",result="done"} 2`,
		`placer_workload_below_target{group="redis",job="cache",namespace="default"} 1`,
		`placer_workload_below_target{group="g",job="web",namespace="default"} 0`,
		`placer_workload_below_target_seconds_total{group="redis",job="cache",namespace="default"} 90`,
		"placer_workloads_below_target 1",
		"placer_observation_seconds_sum 2", "placer_observation_seconds_count 4",
		"placer_observation_errors_total 1", "placer_observation_unavailable_total 3",
	} {
		if !strings.Contains(page, "\n"+want+"\n") {
			t.Errorf("no sample %s", want)
		}
	}
	if page := scrape(t, dashboardtest.Fixture()); strings.Contains(page, "placer_observation_errors_total") {
		t.Error("records that count nothing have samples")
	}
}

type withForgeries struct{ Records }

func (withForgeries) RefusedProfiles() int { return 3 }

func TestRefusedProfilesAreCounted(t *testing.T) {
	t.Parallel()
	if page := scrape(t, withForgeries{dashboardtest.Fixture()}); !strings.Contains(page, "\nplacer_profiles_refused 3\n") {
		t.Error("no sample of refused profiles")
	}
}

func TestUseIsSummedWhereAllTell(t *testing.T) {
	t.Parallel()
	r := dashboardtest.Fixture()
	use := func(cpu float64) *cluster.Use { return &cluster.Use{CPUMHz: cpu, MemoryBytes: 1 << 20} }
	r.AllObservations[dashboardtest.CacheID] = []cluster.Observation{
		{Allocation: "gone", At: dashboardtest.Now.Add(-time.Minute), Use: use(1000)},
		{Allocation: "a", At: dashboardtest.Now, Use: use(100)},
		{Allocation: "b", At: dashboardtest.Now, Use: use(200)},
	}
	if page := scrape(t, r); !strings.Contains(page, `placer_workload_cpu_megahertz{group="redis",job="cache",namespace="default"} 300`) {
		t.Error("cpu is not the sum of the two that run")
	}
	r.AllObservations[dashboardtest.CacheID][2].Use = nil
	if page := scrape(t, r); strings.Contains(page, "placer_workload_cpu_megahertz{") {
		t.Error("a part is told as the whole")
	}
}

// Every metric that the Grafana dashboard asks for is exported, and every panel asks
// for one.
func TestGrafanaAsksForWhatThereIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/grafana/nomad-placer.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known := exported()
	name := regexp.MustCompile(`\bplacer_[a-z_]+`)
	check := func(where, query string) {
		found := name.FindAllString(query, -1)
		if len(found) == 0 {
			t.Errorf("%s asks for nothing of ours: %s", where, query)
		}
		for _, n := range found {
			if !slices.Contains(known, n) {
				t.Errorf("%s asks for %s, which is not exported", where, n)
			}
		}
	}
	if len(board.Panels) < 10 {
		t.Errorf("%d panels", len(board.Panels))
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			check("panel "+p.Title, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		if v.Definition != "" {
			check("a variable", v.Definition)
		}
	}
}

// exported are the names of all samples, those of a summary's parts included.
func exported() []string {
	descriptions := make(chan *prometheus.Desc, 100)
	collector{}.Describe(descriptions)
	close(descriptions)
	quoted := regexp.MustCompile(`fqName: "([a-z_]+)"`)
	var out []string
	for d := range descriptions {
		n := quoted.FindStringSubmatch(d.String())[1]
		out = append(out, n, n+"_sum", n+"_count")
	}
	return out
}
