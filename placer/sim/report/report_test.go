package report_test

import (
	"math"
	"reflect"
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

// details of runOf: jobs began at 0, 20, 0 and 0 s and were submitted at 0; the
// run ends at 120 s, which is when what never ended is taken to end.
func TestDetails(t *testing.T) {
	t.Parallel()
	l := report.Summarise("p", 0, []*sim.Result{runOf()})
	for name, want := range map[string]float64{
		"median": 45, "worst": 0, "run_mean": (100 + 100 + 120 + 120) / 4.0, "stay_mean": (100 + 120 + 120 + 120) / 4.0,
		"waiting_share": 100 * (20 / 120.0) / 2, "overhead_under_5": 25, "waiting_max": 20, "decided_150ms": 100, "used_until_90": 25, "unrelaxed": 100,
		"platform_lost_1": 50, "interference_lost_20": 50, "late_100": 100 * (120/90.0 - 1) / 2, "late_5": 100 * (120/90.0 - 1),
	} {
		f, ok := l.Figure(name)
		if !ok || math.Abs(f.Mean-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, f.Mean, want)
		}
	}
	if _, ok := l.Figure("target_deviation"); ok {
		t.Error("there are no targets")
	}
	if _, ok := l.Figure("qos:ST"); ok {
		t.Error("one class has no part of its own")
	}
}

// By class and by priority: the second job of runOf is another one.
func TestParts(t *testing.T) {
	t.Parallel()
	r := runOf()
	r.Records[1].Class, r.Records[1].Priority = 1, 50
	l := report.Summarise("p", 0, []*sim.Result{r})
	for name, want := range map[string]float64{
		"performance:MT": 90, "hmean:MT": 90, "hmean:ST": 0, "performance:ST": 100 / 3.0, "qos:ST": 100 / 3.0, "late:0": 0, "late:50": 100 * (120/90.0 - 1),
	} {
		f, ok := l.Figure(name)
		if !ok || math.Abs(f.Mean-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, f.Mean, want)
		}
	}
}

// What is required is ideal: two jobs of a core for 100 s, of which 3 cores are
// allocated at one moment and 2 at another; the third requires more than there is.
func TestCoreDeviation(t *testing.T) {
	t.Parallel()
	r := &sim.Result{Cores: 4, Samples: []sim.Sample{{At: 0, Allocated: 3}, {At: 10 * time.Second, Allocated: 2}, {At: 20 * time.Second, Allocated: 4}}}
	for i, at := range []time.Duration{0, 0, 20 * time.Second} {
		r.Records = append(r.Records, sim.Record{Number: int32(i), Arrived: at, Ideal: 100 * time.Second, Cores: []float32{1, 1, 9}[i], Outcome: sim.Done})
	}
	l := report.Summarise("p", 0, []*sim.Result{r})
	if f, _ := l.Figure("core_deviation"); f.Mean != 25 {
		t.Errorf("%v, want the mean of 50 and 0", f.Mean)
	}
}

// A line of several seeds is the merged lines of each.
func TestMerge(t *testing.T) {
	t.Parallel()
	a, b := runOf(), runOf()
	a.End, b.Counters.Placements = 200*time.Second, 19
	one, two := report.Summarise("p", 0, []*sim.Result{a}), report.Summarise("p", 0, []*sim.Result{b})
	if got, want := report.Merge([]report.Line{one, two}), report.Summarise("p", 0, []*sim.Result{a, b}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	two.Metrics = two.Metrics[1:]
	if m := report.Merge([]report.Line{one, two}); len(m.Metrics) != len(one.Metrics)-1 {
		t.Error("a metric that one seed has not was kept")
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

// Chiang and Huang 2011, §4.1: A takes 60 s in isolation, 100 s next to B and B 80 s, in isolation
// 40. B ends at 80 s, and A goes on in isolation until 92 s: together they took 172 s, their whole
// lives next to each other are 180.
func TestWholeLives(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	a := sim.Record{Node: 1, Outcome: sim.Done, Ended: at(92), Ideal: at(60), Interference: 1, Platform: 1}
	b := sim.Record{Node: 1, Outcome: sim.Done, Ended: at(80), Ideal: at(40), Interference: 1, Platform: 1}
	elsewhere := sim.Record{Node: 2, Outcome: sim.Done, Ended: at(40), Ideal: at(40), Interference: 1, Platform: 1}
	total := func(records ...sim.Record) (report.Figure, bool) {
		l := report.Summarise("p", 0, []*sim.Result{{Records: records, End: at(100)}})
		return l.Figure("life_total")
	}
	if f, ok := total(a, b, elsewhere); !ok || math.Abs(f.Mean-(180+40)) > 1e-6 {
		t.Errorf("%+v", f)
	}
	if f, ok := total(a, b, b); ok {
		t.Errorf("three on a node: %+v", f)
	}
	if f, ok := total(a, sim.Record{Node: 1, Outcome: sim.Unfinished, Ended: sim.Never}); ok {
		t.Errorf("one never ended: %+v", f)
	}
}
