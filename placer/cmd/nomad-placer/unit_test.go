package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func TestCommandTable(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range commands() {
		names = append(names, c.Name)
		if c.Synopsis == "" || c.About == "" || c.Setup == nil {
			t.Errorf("%s has no help", c.Name)
		}
		if first, _, nested := strings.Cut(c.Name, " "); nested && families[first] == "" {
			t.Errorf("%s: %s is not a family", c.Name, first)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("the table is not sorted or names a command twice: %v", names)
	}
}

// An exec probe needs rights that the operator has to allow: without them it is refused
// before anything is measured, and its job's user reads why.
func TestAnExecProbeHasToBeAllowed(t *testing.T) {
	t.Parallel()
	const text = "target {\n rate = 5\n}\nprobe \"%s\" {\n %s\n}\n"
	byCommand, byLog := fmt.Sprintf(text, "exec", `command = ["count"]`), fmt.Sprintf(text, "log", `pattern = "(x)"`)
	for _, c := range []struct {
		allowed bool
		text    string
		refused bool
	}{{false, byCommand, true}, {true, byCommand, false}, {false, byLog, false}} {
		_, _, err := decodeAllowed(jobhcl.AgentConfig{ExecProbes: c.allowed})(c.text, "web/main")
		if (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "exec_probes = true") {
			t.Errorf("allowed %v: %v of\n%s", c.allowed, err, c.text)
		}
	}
}

func TestVariableExpression(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"5": `"5"`, `["a", "b"]`: `["a", "b"]`, "{a = 1}": "{a = 1}", "[broken": `"[broken"`,
		`say "hi" ${x}`: `"say \"hi\" $${x}"`, "": `""`,
	} {
		if got := variableExpression(value); got != want {
			t.Errorf("%q becomes %s, want %s", value, got, want)
		}
	}
}

func TestHoldRefusesAPoolThatWouldBeLost(t *testing.T) {
	t.Parallel()
	n := &nomadFlags{holdPool: "placer", runPool: "prod"}
	for _, pool := range []any{nil, "", "default", "prod", "placer"} {
		job := map[string]any{"NodePool": pool}
		if err := hold(job, n); err != nil || job["NodePool"] != "placer" {
			t.Errorf("pool %v: %v, %v", pool, job, err)
		}
	}
	if err := hold(map[string]any{"NodePool": "gpu"}, n); err == nil {
		t.Error("the user's own pool was dropped silently")
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	fraction, left := 0.5, 12.0
	e := cluster.Evaluation{Stage: cluster.StageProfile, Message: "measuring", Fraction: &fraction, RemainingSeconds: &left, Deadline: now.Add(90 * time.Second)}
	want := "profile   ██████████░░░░░░░░░░  50 %  about 12 s left  measuring  (held until in 1 min at most)"
	if got := progressLine(e, now); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := progressLine(cluster.Evaluation{Stage: cluster.StageHold, Message: "waiting"}, now); got != "hold      waiting" {
		t.Errorf("what is not known is printed: %q", got)
	}
}

func TestPrintDiff(t *testing.T) {
	t.Parallel()
	p := &command.Page{}
	printDiff(p, &api.JobDiff{Type: "Edited", ID: "web", TaskGroups: []*api.TaskGroupDiff{
		{Type: "Edited", Name: "front", Updates: map[string]uint64{"in-place update": 1},
			Fields: []*api.FieldDiff{{Type: "Edited", Name: "Count", Old: "1", New: "2", Annotations: []string{"forces create"}}, {Type: "None", Name: "Same"}},
			Objects: []*api.ObjectDiff{{Type: "Added", Name: "Constraint", Fields: []*api.FieldDiff{{Type: "Added", Name: "RTarget", New: strings.Repeat("n", 200)}}},
				{Type: "Edited", Name: "UI"}}},
		{Type: "Added", Name: "back", Fields: []*api.FieldDiff{{Type: "Added", Name: "Count", New: "1"}}, Tasks: []*api.TaskDiff{{Type: "Added", Name: "t"}}},
		{Type: "None", Name: "still"},
	}})
	want := "  ~ job web\n    ~ group front (1 in-place update)\n      ~ Count: \"1\" => \"2\" (forces create)\n      + Constraint\n        + RTarget: \"" +
		strings.Repeat("n", 59) + "…\"\n    + group back\n      + task t\n"
	if got := p.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWantedAllocations(t *testing.T) {
	t.Parallel()
	two, system := 2, api.JobTypeSystem
	if got := wantedAllocations(&api.Job{TaskGroups: []*api.TaskGroup{{Count: &two}, {}}}, 9); got != 3 {
		t.Errorf("a service wants %d", got)
	}
	if got := wantedAllocations(&api.Job{Type: &system}, 4); got != 4 {
		t.Errorf("a system job wants %d", got)
	}
}
