package scenario_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	files "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// lines runs some policies of a shipped scenario under one seed.
func lines(t *testing.T, name string, change *strings.Replacer, policies ...string) map[string]report.Line {
	t.Helper()
	s, err := scenario.Open(changed(t, change), name+".hcl", ".")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), scenario.Options{Policies: policies, Seeds: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]report.Line{}
	for _, l := range r.Lines {
		out[l.Policy] = l
	}
	return out
}

// changed are the shipped scenarios of deadlines with a change made in all of them.
func changed(t *testing.T, change *strings.Replacer) fs.FS {
	t.Helper()
	if change == nil {
		return files.Files
	}
	names, err := fs.Glob(files.Files, "pprtte*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	out, same := fstest.MapFS{}, true
	for _, name := range names {
		text, err := files.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		next := change.Replace(string(text))
		same = same && next == string(text)
		out[name] = &fstest.MapFile{Data: []byte(next)}
	}
	if same {
		t.Fatal("the change is of nothing that is in the files")
	}
	return out
}

func figure(t *testing.T, l report.Line, name string) float64 {
	t.Helper()
	f, ok := l.Figure(name)
	if !ok {
		t.Fatalf("%s has no %s", l.Policy, name)
	}
	return f.Mean
}

// §VI, table II: the interference generator gives the two baselines that do not react
// what was published of them. It was fitted to these two numbers, and to nothing else.
func TestGeneratorIsCalibrated(t *testing.T) {
	t.Parallel()
	got := lines(t, "pprtte-interference", nil, "rtte", "obfit")
	for policy, published := range map[string]float64{"rtte": 12.25, "obfit": 37.43} {
		// Three points are what seeds of 3,614 jobs of very unequal sizes differ by.
		if v := figure(t, got[policy], "on_time"); math.Abs(v-published) > 3 {
			t.Errorf("%s: %.2f %% on time, published %.2f", policy, v, published)
		}
	}
}

// §VI, table I: without slowdown RTTE and PP-RTTE are one: every event, every sample and
// every job of a run.
func TestIdentityWithoutSlowdown(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]*strings.Replacer{
		"as published":  nil,
		"short and low": strings.NewReplacer("median = 180", "median = 40", "jobs      = 3614", "jobs      = 800"),
		"scarce":        strings.NewReplacer("50x80", "6x80", "jobs      = 3614", "jobs      = 800"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lines(t, "pprtte-quiet", change, "rtte", "pp-rtte")
			rtte, pp := got["rtte"], got["pp-rtte"]
			if rtte.Counters.Events == 0 || rtte.Counters.Migrations == 0 && name == "as published" {
				t.Fatalf("nothing happened: %+v", rtte.Counters)
			}
			rtte.Policy = pp.Policy
			a, b := encoded(t, without(rtte)), encoded(t, without(pp))
			if !bytes.Equal(a, b) {
				t.Errorf("the runs differ:\n%s\n%s", a, b)
			}
		})
	}
}

// without what one of them has and the other has not: estimates.
func without(l report.Line) report.Line {
	var kept []report.Figure
	for _, f := range l.Details {
		if !strings.Contains(f.Name, "slowdown") {
			kept = append(kept, f)
		}
	}
	l.Details = kept
	return l
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// §VI, table II: what reacts is far ahead of what does not, and the filter's estimate
// is better than the samples.
func TestReactingPays(t *testing.T) {
	t.Parallel()
	got := lines(t, "pprtte-interference", nil, "pp-rtte", "pp-rtte-lr", "obfit")
	pp, lr, obfit := got["pp-rtte"], got["pp-rtte-lr"], got["obfit"]
	if a, b := figure(t, pp, "on_time"), figure(t, obfit, "on_time"); a < 2*b {
		t.Errorf("on time: %.1f %% of PP-RTTE, %.1f %% of OBFIT", a, b)
	}
	if a, b := figure(t, pp, "slowdown_error"), figure(t, lr, "slowdown_error"); a > 0.75*b {
		t.Errorf("error of the estimate: %.1f filtered, %.1f raw; want a quarter less", a, b)
	}
}

// A meter that says nothing is counted, and nothing is acted on.
func TestSilentMeter(t *testing.T) {
	t.Parallel()
	silent := strings.NewReplacer("deviation = 0.20", "deviation = 0.20\n    silent    = 1", "jobs      = 3614", "jobs      = 300")
	got := lines(t, "pprtte-interference", silent, "pp-rtte", "rtte")
	pp := got["pp-rtte"]
	if pp.Counters.Unheard == 0 || pp.Counters.Resizes != 0 {
		t.Errorf("%d samples unheard, %d caps changed", pp.Counters.Unheard, pp.Counters.Resizes)
	}
	if a, b := figure(t, pp, "on_time"), figure(t, got["rtte"], "on_time"); a != b {
		t.Errorf("on time: %v, of RTTE %v", a, b)
	}
}

// What is wrong in a block is said with its place.
func TestBadDeadlines(t *testing.T) {
	t.Parallel()
	for old, next := range map[string]string{
		"slack     = 0.10":        "slack     = -1",
		"[256, 512, 1024]":        "[]",
		"deviation = 0.20":        "deviation = -0.20",
		"median = 180":            "median = -180",
		"interference {}":         "interference {\n neighbours = 0\n }",
		`detector  = "lr"`:        `detector  = "none"`,
		"jobs      = 3614":        "jobs      = 0",
		`policy "least-loaded" {`: "policy \"least-loaded\" {\n  knowledge = \"oracle\"",
	} {
		bad := changed(t, strings.NewReplacer(old, next))
		if _, err := scenario.Open(bad, "pprtte-interference.hcl", "."); err == nil || !strings.Contains(err.Error(), ".hcl:") {
			t.Errorf("%q: %v", next, err)
		}
	}
}
