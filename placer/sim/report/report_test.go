package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

// runOf is a run of four jobs: one perfect, one at 90 %, one killed, one not ended.
func runOf() *sim.Result {
	record := func(number int, o sim.Outcome, ideal, real, wait float64) sim.Record {
		at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		return sim.Record{Number: int32(number), Outcome: o, Ready: 0, Started: at(wait), Ended: at(wait + real), Ideal: at(ideal), Interference: 1, Platform: 1, Best: true}
	}
	return &sim.Result{
		Records: []sim.Record{record(0, sim.Done, 100, 100, 0), record(1, sim.Done, 90, 100, 20), record(2, sim.Killed, 10, 10, 0), record(3, sim.Unfinished, 10, 10, 0)},
		Samples: []sim.Sample{{At: 0, Used: 2, Allocated: 4, Reserved: 8}}, Heat: [][]float32{{0.25, 0.75}}, Cores: 8, End: 120 * time.Second,
		Counters: sim.Counters{Placements: 9, Conflicts: 1},
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	l := report.Summarise("p", 0, []*sim.Result{runOf(), runOf()})
	for name, want := range map[string]float64{
		"qos": 25, "within_10": 50, "performance": 47.5, "killed": 25, "unfinished": 25, "performance_with_wait": (100 + 75) / 4.0,
		"wait_mean": 5, "used": 25, "allocated": 50, "reserved": 100, "refused_plans": 10, "makespan": 120, "undisturbed": 50,
	} {
		f, ok := l.Figure(name)
		if !ok || math.Abs(f.Mean-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, f.Mean, want)
		}
		if ok && (f.Low == nil || *f.Low != f.Mean) {
			t.Errorf("%s: two equal runs have an interval", name)
		}
	}
	if _, ok := l.Figure("in_bound"); ok {
		t.Error("there are no services")
	}
	if l.Curve[0] != 0 || l.Curve[100] != 1 {
		t.Errorf("curve from %v to %v", l.Curve[0], l.Curve[100])
	}
}

// The interval is Student's: of 0 and 2 it is 1 ± 12.706.
func TestInterval(t *testing.T) {
	t.Parallel()
	a, b := runOf(), runOf()
	a.End, b.End = 0, 2*time.Second
	l := report.Summarise("p", 0, []*sim.Result{a, b})
	f, _ := l.Figure("makespan")
	if f.Mean != 1 || math.Abs(*f.High-13.706) > 0.001 {
		t.Errorf("%v to %v", *f.Low, *f.High)
	}
}

func TestThePageEscapes(t *testing.T) {
	t.Parallel()
	r := report.Report{Title: `<b>"x"</b>`, Lines: []report.Line{report.Summarise(`p<"&`, 0.5, []*sim.Result{runOf()})}}
	var b strings.Builder
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if page := b.String(); strings.Contains(page, "<b>") || strings.Contains(page, `p<"`) || strings.Count(page, "<svg") != 4 {
		t.Errorf("%s", page)
	}
}
