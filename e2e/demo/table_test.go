package main

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func exampleRows() []row {
	return []row{
		{
			Job: "cache", Target: performance.Target{Kind: performance.QPS, QPS: 16000, Latency: &performance.Latency{Percentile: 99, Max: 1400 * time.Microsecond}},
			Isolated: isolated{RatePerSec: 16000, Tail: 680 * time.Microsecond},
			Stock:    outcome{RatePerSec: 15990, Tail: 9230 * time.Microsecond, Nodes: []string{"beta"}},
			Placer:   outcome{RatePerSec: 16001, Tail: 1210 * time.Microsecond, Nodes: []string{"alpha"}, Met: true},
			Why:      "every workload keeps its QoS bound; the tightest is memory bandwidth with 12 points to spare", Predicted: cluster.Prediction{Known: true, RatePerSec: 15800, Low: 15100, High: 16300},
			Scores: map[interference.Origin]int{interference.Measured: 12, interference.Predicted: 18},
			Actions: []cluster.ActionRecord{
				{Kind: "resize", From: "500 MHz", To: "600 MHz", Reason: "at 80 % of its target", Result: "done"},
				{Kind: "evict", From: "node beta", Reason: "best effort gives way", Result: "done"},
			},
		},
		{
			Job: "compress", Target: performance.Target{Kind: performance.FinishWithin, FinishWithin: 90 * time.Second}, Work: 7500,
			Isolated: isolated{RatePerSec: 100}, Predicted: cluster.Prediction{Known: true, RatePerSec: 90, Low: 80, High: 95},
			Stock:  outcome{FinishedIn: 84 * time.Second, Nodes: []string{"alpha"}, Met: true},
			Placer: outcome{Missing: "not finished after 3m0s", Nodes: []string{"gamma"}},
			Scores: map[interference.Origin]int{interference.Measured: 4, interference.Predicted: 25, interference.Assumed: 1},
		},
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := printTable(&out, exampleRows(), false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"16000/s, p99 ≤ 1.40 ms  16000/s, 0.68 ms  15990/s, 9.23 ms, missed  16001/s, 1.21 ms  15800/s (15100 to 16300)",
		"within 90.0 s           75.0 s            84.0 s                    unknown, missed   83.3 s (79 to 94)",
		"  with nomad-placer: not finished after 3m0s\n",
		"cache: stock Nomad chose beta, nomad-placer alpha: every workload",
		"  since then: resize, 500 MHz → 600 MHz, at 80 % of its target: done\n",
		"  since then: evict, node beta, best effort gives way: done\n",
		"Targets met: stock Nomad 1 of 2, nomad-placer 1 of 2.\n",
		"Scores that nomad-placer decided by: 16 measured, 43 predicted, 1 assumed.\n",
		"cache: p99 of 1.21 ms instead of 9.23 ms, 7.6 times better.\n",
		"compress: not comparable, since one side has no measurement.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > lineColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestGainIsHonest(t *testing.T) {
	t.Parallel()
	r := exampleRows()[0]
	r.Placer.Tail, r.Placer.Met = 20*time.Millisecond, false
	if got, want := r.gain(), "cache: p99 of 20.0 ms instead of 9.23 ms, 2.2 times worse; nomad-placer missed the target."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Placer.Tail, r.Placer.Met = 9*time.Millisecond, true
	if got, want := r.gain(), "cache: p99 of 9.00 ms instead of 9.23 ms, no noticeable difference."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
