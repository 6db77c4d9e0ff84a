package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// shippedScenarios is where the scenarios of the experiments are.
const shippedScenarios = "../../../examples/sim"

// rowsOf are all rows that the scenarios of an experiment have, with and without
// the name of the first.
func rowsOf(t *testing.T, e *Experiment) map[At]bool {
	t.Helper()
	out := map[At]bool{}
	for i, name := range e.Scenarios {
		s, err := scenario.Load(filepath.Join(shippedScenarios, name+".hcl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range everyRow(s) {
			out[a.in(name)] = true
			if i == 0 {
				out[a] = true
			}
		}
	}
	return out
}

func TestExperimentsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range Experiments() {
		if err := e.check(); err != nil {
			t.Error(err)
		}
		if seen[e.ID] || title(e.Paper) == e.Paper || !strings.HasPrefix(e.ID, e.Paper+"-") {
			t.Errorf("%s: twice, or of no known paper", e.ID)
		}
		seen[e.ID] = true
		if len(e.Scenarios) == 1 && !strings.HasPrefix(e.ID+"-", e.Scenarios[0]+"-") {
			t.Errorf("%s is not called as its scenario %s", e.ID, e.Scenarios[0])
		}
		if e.Missing != "" {
			continue
		}
		if _, ok := e.Quantities[0].Published[e.Headline.String()]; !ok && e.Compute == nil && !slices.Contains(unpublished, e.ID) {
			t.Errorf("%s: nothing was published of %s of its headline %s", e.ID, e.Quantities[0].Name, e.Headline)
		}
		checkMetrics(t, &e)
		if len(e.Scenarios) > 0 {
			checkRows(t, &e, rowsOf(t, &e))
		}
	}
}

// unpublished are experiments of whose first quantity the paper has no number.
var unpublished = []string{"quasar-multiple", "hcloud-limits", "hcloud-pressure", "hcloud-pressure-static", "hcloud-pressure-low", "hcloud-causes", "paragon-causes", "tarcil-causes", "quasar-causes", "lsh-causes", "lotes-causes", "tracon-causes"}

// checkRows looks for every row that an experiment speaks of.
func checkRows(t *testing.T, e *Experiment, known map[At]bool) {
	t.Helper()
	look := func(what string, rows ...At) {
		for _, a := range rows {
			if !known[a] {
				t.Errorf("%s: %s speaks of %s, which no scenario has", e.ID, what, a)
			}
		}
	}
	look("the headline", e.Headline)
	look("the table", e.Rows...)
	rows := map[string]bool{}
	for a := range known {
		if len(e.Rows) == 0 && a.Scenario == "" || slices.Contains(e.Rows, a) {
			rows[a.String()] = true
		}
	}
	for _, q := range e.Quantities {
		for label := range q.Published {
			if !rows[label] {
				t.Errorf("%s: %s was published for %q, which is no row", e.ID, q.Name, label)
			}
		}
	}
	for _, q := range e.Requires {
		for _, u := range q.uses {
			look(q.Text, u.at)
		}
	}
	for _, p := range e.Plots {
		look(p.Title, p.rows...)
	}
	for _, m := range askedFor.FindAllStringSubmatch(e.Why, -1) {
		hasNumber(t, []Experiment{*e}, [3]string(m[1:]))
		if !rows[m[3]] {
			t.Errorf("%s: its text speaks of %q, which is no row", e.ID, m[3])
		}
	}
}

// checkMetrics looks for every metric by name.
func checkMetrics(t *testing.T, e *Experiment) {
	t.Helper()
	known := map[string]bool{}
	for _, m := range append(report.Metrics(), report.Details()...) {
		known[m.Name] = true
	}
	if e.Compute != nil {
		clear(known)
		for _, m := range evaluate.Metrics() {
			known[m.Name] = e.Compute.Metrics == nil
		}
		for _, name := range e.Compute.Metrics {
			known[name] = true
		}
	}
	look := func(q Quantity) {
		if len(q.needs) == 0 || q.Name == "" || q.Unit == "" {
			t.Errorf("%s: quantity %q needs nothing, or has no name or unit", e.ID, q.Name)
		}
		for _, name := range q.needs {
			part, _, by := strings.Cut(name, ":")
			if !known[name] && !(by && slices.Contains([]string{"performance", "qos", "hmean", "in_bound", "late", "estimate_error", "estimate_coverage"}, part)) {
				t.Errorf("%s: %s needs %q, which is not measured", e.ID, q.Name, name)
			}
		}
	}
	for _, q := range e.Quantities {
		look(q)
	}
	for _, r := range e.Requires {
		for _, u := range r.uses {
			look(u.quantity)
		}
		if (r.why == "") == (len(r.uses) == 0) {
			t.Errorf("%s: %q needs numbers, or a reason why it cannot be carried", e.ID, r.Text)
		}
	}
}

// made are made-up results of one scenario: by policy, the values of qos per
// seed.
func made(values map[string][]float64) *results {
	r := &results{first: "s", lines: map[At][]report.Line{}}
	for name, seeds := range values {
		for _, v := range seeds {
			a := At{Scenario: "s", Policy: name}
			r.lines[a] = append(r.lines[a], report.Line{Policy: name, Metrics: []report.Figure{{Name: "qos", Mean: v}, {Name: "used", Mean: 2 * v}}})
		}
	}
	return r
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	a, b, c := of("a"), of("b"), of("c")
	for name, x := range map[string]struct {
		requirement Requirement
		met, missed map[string][]float64
	}{
		"at least":      {atLeast("", qos, 10, a), map[string][]float64{"a": {9, 11}}, map[string][]float64{"a": {9, 10.9}}},
		"at most":       {atMost("", qos, 10, a, b), map[string][]float64{"a": {10}, "b": {3}}, map[string][]float64{"a": {10}, "b": {10.1}}},
		"falling":       {falling("", qos, a, b, c), map[string][]float64{"a": {3}, "b": {2}, "c": {1}}, map[string][]float64{"a": {3}, "b": {1}, "c": {1}}},
		"never falling": {neverFalling("", qos, 1, a, b), map[string][]float64{"a": {3}, "b": {2}}, map[string][]float64{"a": {3}, "b": {1.9}}},
		"ahead":         {ahead("", qos, 5, a, b, c), map[string][]float64{"a": {10}, "b": {5}, "c": {1}}, map[string][]float64{"a": {10}, "b": {1}, "c": {5.1}}},
		"behind":        {behind("", qos, 5, a, b, c), map[string][]float64{"a": {1}, "b": {6}, "c": {9}}, map[string][]float64{"a": {1}, "b": {9}, "c": {5}}},
		"all ahead": {allAhead("", qos, []At{a, b}, []At{c}), map[string][]float64{"a": {3}, "b": {2}, "c": {1}},
			map[string][]float64{"a": {3}, "b": {1}, "c": {2}}},
		"multiple": {multiple("", qos, 3, a, b), map[string][]float64{"a": {9}, "b": {3}}, map[string][]float64{"a": {8}, "b": {3}}},
		"multiple of nothing": {multiple("", qos, 3, a, b), map[string][]float64{"a": {1}, "b": {0}},
			map[string][]float64{"a": {0}, "b": {0}}},
		"alike": {alike("", qos, 1, a, b), map[string][]float64{"a": {1}, "b": {2}}, map[string][]float64{"a": {1}, "b": {2.1}}},
		"compared": {compared("", func(v []float64) bool { return v[0] < v[1]/3 }, uses(qos, a, b)...), map[string][]float64{"a": {1}, "b": {4}},
			map[string][]float64{"a": {1}, "b": {3}}},
		// 12 against 10 is 20 % more, whatever the other seed.
		"against": {atLeast("", against("b", "", "qos"), 19.9, a), map[string][]float64{"a": {12, 24}, "b": {10, 20}}, map[string][]float64{"a": {12, 20}, "b": {10, 20}}},
		"ratio":   {atLeast("", ratio("", "used", "qos"), 100, a), map[string][]float64{"a": {7}}, nil},
		"rest":    {atMost("", rest("", "qos"), 4, a), map[string][]float64{"a": {96}}, map[string][]float64{"a": {95}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := x.requirement.answer(made(x.met)); got.Verdict != Met || got.Found == "" {
				t.Errorf("%v: %+v", x.met, got)
			}
			if x.missed == nil {
				return
			}
			if got := x.requirement.answer(made(x.missed)); got.Verdict != Missed {
				t.Errorf("%v: %+v", x.missed, got)
			}
		})
	}
}

// A requirement is also answered by the rows of the same policies with planned
// knowledge, where there are any.
func TestPlannedAnswers(t *testing.T) {
	t.Parallel()
	q := ahead("", qos, 5, of("a"), of("b"))
	r := made(map[string][]float64{"a": {1}, "b": {2}, "a-planned": {7}})
	got := q.answers(r, nil)
	if got.Verdict != Missed || got.Planned == nil || got.Planned.Verdict != Met {
		t.Errorf("%+v, planned %+v", got, got.Planned)
	}
	always := atLeast("", qos, 1, of("b"))
	if alone := always.answers(r, nil); alone.Planned != nil || plannedVerdict([]Checked{alone}) != "" || plannedVerdict([]Checked{alone, got}) != Met {
		t.Errorf("%+v beside %+v", alone, got)
	}
}

// Unknown is neither met nor missed.
func TestUnknownIsNotMissed(t *testing.T) {
	t.Parallel()
	r := made(map[string][]float64{"a": {1}, "zero": {0}, "negative": {-1}})
	for name, x := range map[string]struct {
		requirement Requirement
		results     *results
		want        Verdict
	}{
		"no row":       {atLeast("", qos, 0, of("b")), r, NotRun},
		"no metric":    {atLeast("", killed, 0, of("a")), r, NotRun},
		"divided by 0": {atLeast("", against("zero", "", "qos"), 0, of("a")), r, NotRun},
		"no data":      {atLeast("", qos, 0, of("a")), &results{absent: "not here"}, NotRun},
		"not carried":  {cannot("", "because"), r, NotCarried},
		"too small":    {atLeast("", qos, 2, of("a")).above(2), r, NotJudged},
		"negative":     {atMost("", qos, 0, of("negative")), r, Met},
		"large enough": {atLeast("", qos, 2, of("a")).above(1), r, Missed},
	} {
		if got := x.requirement.answer(x.results); got.Verdict != x.want || got.Found == "" {
			t.Errorf("%s: %+v, want %s", name, got, x.want)
		}
	}
	for _, c := range []struct {
		in   []Verdict
		want Verdict
	}{
		{[]Verdict{Met, NotCarried}, Met}, {[]Verdict{Met, Missed, NotRun}, Missed}, {[]Verdict{Met, NotRun}, NotRun}, {[]Verdict{NotCarried}, NotCarried}, {[]Verdict{NotJudged, NotCarried}, NotJudged}, {[]Verdict{NotJudged, Missed}, Missed}, {[]Verdict{NotJudged, Met}, Met},
		{[]Verdict{NotRun, Met}, NotRun},
	} {
		var all []Checked
		for _, v := range c.in {
			all = append(all, Checked{Verdict: v})
		}
		if got := verdictOf(all); got != c.want {
			t.Errorf("%v gives %s, want %s", c.in, got, c.want)
		}
	}
}

const tinyScenario = `title = "tiny"
source = "a test"
notes = ["of a test"]
seeds = [1, 2]

cluster {
  shape = "homogeneous-3x4x8GiB"
}

population "batch" {
  classes      = ["ST", "MP"]
  applications = 8
  jobs         = 12

  arrivals "constant" {
    every = "5s"
  }

  duration "fixed" {
    value = "2m"
  }
}

policy "least-loaded" {}
policy "random" {}
`

// tiny is an experiment with a scenario of its own.
func tiny() []Experiment {
	return []Experiment{
		{
			ID: "paragon-tiny", Paper: "paragon", Where: "nowhere", Title: "Tiny & <small>", Scenarios: []string{"tiny"}, Headline: of("random"),
			Quantities: []Quantity{qos.from(published{"random": n(50)}), against("least-loaded", "time", "makespan")},
			Requires:   []Requirement{atLeast("all is kept", qos, -1, of("random")), atLeast("more than all is kept", qos, 101, of("random")), cannot("wonders", "there are none")},
			Why:        "It is tiny.",
			Plots:      append(maps(of("random")), sorted(of("random")), usageOf(of("random")), decisionTimes(of("random")), keptOfCoRunners(of("random"))),
		},
		{ID: "arq-nothing", Paper: "arq", Where: "nowhere", Title: "Nothing", Missing: "there is nothing."},
		{
			ID: "quasar-data", Paper: "quasar", Where: "nowhere", Title: "Data", Compute: heterogeneityOnRealData, Headline: of("x"),
			Quantities: []Quantity{metric("best", "%", "best-found").from(published{thePaper: n(84)})},
			Requires:   []Requirement{atLeast("found", metric("best", "%", "best-found"), 84, of("x"))}, Why: "It is not here.",
		},
	}
}

func options(work string, text string) Options {
	return Options{
		Scenarios: fstest.MapFS{"tiny.hcl": {Data: []byte(text)}}, Data: "no-such-folder", Work: work, Parallel: 2,
		Now: func() time.Time { return time.Unix(0, 0) },
	}
}

func TestTheSamePagesAndNothingTwice(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	var pages []string
	var done []Progress
	run := func(o Options) {
		t.Helper()
		last := Progress{}
		o.Progress = func(p Progress) { last = p }
		r, err := Run(context.Background(), tiny(), o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		pages, done = append(pages, b.String()), append(done, last)
	}
	run(options("", tinyScenario))
	run(options(work, tinyScenario))
	run(options(work, tinyScenario))
	one := options(work, tinyScenario)
	one.Parallel = 1
	run(one)
	for i := range pages {
		if pages[i] != pages[0] {
			t.Errorf("page %d differs:\n%s", i, pages[i])
		}
	}
	for i, kept := range []int{0, 0, 8, 8} { // in two worlds
		if done[i].Done != 8 || done[i].Total != 8 || done[i].Kept != kept {
			t.Errorf("run %d: %+v, want %d kept", i, done[i], kept)
		}
	}
	run(options(work, strings.Replace(tinyScenario, "12", "13", 1)))
	if last := done[len(done)-1]; last.Kept != 0 {
		t.Errorf("another scenario: %+v", last)
	}
	spoil(t, work)
	run(options(work, tinyScenario))
	if last := done[len(done)-1]; last.Kept != 7 || pages[len(pages)-1] != pages[0] {
		t.Errorf("a spoilt result: %+v", last)
	}
}

// Runs that another machine makes are the same, and are kept; one of another run is not believed.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	page := func(o Options) (string, Progress, error) {
		last := Progress{}
		o.Progress = func(p Progress) { last = p }
		r, err := Run(context.Background(), tiny(), o)
		if err != nil {
			return "", last, err
		}
		var b bytes.Buffer
		err = r.Markdown(&b)
		return b.String(), last, err
	}
	based := options(t.TempDir(), "")
	based.Scenarios = fstest.MapFS{"tiny.hcl": {Data: []byte("base = \"big.base.hcl\"\n")}, "big.base.hcl": {Data: []byte(tinyScenario)}}
	here, _, err := page(based)
	if err != nil {
		t.Fatal(err)
	}
	handed, player := 0, NewPlayer(based.Now)
	elsewhere := func(ctx context.Context, units [][]byte, done func(int, []byte) error) error {
		for i := range slices.Backward(units) { // in any order
			handed++
			result, err := player.Play(ctx, units[i])
			if err != nil {
				return err
			}
			if err := done(i, result); err != nil {
				return err
			}
		}
		return nil
	}
	based.Elsewhere, based.Work = elsewhere, t.TempDir()
	there, last, err := page(based)
	if err != nil || there != here || handed != 8 || last.Done != 8 {
		t.Errorf("%d runs elsewhere, %+v, %v; the pages are the same: %t", handed, last, err, there == here)
	}
	if again, last, err := page(based); err != nil || again != here || handed != 8 || last.Kept != 8 {
		t.Errorf("kept: %d runs elsewhere, %+v, %v", handed, last, err)
	}
	based.Work = t.TempDir()
	based.Elsewhere = func(ctx context.Context, units [][]byte, done func(int, []byte) error) error {
		result, err := player.Play(ctx, units[0])
		if err != nil {
			return err
		}
		return done(1, result)
	}
	if _, _, err := page(based); !errors.Is(err, ErrUnit) {
		t.Errorf("the result of another run: %v", err)
	}
	for _, bad := range []string{"", "{}", `{"file":"x.hcl","texts":"-- y.hcl --\n"}`} {
		if _, err := NewPlayer(based.Now).Play(context.Background(), []byte(bad)); !errors.Is(err, ErrUnit) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What the truth does not help to reach counts apart, and the world of measured rows is asked, too.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	of80 := atLeast("80 %", qos, 80, of("paragon"))
	row := func(policy string, mean float64) (At, []report.Line) {
		return At{Scenario: "s", Policy: policy}, []report.Line{{Policy: policy, Metrics: []report.Figure{{Name: "qos", Mean: mean}}}}
	}
	with := func(own, oracle float64) *results {
		r := &results{first: "s", lines: map[At][]report.Line{}}
		for policy, mean := range map[string]float64{"paragon": own, "paragon-oracle": oracle} {
			at, lines := row(policy, mean)
			r.lines[at] = lines
		}
		return r
	}
	for _, c := range []struct {
		own, oracle float64
		want        Verdict
	}{{90, 95, Met}, {70, 95, Missed}, {60, 70, Unreachable}, {90, 70, Met}} {
		got := of80.answers(with(c.own, c.oracle), with(81, 0))
		if got.Verdict != c.want || got.Oracle == nil || got.Measured == nil || got.Measured.Verdict != Met {
			t.Errorf("%v and %v: %+v", c.own, c.oracle, got)
		}
		var tally Tally
		tally.add(got)
		if met := c.want == Met; tally.Met == 1 != met || tally.Beyond == 1 != (c.want == Unreachable) || tally.Reachable+tally.Beyond != 1 || tally.MetThere != 1 {
			t.Errorf("%v and %v: %+v", c.own, c.oracle, tally)
		}
	}
	if got := verdictOf([]Checked{{Verdict: Unreachable}, {Verdict: Met}}); got != Met {
		t.Error(got)
	}
	if got := verdictOf([]Checked{{Verdict: Unreachable}, {Verdict: NotCarried}}); got != Unreachable {
		t.Error(got)
	}
}

// A scenario that is written anew on a base keeps its runs; one whose base has changed
// takes none of them.
func TestKeptRunsOfABase(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	run := func(base string) Progress {
		t.Helper()
		o, last := options(work, "base = \"under.hcl\"\ntitle = \"Tiny\""), Progress{}
		o.Scenarios.(fstest.MapFS)["under.hcl"] = &fstest.MapFile{Data: []byte(base)}
		o.Progress = func(p Progress) { last = p }
		if _, err := Run(context.Background(), tiny(), o); err != nil {
			t.Fatal(err)
		}
		return last
	}
	if _, err := Run(context.Background(), tiny(), options(work, tinyScenario)); err != nil {
		t.Fatal(err)
	}
	if last := run("# the same\n" + tinyScenario); last.Kept != 8 {
		t.Errorf("written on a base: %+v", last)
	}
	if last := run(strings.Replace(tinyScenario, "12", "13", 1)); last.Kept != 0 {
		t.Errorf("another base: %+v", last)
	}
}

// spoil cuts one kept result of the scenario.
func spoil(t *testing.T, work string) {
	t.Helper()
	tiny, err := scenario.Decode([]byte(tinyScenario), "tiny.hcl")
	if err != nil {
		t.Fatal(err)
	}
	mark, err := canary(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s := store{folder: work, canary: mark}
	path := s.path(s.key(tiny, "random", 2))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
}

// What is kept of co-located applications goes by their models, too.
func TestKeysOfColocation(t *testing.T) {
	t.Parallel()
	mark, err := colocatedCanary()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := colocatedCanary(); err != nil || again != mark {
		t.Errorf("%s, then %s, %v", mark, again, err)
	}
	colocated, err := scenario.Load(filepath.Join(shippedScenarios, "tracon-models.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := scenario.Decode([]byte(tinyScenario), "tiny.hcl")
	if err != nil {
		t.Fatal(err)
	}
	before, after := store{colocated: "another", own: "another"}, store{colocated: mark, own: "ours"}
	if before.key(colocated, "fifo", 1) == after.key(colocated, "fifo", 1) || before.key(other, "random", 1) != after.key(other, "random", 1) {
		t.Error("the models make no difference to what is kept, or to what has none")
	}
}

// What our own policy does is part of the keys of its runs alone.
func TestKeysOfOurOwnPolicy(t *testing.T) {
	t.Parallel()
	s, err := scenario.Decode([]byte(tinyScenario+"policy \"mine\" {\n  selector = \"expected\"\n}\n"), "tiny.hcl")
	if err != nil {
		t.Fatal(err)
	}
	before, after := store{own: "before"}, store{own: "after"}
	if before.key(s, "mine", 1) == after.key(s, "mine", 1) || before.key(s, "random", 1) != after.key(s, "random", 1) {
		t.Error("a change of it makes no difference, or one to others")
	}
	if mark, err := ownCanary(context.Background(), 2); err != nil || mark == "" {
		t.Error(mark, err)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	r, err := Run(context.Background(), tiny(), options("", tinyScenario))
	if err != nil {
		t.Fatal(err)
	}
	files := r.Files()
	if len(files) != 5 {
		t.Errorf("%d files", len(files))
	}
	for _, want := range []string{"## Paragon\n", "[Tables](paragon.md)", "- **What reproduces.** ", "](missed.md)"} {
		if !strings.Contains(files["README.md"], want) {
			t.Errorf("the index lacks %q:\n%s", want, files["README.md"])
		}
	}
	for _, want := range []string{
		"| [Paragon](paragon.md) | 1 | 0 | 0 | 1 | 0 | 0 |", "| [Quasar](quasar.md) | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |", "| [ARQ](arq.md) | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |",
		"(paragon.md#paragon-tiny-tiny--small)\n  - more than all is kept. Ours: random ",
	} {
		if !strings.Contains(files[missedFile], want) {
			t.Errorf("the list lacks %q:\n%s", want, files[missedFile])
		}
	}
	for _, want := range []string{
		"# Paragon", "| QoS kept, % | 50 | ", "## paragon-tiny Tiny & <small>", "nowhere. **Missed**. `tiny.hcl`; 2 seeds.", "- met: all is kept. Ours: random ", "- not carried: wonders. There are none.",
		"Why we differ: It is tiny.", "- of a test", "| least-loaded | – | ",
	} {
		if !strings.Contains(files["paragon.md"], want) {
			t.Errorf("the page lacks %q:\n%s", want, files["paragon.md"])
		}
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"http", "<script", "<link", "@import", "<small>\"", "Tiny & <small>", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if strings.Count(page, "<svg") != 5 || !strings.Contains(page, `id="machine"`) {
		t.Errorf("%d pictures", strings.Count(page, "<svg"))
	}
}

func TestSeedsAndErrors(t *testing.T) {
	t.Parallel()
	o := options("", tinyScenario)
	o.Seeds = []uint64{7, 8, 9}
	r, err := Run(context.Background(), tiny()[:1], o)
	if err != nil || r.Outcomes[0].Seeds != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Run(context.Background(), tiny(), options("", "title =")); !errors.Is(err, scenario.ErrScenario) {
		t.Errorf("a bad scenario: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, tiny()[:1], options("", tinyScenario)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Choose([]string{"paragon", "nonsense"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown experiment: %v", err)
	}
	some, err := Choose([]string{"tarcil-lengths", "ibench"})
	if err != nil || len(some) != 4 {
		t.Errorf("%d chosen: %v", len(some), err)
	}
}

// Two experiments read the same rows of another scenario by its name.
func TestRowsAcrossScenarios(t *testing.T) {
	t.Parallel()
	e := tiny()[0]
	e.Scenarios = []string{"tiny", "other"}
	e.Rows = append(all("random"), across([]string{"other"}, "random")...)
	o := options("", tinyScenario)
	o.Scenarios.(fstest.MapFS)["other.hcl"] = &fstest.MapFile{Data: []byte(strings.Replace(tinyScenario, "2m", "4m", 1))}
	r, err := Run(context.Background(), []Experiment{e}, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Outcomes[0].Rows
	if len(rows) != 2 || rows[1].Name != "random, other" || rows[1].Cells[0].Ours == nil {
		t.Errorf("%+v", rows)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]Number{"78": n(78), "0.09": n(0.09), "< 3.5": below(3.5), "> 90": above(90), "about 65": about(65), "30 to 50": between(30, 50), "figure only": pictured} {
		if got := v.String(); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	for _, c := range []struct {
		at   At
		want string
	}{{of("a"), "a"}, {of("a").load(0.35), "a at 0.35"}, {of("a").load(0.8).in("s"), "a at 0.8, s"}} {
		if got := fmt.Sprint(c.at); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
