package scenario_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	files "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// examples is where the shipped scenarios are.
const examples = "../../../examples/sim"

func TestShippedScenariosAreUsable(t *testing.T) {
	t.Parallel()
	names, err := scenario.Files(os.DirFS(examples))
	if err != nil || len(names) < 14 {
		t.Fatalf("%d scenarios: %v", len(names), err)
	}
	titles := map[string]string{}
	for _, name := range names {
		s, err := scenario.Load(filepath.Join(examples, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(s.Seeds) == 0 || len(s.Policies()) < 1 || s.Source == "" {
			t.Errorf("%s: %d seeds, %d policies, source %q", s.Name, len(s.Seeds), len(s.Policies()), s.Source)
		}
		if other, ok := titles[s.Title]; ok {
			t.Errorf("%s has the title of %s: what is based on another file says what it is for", s.Name, other)
		}
		titles[s.Title] = s.Name
		shipped, err := scenario.Open(files.Files, s.Name+".hcl", ".")
		if err != nil || shipped.Identity() != s.Identity() {
			t.Errorf("%s in the program is not the file: %v", s.Name, err)
		}
	}
}

func TestEveryShippedBaseIsUsed(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(examples, "*.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range names {
		if base := filepath.Base(name); strings.HasSuffix(base, ".base.hcl") && !strings.Contains(all.String(), "\""+base+"\"") {
			t.Errorf("nothing is based on %s", base)
		}
	}
}

// small is a scenario with everything a file can have.
const small = `title  = "small"
source = "a test"
seeds  = [1, 2]
limit  = "4h"

cluster {
  shape = "homogeneous-6x4x8GiB"

  lose {
    nodes = 1
    at    = "5m"
    for   = "5m"
  }
}

population "batch" {
  classes      = ["ST", "MP"]
  weights      = [1, 3]
  applications = 20
  jobs         = 40
  phases       = 2
  platforms    = "published"

  arrivals "poisson" {
    every = "20s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
  }
}

population "services" {
  classes     = ["memcached"]
  jobs        = 3
  targets     = true
  load_swing  = 0.3
  load_period = "10m"

  arrivals "constant" {
    every = "30s"
  }

  duration "fixed" {
    value = "20m"
  }
}

profiling {
  training   = 12
  classifier = "mean"
}

policy "paragon" {
  sizing  = "reservation"
  adapter = "quasar"
}
policy "least-loaded" {}
policy "oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
`

func decode(t *testing.T, text string) (*scenario.Scenario, error) {
	t.Helper()
	return scenario.Decode([]byte(text), "test.hcl")
}

func TestTheSameBytesHoweverManyRunAtOnce(t *testing.T) {
	t.Parallel()
	s, err := decode(t, small)
	if err != nil {
		t.Fatal(err)
	}
	var outputs [][]byte
	for _, parallel := range []int{1, 4, 4} {
		r, err := s.Run(context.Background(), scenario.Options{Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := r.HTML(&page); err != nil {
			t.Fatal(err)
		}
		if text := page.String(); strings.Contains(text, "http") || strings.Contains(text, "<script") || !strings.Contains(text, "<svg") {
			t.Error("the page loads something, or draws nothing")
		}
		outputs = append(outputs, data)
	}
	for i := range outputs {
		if !bytes.Equal(outputs[0], outputs[i]) {
			t.Errorf("run %d differs from run 0", i)
		}
	}
}

func TestOnlySomePolicies(t *testing.T) {
	t.Parallel()
	s, err := decode(t, small)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{Policies: []string{"least-loaded"}, Seeds: []uint64{7}})
	if err != nil || len(r.Lines) != 1 || r.Lines[0].Counters.Jobs != 43 || r.Lines[0].Counters.NodesLost != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Run(context.Background(), scenario.Options{Policies: []string{"quux"}}); !errors.Is(err, scenario.ErrPolicy) {
		t.Errorf("an unknown policy: %v", err)
	}
}

// What policies share changes no run, and what one cannot be told of jobs is not the others' trouble.
func TestSharedRuns(t *testing.T) {
	t.Parallel()
	s, err := decode(t, strings.Replace(small, "training   = 12", "training   = 1", 1)+"policy \"useless\" {\n selector = \"paragon\"\n knowledge = \"useless\"\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := s.Share(scenario.Options{Seeds: []uint64{7}})
	if err != nil {
		t.Fatal(err)
	}
	var played sync.WaitGroup
	for _, name := range s.Policies() {
		played.Go(func() {
			lines, err := shared.Play(context.Background(), name)
			alone, failed := s.Run(context.Background(), scenario.Options{Policies: []string{name}, Seeds: []uint64{7}})
			switch {
			case name == "useless":
				if !errors.Is(err, estimator.ErrTraining) || !errors.Is(failed, estimator.ErrTraining) {
					t.Errorf("one application is no other one: %v, %v", err, failed)
				}
			case err != nil || failed != nil:
				t.Errorf("%s: %v, %v", name, err, failed)
			case !reflect.DeepEqual(lines, alone.Lines):
				t.Errorf("%s runs otherwise with others:\n%+v\n%+v", name, lines, alone.Lines)
			}
		})
	}
	played.Wait()
	if _, err := shared.Play(context.Background(), "quux"); !errors.Is(err, scenario.ErrPolicy) {
		t.Errorf("an unknown policy: %v", err)
	}
}

// Whatever a policy's own model says, its decisions take what is measured of the live engine.
func TestEntrantsAreChargedAlike(t *testing.T) {
	t.Parallel()
	s, err := decode(t, small)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.WithEntrants([]scenario.Entrant{{Name: "paragon", Selector: "paragon", Admission: "none"}, {Name: "random", Selector: "random", Admission: "none"}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{Seeds: []uint64{7}})
	if err != nil {
		t.Fatal(err)
	}
	decision := float64(scenario.EntrantDecision+6*scenario.EntrantDecisionPerNode) / float64(time.Millisecond)
	for _, line := range r.Lines {
		f, ok := line.Figure("deciding_mean")
		if n := f.Mean / decision; !ok || n < 1-1e-6 || n > 3 {
			t.Errorf("%s: a job's decisions take %g ms, one %g", line.Policy, f.Mean, decision)
		}
	}
}

// What a policy says of what it measures goes over what the scenario profiles, and changes the runs
// of no other policy.
func TestAblatedPolicies(t *testing.T) {
	t.Parallel()
	run := func(text, policy string) (*report.Line, error) {
		s, err := decode(t, text)
		if err != nil {
			return nil, err
		}
		r, err := s.Run(context.Background(), scenario.Options{Policies: []string{policy}, Seeds: []uint64{7}})
		if err != nil {
			return nil, err
		}
		return &r.Lines[0], nil
	}
	before, err := run(small, "paragon")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		says string
		same bool
	}{
		"entries": {"entries = 4", false}, "classifier": {"classifier = \"knn\"", false}, "exact": {"exact = [\"scores\"]", false},
		"ignored": {"ignored = [\"scores\"]", false}, "decisions": {"free_decisions = true", false}, "nothing": {"", true},
	} {
		text := small + "policy \"other\" {\n selector = \"paragon\"\n adapter = \"quasar\"\n " + c.says + "\n}\n"
		other, err := run(text, "other")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		other.Policy = before.Policy
		if reflect.DeepEqual(other, before) != c.same {
			t.Errorf("%s: it runs as without: %v", name, !c.same)
		}
		if name == "decisions" {
			if f, ok := other.Figure("deciding_mean"); !ok || f.Mean != 0 {
				t.Errorf("decisions in no time take %g ms", f.Mean)
			}
		}
		if unchanged, err := run(text, "paragon"); err != nil || !reflect.DeepEqual(unchanged, before) {
			t.Errorf("%s: next to it paragon runs otherwise (%v)", name, err)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"syntax":             {"cluster {", "cluster {{", "test.hcl:6:10: "},
		"argument":           {"jobs         = 40", "jbos = 40", `test.hcl:20:3: Unsupported argument: An argument named "jbos" is not expected here. Did you mean "jobs"?`},
		"missing":            {`title  = "small"`, "", `The argument "title" is required`},
		"type":               {"seeds  = [1, 2]", `seeds = "x"`, "test.hcl:3:10: "},
		"policy":             {`policy "least-loaded" {}`, `policy "leest-loaded" {}`, `unknown selector "leest-loaded"; did you mean "least-loaded"?`},
		"policy twice":       {`policy "least-loaded" {}`, "policy \"paragon\" {}", `policy "paragon" is there twice`},
		"class":              {`["ST", "MP"]`, `["ST", "MQ"]`, `test.hcl:17:3: unknown classes "MQ"`},
		"duration":           {`"8m"`, `"8 minutes"`, `"8 minutes" is no duration such as "90s" or "1h30m"`},
		"contradiction":      {`high = "8m"`, `high = "1m"`, "test.hcl:28:3: "},
		"shape":              {"homogeneous-6x4x8GiB", "paragon-lokal", "unknown cluster shape"},
		"seeds twice":        {"[1, 2]", "[1, 1]", "test.hcl:3:1: seed 1 is negative or there twice"},
		"loads":              {`limit  = "4h"`, `loads = [0.5]`, "test.hcl:4:1: loads and an arrivals block with by_load = true need each other"},
		"negative":           {"jobs         = 40", "jobs = -4", "test.hcl:20:3: jobs = -4 is not from 1 to"},
		"knowledge":          {`knowledge = "oracle"`, `knowledge = "orakle"`, `unknown knowledge "orakle"; did you mean "oracle"?`},
		"classifier":         {`"mean"`, `"meen"`, `did you mean "mean"?`},
		"option":             {`policy "least-loaded" {}`, "policy \"least-loaded\" {\n options = { x = \"1\" }\n}", `has no parameter "x"`},
		"weights":            {"[1, 3]", "[1]", "test.hcl:18:3: 1 weights for 2 classes"},
		"arrivals":           {`arrivals "poisson"`, `arrivals "poison"`, `unknown arrivals "poison"`},
		"nothing to do":      {"population", "policy", "nothing is submitted"},
		"start below":        {`policy "least-loaded" {}`, "policy \"least-loaded\" {\n start_below = 1.5\n}", "start_below = 1.5 is no share from 0 to 1"},
		"part":               {`policy "least-loaded" {}`, "policy \"least-loaded\" {\n knowledge = \"planned\"\n exact = [\"speed\"]\n}", `unknown exact and ignored "speed"; did you mean "speeds"?`},
		"part twice":         {`policy "least-loaded" {}`, "policy \"least-loaded\" {\n knowledge = \"planned\"\n exact = [\"speeds\"]\n ignored = [\"speeds\"]\n}", `"speeds" is in exact and in ignored`},
		"part of nothing":    {`policy "least-loaded" {}`, "policy \"least-loaded\" {\n entries = 4\n}", "policy least-loaded: entries, classifier, sources, exact and ignored change what is measured of jobs, and nothing is"},
		"spike":              {`load_swing  = 0.3`, "load_spike = 0.5", "test.hcl:38:3: load_spike is above 0, and it and spike_for need each other"},
		"target without use": {"phases       = 2", `reservations = "published"`, "reservations differ from the need only with targets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(small, c.old, c.new, 1)
			if name == "nothing to do" {
				text = text[:strings.Index(text, "policy \"batch\"")] + "policy \"random\" {}\n"
			}
			_, err := decode(t, text)
			if !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("cluster {"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := scenario.Decode(src, "fuzz.hcl"); err != nil && !strings.Contains(err.Error(), "fuzz.hcl") {
			t.Errorf("an error without a place: %v", err)
		}
	})
}

// What the truth is calibrated by, and what must follow: the baselines that do not
// consider co-runners lose about as much as published on 1,000 servers under high
// load (Delimitrou 2015, §3.5.2: least-loaded 48 %, NI 34 %), and who knows the truth
// loses little.
func TestTheTruthIsAsHarshAsPublishedAndNotHarsher(t *testing.T) {
	t.Parallel()
	s, err := scenario.Load(filepath.Join(examples, "paragon-ec2-high.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]float64{"least-loaded": {0.26, 0.53}, "ni": {0.24, 0.42}, "paragon-oracle": {0, 0.18}}
	r, err := s.Run(context.Background(), scenario.Options{Policies: []string{"least-loaded", "ni", "paragon-oracle"}, Seeds: []uint64{11}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Lines {
		f, _ := l.Figure("performance")
		if loss := 1 - f.Mean/100; loss < want[l.Policy][0] || loss > want[l.Policy][1] {
			t.Errorf("%s loses %.2f, want %v", l.Policy, loss, want[l.Policy])
		}
	}
}
