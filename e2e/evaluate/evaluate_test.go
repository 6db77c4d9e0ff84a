package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// known is what an application may have done alone.
func known(a app) alone {
	k := alone{RatePerSec: 100, TailMillis: 2, ClockMHz: 2000, Tasks: map[string]rig.TaskUse{}, Reserved: map[string]resource{}}
	for _, task := range a.allTasks() {
		k.Tasks[task] = rig.TaskUse{CPUMHz: 1000, MemoryMB: 50}
		k.Reserved[task] = k.reserved(a, task)
	}
	return k
}

func specOf(t *testing.T, a app, v variant) (plain string, spec performance.Spec) {
	t.Helper()
	p := fullPlan()
	j := jobText{Bin: "/bin", Inputs: "/inputs", Spike: "/spike", Count: 1, Rate: known(a).rate(a), Work: known(a).work(a, p), app: a, alone: known(a), v: v, plan: p}
	text, err := j.spec()
	if err != nil {
		t.Fatal(err)
	}
	stripped, blocks, problems := hcl.Extract(text, a.name)
	if problems.HasErrors() || len(blocks) != 1 {
		t.Fatalf("%d blocks, %v\n%s", len(blocks), problems, text)
	}
	spec, warnings, err := (hcl.Options{Policies: policy.Names()}).DecodeBlock(blocks[groupName], a.name)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v\n%s", err, warnings, text)
	}
	return string(stripped), spec
}

func TestJobsSayWhatTheListSays(t *testing.T) {
	t.Parallel()
	for _, a := range apps {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			plain, spec := specOf(t, a, variant{where: sweepClass, memoryMB: 77, version: "v1"})
			if spec.Target.Kind != a.kind {
				t.Errorf("target %s", spec.Target)
			}
			if a.kind == performance.Rate && spec.Target.Rate != a.share*100 {
				t.Errorf("rate %g of 100 alone, want the share %g", spec.Target.Rate, a.share)
			}
			if a.kind == performance.QPS && spec.Target.QPS != 25 {
				t.Errorf("%g queries/s of 20 MHz each, want what takes a quarter of 2000 MHz", spec.Target.QPS)
			}
			if len(spec.Scale.Count) != len(a.counts) || len(spec.Scale.MemoryMB) != len(a.memory) {
				t.Errorf("scale %+v", spec.Scale)
			}
			for _, want := range []string{`job "` + a.name + `"`, "memory = 77", `EVALUATION = "v1"`, sweepClass} {
				if !strings.Contains(plain, want) {
					t.Errorf("the jobspec lacks %s:\n%s", want, plain)
				}
			}
			if strings.Contains(plain, "[[") {
				t.Errorf("left over:\n%s", plain)
			}
		})
	}
}

func TestABatchJobTakesItsShareOfTheTimeAlone(t *testing.T) {
	t.Parallel()
	a, p := appNamed("compress"), fullPlan()
	if got, want := known(a).work(a, p), int(100*a.share*p.BatchWithin.Seconds()); got != want {
		t.Errorf("%d units at 100/s in %s, want %d", got, p.BatchWithin, want)
	}
}

func TestALatencyIsBoundByTheTailAlone(t *testing.T) {
	t.Parallel()
	a := appNamed("cache")
	for tail, want := range map[float64]time.Duration{0: 5 * time.Millisecond, 2: 5 * time.Millisecond, 5.6: 11 * time.Millisecond} {
		if got := a.bound(alone{TailMillis: tail}); got != want {
			t.Errorf("%g ms alone: %s, want %s", tail, got, want)
		}
	}
	if got := appNamed("encode").bound(alone{TailMillis: 9}); got != 0 {
		t.Errorf("a rate has no latency, got %s", got)
	}
}

func TestReservations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]resource{
		"cache":    {300, 64},  // at a quarter of the rate, and a fifth, in steps
		"encode":   {250, 64},  // 20 % of it and a fifth, in steps
		"pages":    {1200, 64}, // one of several at its full speed
		"fill-cpu": {bestEffortMHz, 64},
	} {
		a := appNamed(name)
		if got := known(a).reserved(a, a.mainTask()); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := (alone{}).reserved(appNamed("cache"), "redis"); got.CPUMHz != unknownCPUMHz {
		t.Errorf("not measured yet: %+v", got)
	}
	small := alone{Tasks: map[string]rig.TaskUse{"redis": {CPUMHz: 1, MemoryMB: 7}}}
	if got := small.reserved(appNamed("cache"), "redis"); got != (resource{cpuStepMHz, leastMemoryMB}) {
		t.Errorf("little: %+v", got)
	}
	if n := appNamed("pages").stockCount(); n != 2 {
		t.Errorf("1.3 allocations and a fifth are %d", n)
	}
}

func TestMet(t *testing.T) {
	t.Parallel()
	service := performance.Target{Kind: performance.QPS, QPS: 100, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}
	batch := performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Second}
	cases := map[string]struct {
		target performance.Target
		o      outcome
		want   bool
	}{
		"a little under":       {service, outcome{RatePerSec: 98, TailMillis: 5}, true},
		"too slow":             {service, outcome{RatePerSec: 97.9, TailMillis: 1}, false},
		"too late":             {service, outcome{RatePerSec: 100, TailMillis: 5.1}, false},
		"no latency":           {service, outcome{RatePerSec: 100}, false},
		"no number":            {service, outcome{RatePerSec: 100, TailMillis: 1, Missing: "gone"}, false},
		"done in time":         {batch, outcome{TookSeconds: 10}, true},
		"done late":            {batch, outcome{TookSeconds: 10.1}, false},
		"not done":             {batch, outcome{}, false},
		"best effort has none": {performance.Target{Kind: performance.BestEffort}, outcome{RatePerSec: 1}, false},
	}
	for name, c := range cases {
		if got := met(c.target, c.o); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A service has one verdict: in the evaluation, on the pages, in what the browser is sent,
// where nodes are chosen, and where it is decided that something has to be done.
func TestOneVerdict(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.QPS, QPS: 100, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}
	for rate, want := range map[float64]bool{94: false, 96: false, 97.9: false, 98: true, 100: true} {
		measure := performance.Measure{RatePerSec: rate, Goodput: rate, LatencyTail: time.Millisecond}
		page := wording.Measure(target, []cluster.Observation{{Allocation: "a", Measure: measure}})
		data, err := json.Marshal(page)
		if err != nil {
			t.Fatal(err)
		}
		for where, got := range map[string]bool{
			"evaluation": met(target, outcome{RatePerSec: rate, TailMillis: 1}),
			"page":       page.Verdict == wording.Met,
			"browser":    strings.Contains(string(data), `"verdict":"met"`),
			"placement":  reachedByPolicy(t, target, rate),
			"adapter":    rate >= adapt.Defaults().Below*target.QPS,
		} {
			if got != want {
				t.Errorf("%g of 100 requests/s, %s: met %v, want %v", rate, where, got, want)
			}
		}
	}
}

// reachedByPolicy reports whether a policy expects the target to be met on a node where a
// workload is predicted to serve a rate.
func reachedByPolicy(t *testing.T, target performance.Target, rate float64) bool {
	t.Helper()
	d, err := policy.Lookup("paragon")
	if err != nil {
		t.Fatal(err)
	}
	w := &cluster.Workload{
		ID: cluster.WorkloadID{Namespace: "default", Job: "service", Group: "g"}, Count: 1,
		Ask: cluster.Resources{CPUMHz: 100, MemoryMB: 10}, Spec: performance.Spec{Target: target, SlowdownMaxPercent: 5},
	}
	node := &cluster.Node{ID: "n", Name: "n", Pool: "default", Configuration: "one", Ready: true, Total: cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}}
	decision, err := d.New().Place(policy.Request{
		Workload: w, JobType: "service", RunPool: "default", Snapshot: &cluster.Snapshot{Nodes: []*cluster.Node{node}},
		Knowledge: &cluster.Knowledge{Speed: map[string]profile.Measurement{"one": {Value: rate, Low: rate, High: rate, Unit: target.RateUnit()}}},
	})
	if err != nil || decision.Outcome != cluster.Placed {
		t.Fatalf("%s, %v", decision.Reason, err)
	}
	return !strings.Contains(strings.Join(decision.Warnings, " "), "not reached")
}

func TestStepsOfSizes(t *testing.T) {
	t.Parallel()
	s := sweep{Sizes: []swept{
		{Size: size{Count: 1}}, {Size: size{Count: 2}, Outcome: outcome{Met: true}}, {Size: size{Count: 3}, Outcome: outcome{Met: true}},
	}}
	for count, want := range map[int]int{1: -1, 2: 0, 3: 1} {
		if got, ok := s.steps(size{Count: count, MemoryMB: 48}); !ok || got != want {
			t.Errorf("count %d is %d steps off (%t), want %d", count, got, ok, want)
		}
	}
	if _, ok := s.steps(size{Count: 7}); ok {
		t.Error("a size that was not swept has steps")
	}
	if _, ok := (sweep{Sizes: s.Sizes[:1]}).steps(size{Count: 1}); ok {
		t.Error("no size met the target, and yet there is a best")
	}
	memory := sweep{Sizes: []swept{{Size: size{1, 64}}, {Size: size{1, 128}, Outcome: outcome{Met: true}}}}
	if got, ok := memory.steps(size{1, 128}); !ok || got != 0 {
		t.Errorf("%d %t", got, ok)
	}
}

func TestMissingProgramsAreNamedByTheirPackage(t *testing.T) {
	t.Parallel()
	err := checkPrograms(func(name string) (string, error) {
		if name == "nginx" || name == "jq" {
			return "", os.ErrNotExist
		}
		return name, nil
	})
	if err == nil || !strings.HasSuffix(err.Error(), "jq nginx-light") {
		t.Error(err)
	}
}

func TestEveryArmBeginsOnce(t *testing.T) {
	t.Parallel()
	began := map[string]bool{}
	for n := range len(arms) {
		list := order(n + 1)
		began[list[0]] = true
		if got := slices.Compact(slices.Sorted(slices.Values(list))); len(got) != len(arms) {
			t.Errorf("repetition %d: %q", n+1, list)
		}
	}
	if len(began) != len(arms) {
		t.Errorf("only %v began", began)
	}
	if order(2)[1] != stock || order(1)[0] != stock {
		t.Errorf("%q, %q: the direction does not change", order(1), order(2))
	}
}

func TestArmsDifferInTheirJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arm, app, policy string
		skip             bool
	}{
		{placed, "pages", "", false}, {"published", "cache", "paragon", false}, {"published", "pages", "quasar", false},
		{"adapter", "pages", "nomad", false}, {"averages", "pages", "", true},
	} {
		_, spec := specOf(t, appNamed(c.app), armNamed(c.arm).variant(appNamed(c.app), "v"))
		if spec.Policy != c.policy || spec.Profile.Skip != c.skip {
			t.Errorf("%s, %s: policy %q, skip %v", c.arm, c.app, spec.Policy, spec.Profile.Skip)
		}
	}
	for name, want := range map[string]int{stock: 2, placed: 0, "adapter": 2} {
		if got := armNamed(name).variant(appNamed("pages"), "v").count; got != want {
			t.Errorf("%s: count %d, want %d", name, got, want)
		}
	}
}

func TestWithoutScoresNothingIsHarmed(t *testing.T) {
	t.Parallel()
	p := withoutScores(profile.Profile{CPUsIsolated: 1, Ramp: []profile.RampPoint{{}}})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, s := range interference.Sources() {
		tolerated, _ := p.Sensitivity.Tolerated[s.Source].Score.Percent()
		caused, known := p.Sensitivity.Caused[s.Source].Score.Percent()
		if tolerated != 100 || caused != 0 || !known {
			t.Errorf("%s: tolerated %g, caused %g", s.Source, tolerated, caused)
		}
	}
	if p.CPUsIsolated != 1 || len(p.Ramp) > 0 {
		t.Errorf("%+v", p)
	}
}

func TestMeansHaveStudentsInterval(t *testing.T) {
	t.Parallel()
	e := meanOf([]float64{1, 2, 3, 4, 5})
	// t(0.975; 4) = 2.776, s = 1.5811: 3 ± 1.963.
	if e.Mean != 3 || math.Abs(e.Low-1.037) > 0.001 || math.Abs(e.High-4.963) > 0.001 {
		t.Errorf("%+v", e)
	}
	if one := meanOf([]float64{1}); one.Mean != 1 || !math.IsNaN(one.Low) {
		t.Errorf("one value has an interval: %+v", one)
	}
	if none := meanOf(nil); !math.IsNaN(none.Mean) {
		t.Errorf("%+v", none)
	}
}

func TestTheRemainingTimeFollowsWhatStepsTake(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var out bytes.Buffer
	p := newProgress(&out, func() time.Time { return now }, map[string]float64{"a": 10, "b": 5}, map[string]int{"a": 3, "b": 1})
	p.begin("a", "first")
	now = now.Add(20 * time.Second)
	p.begin("a", "second")
	if got := p.remaining(); got != 25*time.Second { // one more a of 20 s, one b of 5 s
		t.Errorf("remaining %s", got)
	}
	if !strings.Contains(out.String(), "about 35s to go] first") || !strings.Contains(out.String(), "about 45s to go] second") {
		t.Errorf("%s", out.String())
	}
}

func TestAFolderGoesOnOnlyWithItsOwnPlan(t *testing.T) {
	t.Parallel()
	r := results(t.TempDir())
	now := begun{Run: "one", Plan: fullPlan(), Jobs: "x"}
	if _, err := r.open(now, false); err != nil {
		t.Fatal(err)
	}
	more := now
	more.Run, more.Plan.Repetitions = "two", 9
	if was, err := r.open(more, false); err != nil || was.Run != "one" {
		t.Errorf("more repetitions: %+v, %v", was, err)
	}
	other := now
	other.Jobs = "y"
	if _, err := r.open(other, false); !errors.Is(err, errOther) {
		t.Errorf("other jobs: %v", err)
	}
	if was, err := r.open(other, true); err != nil || was.Jobs != "y" {
		t.Errorf("afresh: %+v, %v", was, err)
	}
}

func TestFreshRemovesOnlyResults(t *testing.T) {
	t.Parallel()
	r := results(t.TempDir())
	other := filepath.Join(string(r), "notes.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.write(fileRepetition(1), repetition{Number: 1}); err != nil {
		t.Fatal(err)
	}
	if err := r.clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if found, _ := r.read(fileRepetition(1), &repetition{}); found {
		t.Error("the repetition is still there")
	}
}

// A page of parts that several programs measured says so.
func TestWhatMeasuredIsNoted(t *testing.T) {
	t.Parallel()
	r := results(t.TempDir())
	if err := r.measured(fileRepetition(1), repetition{Number: 1}); err != nil {
		t.Fatal(err)
	}
	e, err := r.load()
	if err != nil || e.Programs[fileRepetition(1)] != thisProgram() {
		t.Fatalf("%v, %v", e.Programs, err)
	}
	if said := e.programs(); said != " The program is of commit "+thisProgram()+"." {
		t.Errorf("of one program: %q", said)
	}
	e.Programs[fileAlone] = "0123abcd"
	if said := e.programs(); !strings.Contains(said, "several commits") || !strings.Contains(said, "0123abcd (alone)") {
		t.Errorf("of two programs: %q", said)
	}
	if said := (everything{}).programs(); said != "" {
		t.Errorf("where nothing was noted: %q", said)
	}
}

// measured is a run of two repetitions: stock met half of its targets, the placer all.
func measured() everything {
	e := everything{Begun: &begun{At: time.Unix(0, 0).UTC(), Machine: "a machine", Plan: fullPlan()}, Alone: map[string]alone{}}
	for n := 1; n <= 2; n++ {
		r := repetition{Number: n, Order: order(n), Load: "0 0 0", Profiles: 1, Sides: map[string]sideResult{}}
		for _, side := range r.Order {
			jobs := map[string]outcome{}
			for i, a := range withTarget() {
				jobs[a.name] = outcome{RatePerSec: 10, Target: "a target", Met: side == placed || i%2 == 0}
			}
			jobs["fill-cpu"] = outcome{RatePerSec: map[string]float64{stock: 8, placed: 6}[side]}
			r.Sides[side] = sideResult{Jobs: jobs}
		}
		e.Repetitions = append(e.Repetitions, r)
	}
	e.Profiles = []profiles{{Number: 1, Jobs: map[string]decided{"pages": {Size: size{Count: 2}, Sized: true}}}}
	for _, a := range apps {
		e.Alone[a.name] = known(a)
	}
	e.Sweeps = []sweep{{Job: "pages", Sizes: []swept{{Size: size{Count: 1}}, {Size: size{Count: 2}, Outcome: outcome{RatePerSec: 9, Target: "9/s", Met: true}}}}}
	e.Adaptation = &adaptation{
		Neighbour: cure{Detected: 8, Cured: 31}, Spike: cure{Detected: 14.9, Cured: 40},
		Calm: calm{Seconds: 600, Actions: map[string][]action{"encode": {{Kind: "grow", Result: actionDone}, {Kind: "move", Result: "not done: because"}}}},
	}
	return e
}

func TestTheReportSaysWhatWasMetAndWhatWasNot(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	measured().markdown(&b)
	for _, want := range []string{
		"| jobs that meet their target, placer | 100 % (100 to 100) | ≥ 95 % or ≥ 2 × stock | yes |",
		"| … stock Nomad | 50 % (50 to 50) |",
		"| sizes within one step of the best | 100 % of 1 job | ≥ 80 % | yes |",
		"| … exactly the best | 100 % |",
		"| noisy neighbour detected, cured | 8.0 s, 31.0 s | ≤ 30 s | **no** |",
		"| load spike answered (target reached again) | 14.9 s (40.0 s) | ≤ 15 s | yes |",
		"| actions in 600.0 s of calm afterwards | 1, 0 writes | 0 | **no** |",
		"| 2 | placer, stock, amounts, averages, adapter, placement, published | 3 of 6 | 6 of 6 | 3 of 6 |",
		"| 100 % (100 to 100) | 50 % (50 to 50) | 75 % (75 to 75) |",
		"| pages | 9/s | 1: unknown (missed); 2: 9.00/s | 2 | 2 (+0) |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

func TestWhatOthersSayStaysInItsCell(t *testing.T) {
	t.Parallel()
	e := measured()
	e.Sweeps[0].Sizes[0].Outcome.Missing = "refused: a|b\nGet something"
	var b strings.Builder
	e.markdown(&b)
	if !strings.Contains(b.String(), "| 1: refused: a/b (missed); 2: 9.00/s |") {
		t.Errorf("%s", b.String())
	}
}

func TestWhatWasNotMeasuredIsUnknown(t *testing.T) {
	t.Parallel()
	var nothing strings.Builder
	everything{}.markdown(&nothing)
	if !strings.Contains(nothing.String(), "Nothing was measured yet") {
		t.Errorf("%s", nothing.String())
	}
	var begunOnly strings.Builder
	everything{Begun: &begun{Plan: fullPlan()}}.markdown(&begunOnly)
	if n := strings.Count(begunOnly.String(), "| unknown |\n"); n != 5 {
		t.Errorf("%d of 5 verdicts are unknown:\n%s", n, begunOnly.String())
	}
	problem := measured()
	problem.Adaptation.Spike.Problem = "it missed its target before"
	var b strings.Builder
	problem.markdown(&b)
	if !strings.Contains(b.String(), "| ≤ 15 s | unknown |") {
		t.Errorf("%s", b.String())
	}
}

func TestASizeThatWasNotChosenIsNotWithinAStep(t *testing.T) {
	t.Parallel()
	e := measured()
	e.Profiles[0].Jobs["pages"] = decided{Size: size{Count: 2}}
	if share, of := e.within(1); share != 0 || of != 1 {
		t.Errorf("%g of %d", share, of)
	}
}

func TestOneStepOffIsWithinOneAndNotExact(t *testing.T) {
	t.Parallel()
	e := measured()
	e.Profiles[0].Jobs["pages"] = decided{Size: size{Count: 1}, Sized: true}
	one, _ := e.within(1)
	if exact, of := e.within(0); one != 1 || exact != 0 || of != 1 {
		t.Errorf("within one %g, exact %g of %d", one, exact, of)
	}
}

// TestThePageIsOfTheResults: placer/docs/evaluate.md is what the stored results say.
func TestThePageIsOfTheResults(t *testing.T) {
	t.Parallel()
	e, err := results("results").load()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	e.markdown(&want)
	got, err := os.ReadFile("../../placer/docs/evaluate.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("placer/docs/evaluate.md is not what e2e/evaluate/results say; write it anew: make evaluate EVALUATE=-report")
	}
}

func TestTheCheapestMeasurementCounts(t *testing.T) {
	t.Parallel()
	of := func(rate, mhz float64) alone {
		return alone{RatePerSec: rate, Tasks: map[string]rig.TaskUse{"a": {CPUMHz: mhz / 2}, "b": {CPUMHz: mhz / 2}}, Times: 1}
	}
	quiet, slow := of(100, 800), of(100, 900)
	for name, got := range map[string]alone{"first": quiet.better(slow), "last": slow.better(quiet)} {
		if got.perUnit() != 8 || got.Times != 2 {
			t.Errorf("%s: %g MHz per unit of %d measurements, want 8 of 2", name, got.perUnit(), got.Times)
		}
	}
	if got := quiet.better(alone{}); got.perUnit() != 8 || got.Times != 1 {
		t.Errorf("the first measurement counts as %+v", got)
	}
}

// At a lower priority than the jobs nothing is measured; a kernel without groups of sessions is fine.
func TestNothingIsMeasuredAtALowPriority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{"/autogroup-7 nice 0\n": "", "/autogroup-7 nice -5\n": "", "/autogroup-7 nice 15\n": "nice 15", "what": "no nice value"} {
		file := filepath.Join(dir, "autogroup")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkNiceness(file); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := checkNiceness(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
}
