package scenario_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// replayed is a scenario that replays a small trace with everything in it that a
// bad one has.
const replayed = `title  = "replayed"
source = "a test"
seeds  = [1]
limit  = "2h"

cluster {
  machines = "machines"
}

trace "google-2011" {
  path      = "jobs"
  classes   = ["ST", "MP"]
  platforms = "published"

  duration "fixed" {
    value = "5m"
  }
}

profiling {
  training   = 12
  classifier = "mean"
}

policy "paragon" {}
policy "least-loaded" {}
`

const (
	replayedMachines = "0,1,0,p,0.5,0.25\n0,2,0,p,0.5,0.25\n300000000,3,0,p,0.25,0.25\n600000000,2,1,p,,\n900000000,1,2,p,0.4,0.25\n"
	replayedHeader   = "submit_us,job_id,task_index,user,scheduling_class,priority,runtime_us,end_us_or_minus1,cpu_request_norm,mem_request_norm\n"
	replayedJobs     = replayedHeader +
		"0,10,0,u,2,9,60000000,60000000,0.1,0.01\n" +
		"0,10,0,u,2,9,60000000,60000000,0.1,0.01\n" + // the same id
		"0,11,0,u,2,9,-5,60000000,0.1,0.01\n" + // ends before it starts
		"0,12,0,u,2,9,60000000,60000000,0.9,0.01\n" + // larger than any machine
		"0,13,0,u,2,9,900000000,-1,0.1,0.01\n" // still running at the end: at least 15 minutes
)

// folder writes the files of a scenario and returns the path of the scenario.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "replayed.hcl")
}

// What a trace has too much or too little of is counted, machines vanish and come,
// and the rest runs.
func TestABadTraceIsCountedAndRuns(t *testing.T) {
	t.Parallel()
	s, err := scenario.Load(folder(t, map[string]string{
		"replayed.hcl": replayed, "machines/machine_events.csv": replayedMachines, "jobs/initial_tasks.csv": replayedJobs,
	}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"the same id again": 1, "it ends before it starts": 1, "larger than any node": 1}
	if !maps.Equal(r.Skipped, want) {
		t.Errorf("left out %v, want %v", r.Skipped, want)
	}
	for _, l := range r.Lines {
		if l.Counters.Jobs != 2 || l.Counters.NodesLost < 1 {
			t.Errorf("%s: %d jobs, %d nodes lost", l.Policy, l.Counters.Jobs, l.Counters.NodesLost)
		}
		if f, ok := l.Figure("unfinished"); !ok || f.Mean != 0 {
			t.Errorf("%s: %v %% did not end", l.Policy, f.Mean)
		}
	}
}

// A table of one's own is replayed by a map of its columns.
func TestATableOfOnesOwn(t *testing.T) {
	t.Parallel()
	own := strings.Replace(replayed, `trace "google-2011" {`, "trace \"csv\" {\n  columns = \"submit=when,duration=took,cores=cpus,memory=ram,time=ms,memory_unit=MiB\"", 1)
	load := func(text string) (*scenario.Scenario, error) {
		return scenario.Load(folder(t, map[string]string{
			"replayed.hcl": text, "machines/machine_events.csv": replayedMachines, "jobs/mine.csv": "when,took,cpus,ram\n0,60000,1,64\n500,90000,1,64\n900,-1,1,64\n",
		}))
	}
	s, err := load(own)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Lines[0].Counters.Jobs != 2 || len(r.Skipped) != 1 {
		t.Errorf("%d jobs, left out %v", r.Lines[0].Counters.Jobs, r.Skipped)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"no columns":     {"columns =", "files = [] # ", `replayed.hcl:10:1: bad trace options: the format csv needs a column map with at least submit=column`},
		"unknown field":  {"submit=when", "submit=when,color=red", `replayed.hcl:11:3: bad trace options: column map: unknown field "color"`},
		"another format": {`trace "csv"`, `trace "google-2011"`, `replayed.hcl:11:3: columns are of the format "csv": those of "google-2011" are known`},
	} {
		if _, err := load(strings.Replace(own, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestErrorsOfTracesSayWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, machines, jobs, want string }{
		"no such folder":     {`path      = "jobs"`, `path = "jabs"`, replayedMachines, replayedJobs, "jabs"},
		"no such machines":   {`machines = "machines"`, `machines = "mashines"`, replayedMachines, replayedJobs, "mashines"},
		"a bad cell":         {"", "", replayedMachines, replayedHeader + "0,10,0,u,2,9,60000000,60000000,NaN,0.01\n", "initial_tasks.csv:2:"},
		"a missing column":   {"", "", replayedMachines, "submit_us,runtime_us\n1,2\n", "the folder has no jobs of google-2011"},
		"a bad machine":      {"", "", "0,1,7,p,0.5,0.25\n", replayedJobs, "machine_events.csv:1:5: event_type: \"7\": not an event of a machine"},
		"no machines":        {"", "", "0,1,1,p,,\n", replayedJobs, "no machines"},
		"a stretch":          {`path      = "jobs"`, "path = \"jobs\"\nfrom = \"2h\"\nto = \"1h\"", replayedMachines, replayedJobs, `replayed.hcl:13:1: to = "1h" is not after from = "2h"`},
		"a share":            {`path      = "jobs"`, "path = \"jobs\"\nsample = 3", replayedMachines, replayedJobs, "replayed.hcl:12:1: sample = 3 is no share"},
		"a spread":           {`path      = "jobs"`, "path = \"jobs\"\ntasks {\nmedian = -1\n}", replayedMachines, replayedJobs, "replayed.hcl:12:1: bad distribution: lognormal of median -1"},
		"two sources":        {`policy "paragon" {}`, "population \"p\" {\nclasses = [\"ST\"]\njobs = 1\narrivals \"constant\" {\nevery = \"1s\"\n}\nduration \"fixed\" {\nvalue = \"1m\"\n}\n}\npolicy \"paragon\" {}", replayedMachines, replayedJobs, "replayed.hcl:10:1: a trace has no truth"},
		"knowledge of none":  {`  classes   = ["ST", "MP"]`, "", replayedMachines, replayedJobs, "policy paragon needs knowledge"},
		"measured and drawn": {`["ST", "MP"]`, `["ST", "measured"]`, replayedMachines, replayedJobs, `replayed.hcl:12:3: class "measured" is not mixed with drawn ones`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(replayed, c.old, c.new, 1)
			s, err := scenario.Load(folder(t, map[string]string{
				"replayed.hcl": text, "machines/machine_events.csv": c.machines, "jobs/initial_tasks.csv": c.jobs,
			}))
			if err == nil {
				_, err = s.Run(context.Background(), scenario.Options{})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Too few measured rows are said, not made up for. With enough of them the
// scenario runs; how many there are is the training set's.
func TestMeasuredApplicationsNeedRows(t *testing.T) {
	t.Parallel()
	text := strings.Replace(small, `["ST", "MP"]
  weights      = [1, 3]`, `["measured"]`, 1)
	text = text[:strings.Index(text, `population "services"`)] + text[strings.Index(text, "profiling {"):]
	s, err := decode(t, text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{Seeds: []uint64{1}})
	switch {
	case err != nil && errors.Is(err, scenario.ErrScenario) && strings.Contains(err.Error(), `"make training" measures them`):
	case err != nil:
		t.Errorf("too few rows: %v", err)
	case len(r.Lines) != 3 || r.Lines[0].Counters.Jobs != 40:
		t.Errorf("%+v", r.Lines)
	}
}

// A trace that cannot be read whole is found before a run, with file and line, and one
// that has no job does not give figures.
func TestATraceIsCheckedToItsEnd(t *testing.T) {
	t.Parallel()
	good := replayedHeader + "0,10,0,u,2,9,60000000,60000000,0.1,0.01\n"
	for name, c := range map[string]struct{ jobs, want string }{
		"truncated": {good + "0,11,0,u,2", "initial_tasks.csv:3:11: priority: the row ends after 5 columns"},
		"NaN":       {good + "0,11,0,u,2,9,60000000,60000000,NaN,0.01\n", `initial_tasks.csv:3:32: cpu_request_norm: "NaN": not a number`},
		"column":    {strings.Replace(good, "priority,", "", 1), "all were left out (1: no size)"},
		"header":    {replayedHeader, "jobs: the trace has no job that can run: it has no rows"},
		"empty":     {"", "neither task events"},
		"too large": {replayedHeader + "0,12,0,u,2,9,60000000,60000000,0.9,0.01\n", "all were left out (1: larger than any node)"},
	} {
		s, err := scenario.Load(folder(t, map[string]string{
			"replayed.hcl": replayed, "machines/machine_events.csv": replayedMachines, "jobs/initial_tasks.csv": c.jobs,
		}))
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: checked: %v, want %s", name, err, c.want)
		}
		if _, err := s.Run(t.Context(), scenario.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: run: %v, want %s", name, err, c.want)
		}
	}
	s, err := scenario.Load(folder(t, map[string]string{"replayed.hcl": replayed, "machines/machine_events.csv": replayedMachines, "jobs/initial_tasks.csv": replayedJobs}))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Check(t.Context()); err != nil || r.Jobs == 0 || r.Skipped["larger than any node"] != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
