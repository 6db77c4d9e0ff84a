package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// fixtureClock shows the moment of the fixture's records.
type fixtureClock struct{ wallClock }

func (fixtureClock) Now() time.Time { return dashboardtest.Now }

// openFixture is a proxy before an agent that has the pages' fixture, and a Nomad
// that lets everybody read everything.
func openFixture(t *testing.T, nomad http.HandlerFunc) *front {
	t.Helper()
	pages, err := dashboard.New(dashboardtest.Fixture(), dashboard.Options{Now: dashboardtest.Clock, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	agent, behind := httptest.NewServer(pages), httptest.NewServer(nomad)
	t.Cleanup(agent.Close)
	t.Cleanup(behind.Close)
	return open(t, func(o *proxy.Options) {
		o.Clock = fixtureClock{}
		if o.Nomad, err = url.Parse(behind.URL); err != nil {
			t.Fatal(err)
		}
		o.Records = func(context.Context) (*url.URL, error) { return url.Parse(agent.URL) }
	})
}

// The tab says what the pages say, in the same words.
func TestTabInTheWordsOfThePages(t *testing.T) {
	t.Parallel()
	id := dashboardtest.CacheID
	f := openFixture(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/"+id.Job) {
			_ = json.NewEncoder(w).Encode(map[string]any{"ID": id.Job, "TaskGroups": []map[string]string{{"Name": id.Group}}})
			return
		}
		_, _ = w.Write([]byte("[]"))
	})
	answer, data := get(t, "GET", f.url+"/placer-tab/job/"+id.Namespace+"/"+id.Job, nil)
	var record proxy.JobRecord
	if err := json.Unmarshal(data, &record); err != nil || answer.StatusCode != http.StatusOK || len(record.Groups) != 1 || record.Groups[0].Text == nil {
		t.Fatalf("%s %v %s", answer.Status, err, data)
	}
	g := record.Groups[0].Text
	for name, c := range map[string][2]string{
		"outcome":   {g.Outcome, "placed"},
		"target":    {g.Target, "20,000 requests/s with p99 ≤ 5 ms"},
		"predicted": {g.Predicted, "21,300 requests/s (20,100 to 22,400)"},
		"interval":  {g.Interval, "20,100 to 22,400 requests/s, 95 % interval"},
		"given":     {g.Given, "1 × 1 core, 256 MiB memory, 300 MiB disk"},
		"measured":  {g.Measured, "20,432 requests/s, p99 4.1 ms"},
		"decided":   {g.Decided, "12 min ago"},
		"tail":      {g.Tail, "p99"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q, want %q", name, c[0], c[1])
		}
	}
	var learnt wording.Learnt
	if err := json.Unmarshal(record.Groups[0].Learnt, &learnt); err != nil || len(learnt.Experiments) != 2 || learnt.Experiments[1].Achieved != "91 % (89–93)" || len(learnt.Moved) != 1 {
		t.Errorf("what production taught: %v: %s", err, record.Groups[0].Learnt)
	}
	if g.Goal == nil || *g.Goal != 20000 || g.Bound == nil || *g.Bound != 5*time.Millisecond || len(g.Windows) == 0 || !slices.IsSortedFunc(g.Windows, func(a, b proxy.WindowPoint) int { return int(a.At - b.At) }) {
		t.Errorf("charts: %+v", g)
	}
	if len(g.Speeds) == 0 || len(g.Isolated) == 0 || len(g.Steps) == 0 || len(g.Actions) == 0 || len(g.Candidates) == 0 {
		t.Errorf("a list is empty: %+v", g)
	}
}
