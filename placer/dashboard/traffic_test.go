package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
)

func TestTrafficPage(t *testing.T) {
	t.Parallel()
	fixture := dashboardtest.Fixture()
	h := handler(t, fixture)
	wantPage(t, h, "/traffic", []string{
		"default/web to default/cache: 6 TB", "60.6 %", "10.4 TB moved: 9.62 % within a rack, 86.5 % between racks, 3.85 % to and from the outside",
		"dc1/r1/alpha to dc1/r2/beta: 7 TB", "dc1/r1 to dc1/r2: 7 TB", "109 MB/s", "41 MB/s", "the same hour a day before", "unknown", "traffic over time", "23h 55m",
	}, nil)
	var report traffic.Report
	if err := json.Unmarshal(get(t, h, "/v1/traffic").Body.Bytes(), &report); err != nil || !reflect.DeepEqual(report, *fixture.Moved) {
		t.Errorf("%v, %+v", err, report)
	}
	for _, records := range []Records{onlyRecords{fixture}, &dashboardtest.Records{}} {
		h := handler(t, records)
		wantPage(t, h, "/traffic", []string{"No traffic is known"}, nil)
		if w := get(t, h, "/v1/traffic"); w.Code != http.StatusNotFound {
			t.Errorf("status %d", w.Code)
		}
	}
	fixture.Moved.Problem, fixture.Moved.Uplinks, fixture.Moved.Nodes, fixture.Moved.Jobs = "a table was cut short", nil, nil, nil
	wantPage(t, h, "/traffic", []string{"a table was cut short", "Nothing moved between nodes", "names have no racks", "No traffic of jobs"}, []string{"NaN"})
}

// A token sees the traffic of its own jobs, without the names of those at the other end; maps of
// nodes with the right to read nodes only.
func TestTrafficOfOthersHasNoNames(t *testing.T) {
	t.Parallel()
	h := guarded(t, dashboardtest.Fixture(), MetricsForToken)
	for token, c := range map[string]struct{ want, not []string }{
		ofDefault:  {[]string{"default/web", otherNamespace, "dc1/r1/alpha"}, []string{"batch/"}},
		ofBatch:    {[]string{"batch/encode", otherNamespace, "dc1/r1/alpha"}, []string{"default/"}},
		ofNobody:   {nil, []string{"default/", "batch/", "alpha", "109"}},
		ofOperator: {[]string{"default/web", "batch/encode", "dc1/r1/alpha"}, []string{otherNamespace}},
	} {
		for _, path := range []string{"/traffic", "/v1/traffic"} {
			w := getAs(t, h, token, path)
			if w.Code != http.StatusOK {
				t.Fatalf("%s for %s: status %d: %.300s", path, token, w.Code, w.Body)
			}
			for _, s := range c.want {
				if !strings.Contains(w.Body.String(), s) {
					t.Errorf("%s for %s does not say %q", path, token, s)
				}
			}
			for _, s := range c.not {
				if strings.Contains(w.Body.String(), s) {
					t.Errorf("%s for %s says %q", path, token, s)
				}
			}
		}
	}
	var own traffic.Report
	if err := json.Unmarshal(getAs(t, h, ofBatch, "/v1/traffic").Body.Bytes(), &own); err != nil {
		t.Fatal(err)
	}
	want := []traffic.Flow{{From: "batch/encode", To: otherNamespace, Bytes: 1e12}, {From: "batch/encode", To: "batch/encode", Bytes: 5e11}}
	if !reflect.DeepEqual(own.Jobs, want) {
		t.Errorf("jobs %+v, want %+v", own.Jobs, want)
	}
}

// A map of many names has one for those that exchange least.
func TestTheOthersOfAMapAreOne(t *testing.T) {
	t.Parallel()
	var flows []traffic.Flow
	for i := range 40 {
		flows = append(flows, traffic.Flow{From: fmt.Sprintf("default/job-%02d", i), To: "default/hub", Bytes: int64(1000 - i)})
	}
	svg := string(flowMap("jobs", flows, func(name string) string { return name }, false))
	if !strings.Contains(svg, "(others) to default/hub") || strings.Contains(svg, "job-39") || !strings.Contains(svg, "job-00") {
		t.Errorf("%.2000s", svg)
	}
	if got := flowMap("jobs", nil, rackOf, true); got != "" {
		t.Errorf("a map of nothing: %s", got)
	}
}
