package journal_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// webGroup is the group that the pages are of.
var webGroup = cluster.WorkloadID{Namespace: "default", Job: "web", Group: "web"}

func TestPageFitsNomadsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 400, 2000)
		decisions := make([]cluster.Decision, rapid.IntRange(0, 4).Draw(t, "groups"))
		for i := range decisions {
			decisions[i] = cluster.Decision{
				Workload:   cluster.WorkloadID{Group: text.Draw(t, "group")},
				Outcome:    rapid.SampledFrom([]cluster.Outcome{cluster.Placed, cluster.Stock}).Draw(t, "outcome"),
				Reason:     text.Draw(t, "reason"),
				Candidates: []cluster.Candidate{{Name: text.Draw(t, "node"), Why: text.Draw(t, "why")}},
				Warnings:   []string{text.Draw(t, "warning")},
				Count:      rapid.IntRange(0, 5).Draw(t, "count"),
			}
		}
		page := journal.Page(decisions, rapid.SampledFrom([]string{"", "http://127.0.0.1:9433/chart/a/b/c.svg"}).Draw(t, "chart"))
		if len(page) > journal.MaxPageBytes {
			t.Fatalf("%d bytes", len(page))
		}
		if strings.Contains(page, "<") {
			t.Fatalf("markup of the user survives: %q", page)
		}
	})
}

func TestPageSaysWhatSizeAndWhy(t *testing.T) {
	t.Parallel()
	d := cluster.Decision{
		Workload: webGroup, Outcome: cluster.Placed, Count: 2, Policy: "quasar",
		Candidates: []cluster.Candidate{{Name: "alpha"}},
		Sizing: &cluster.Sizing{
			Chosen: true, Task: "main", CountWas: 1, OwnWas: cluster.Resources{CPUMHz: 500, MemoryMB: 64},
			Own: cluster.Resources{CPUMHz: 5000, MemoryMB: 128}, Reaches: true, Why: "it is the least that reaches 150 units/s",
		},
	}
	for name, text := range map[string]string{"page": journal.Page([]cluster.Decision{d}, ""), "scaling event": journal.Sentence([]cluster.Decision{d})} {
		for _, want := range []string{"2 × (5000 MHz, 128 MB)", "1 × (500 MHz, 64 MB)", "it is the least that reaches 150 units/s"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %q:\n%s", name, want, text)
			}
		}
	}
	d.Count, d.Sizing.Own = 1, d.Sizing.OwnWas
	if text := journal.Sentence([]cluster.Decision{d}); strings.Contains(text, "MHz") {
		t.Errorf("a size as written is told as a change: %s", text)
	}
}

func TestPageSaysWhatAndWhy(t *testing.T) {
	t.Parallel()
	page := journal.Page([]cluster.Decision{{
		Workload: webGroup, Outcome: cluster.Placed, Count: 1,
		Target:     performance.Target{Kind: performance.QPS, QPS: 8000},
		Predicted:  cluster.Prediction{Known: true, RatePerSec: 8123.4, Low: 8000, High: 8300, Unit: "requests/s"},
		Candidates: []cluster.Candidate{{Name: "alpha", Configuration: "fast", Why: "nobody else is there"}},
		RejectedBy: map[cluster.RejectReason]int{cluster.RejectInterference: 2},
	}}, "http://127.0.0.1:9433/c.svg")
	for _, want := range []string{"8,000 requests/s", "8,123 requests/s (8,000 to 8,300)", "alpha (fast): nobody else is there", "2 nodes for interference", "![target"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
