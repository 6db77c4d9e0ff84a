package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/e2e/training/input"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

//go:embed jobs/*.hcl
var jobFiles embed.FS

// variant is how an application is to run this time.
type variant struct {
	where    string // node class it is bound to, as a regular expression; empty is any
	count    int
	cpuMHz   int // of the main task; 0: as reserved
	memoryMB int // of the main task; 0: as reserved
	// version makes its profile one of its own: the placer keeps what it knows.
	version    string
	unsized    bool   // the scale block is left out
	unprofiled bool   // no profiling run
	policy     string // empty: the default
}

// jobText is what a template of jobs/ is executed on.
type jobText struct {
	Bin, Inputs string
	Spike       string // a file that is there during the load spike
	Count       int
	Rate        float64
	Work        int

	app   app
	alone alone
	v     variant
	plan  plan
}

// Where binds the job to nodes of a class.
func (j jobText) Where() string {
	if j.v.where == "" {
		return ""
	}
	return fmt.Sprintf("constraint {\n    attribute = \"${node.class}\"\n    operator  = \"regexp\"\n    value     = %q\n  }", j.v.where)
}

// Performance is the performance block.
func (j jobText) Performance() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("performance {")
	if j.v.policy != "" {
		line("policy = %q", j.v.policy)
	}
	if j.app.kind == performance.QPS {
		line("move = true")
	}
	line("target {\n%s\n}", j.target())
	if j.app.probe == "" {
		latency := ""
		if j.app.latency > 0 {
			latency = `latency = "load_request_seconds"`
		}
		line("probe \"prometheus\" {\nport = \"metrics\"\nrate = %q\n%s\n}", j.counter(), latency)
	} else {
		line("probe \"log\" {\npattern = %q\nwork = %d\n}", j.app.probe, j.Work)
	}
	if j.app.scales() && !j.v.unsized {
		line("scale {")
		list := func(name string, values []int) {
			if len(values) > 0 {
				line("%s = [%s]", name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(values)), ", "), "[]"))
			}
		}
		list("count", j.app.counts)
		list("memory", j.app.memory)
		line("}")
	}
	if j.v.unprofiled {
		line("profile {\nskip = true\n}\n}")
	} else {
		line("profile {\nseconds = %d\nallow = [\"host_paths\"]\n}\n}", j.plan.ProfileSeconds)
	}
	return b.String()
}

// counter is the name of the metric that counts the work.
func (j jobText) counter() string {
	if j.app.kind == performance.QPS {
		return "load_requests_total"
	}
	return "loop_units_total"
}

func (j jobText) target() string {
	switch j.app.kind {
	case performance.QPS:
		return fmt.Sprintf("qps = %g\nlatency {\npercentile = %d\nmax = %q\n}", j.alone.rate(j.app), tailPercentile, j.app.bound(j.alone))
	case performance.Rate:
		return fmt.Sprintf("rate = %s\nunit = %q", number(j.app.share*j.alone.RatePerSec), j.app.unit)
	case performance.FinishWithin:
		return fmt.Sprintf("finish_within = %q", j.plan.BatchWithin)
	default:
		return "best_effort = true"
	}
}

// number writes three digits of a positive number, and at least one unit where it
// is not known yet.
func number(v float64) string {
	if !(v > 0) {
		return "1"
	}
	return fmt.Sprint(rounded(v))
}

// rounded has three digits.
func rounded(v float64) float64 {
	scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// Run is the rest of a task: its resources and how it ends.
func (j jobText) Run(task string) string {
	r := j.alone.reserved(j.app, task)
	if task == j.app.mainTask() && j.v.memoryMB > 0 {
		r.MemoryMB = j.v.memoryMB
	}
	if task == j.app.mainTask() && j.v.cpuMHz > 0 {
		r.CPUMHz = j.v.cpuMHz
	}
	version := ""
	if j.v.version != "" {
		version = fmt.Sprintf("env {\n        EVALUATION = %q\n      }\n", j.v.version)
	}
	return fmt.Sprintf("%sresources {\n        cpu    = %d\n        memory = %d\n      }\n      kill_timeout = \"1s\"\n      logs {\n        max_files     = 2\n        max_file_size = 2\n      }",
		version, r.CPUMHz, r.MemoryMB)
}

// spec is the jobspec of an application.
func (j jobText) spec() ([]byte, error) {
	text, err := jobFiles.ReadFile("jobs/" + j.app.name + ".hcl")
	if err != nil {
		return nil, err
	}
	t, err := template.New(j.app.name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, j); err != nil {
		return nil, err
	}
	return hclwrite.Format(out.Bytes()), nil
}

// render writes an application's job into a folder and reads it back.
func (e *evaluation) render(a app, known alone, v variant) (rig.JobFile, error) {
	j := jobText{
		Bin: e.bin, Inputs: e.inputs, Spike: e.spike(), Count: max(1, v.count), Rate: known.rate(a), Work: known.work(a, e.plan),
		app: a, alone: known, v: v, plan: e.plan,
	}
	text, err := j.spec()
	if err != nil {
		return rig.JobFile{}, err
	}
	path := filepath.Join(e.rendered, a.name+".hcl")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return rig.JobFile{}, err
	}
	return e.rig.ReadJobFile(path)
}

// makeInputs makes what the applications read.
func (e *evaluation) makeInputs(ctx context.Context, say func(string)) error {
	return input.Make(ctx, e.inputs, neededInputs(), func(name string) { say("making the input " + name) })
}
