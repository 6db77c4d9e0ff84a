package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// runID names the cluster; a dead one of that name is cleaned up first.
const runID = "evaluate"

// defaultInputs is where `make training` makes them, too.
const defaultInputs = "/var/tmp/nomad-placer-training"

// plan is how long everything takes.
type plan struct {
	Repetitions    int           `json:"repetitions"`
	ProfileSeconds int           `json:"profile_seconds"`
	Settle         time.Duration `json:"settle"` // of a job alone, before it is measured
	AloneWindow    time.Duration `json:"alone_window"`
	AloneTimes     int           `json:"alone_times"`
	WarmUp         time.Duration `json:"warm_up"` // of all jobs side by side
	Window         time.Duration `json:"window"`
	BatchWithin    time.Duration `json:"batch_within"`
	Aftermath      time.Duration `json:"aftermath"` // after the last cure, before the calm
	Calm           time.Duration `json:"calm"`
}

// comparable plans measure the same; there may be more repetitions of one.
func (p plan) comparable(q plan) bool {
	p.Repetitions, q.Repetitions = 0, 0
	return p == q
}

func fullPlan() plan {
	return plan{
		Repetitions: 5, ProfileSeconds: 30, Settle: 3 * time.Second, AloneWindow: 8 * time.Second, AloneTimes: 3, WarmUp: 20 * time.Second, Window: 20 * time.Second,
		BatchWithin: 40 * time.Second, Aftermath: time.Minute, Calm: 10 * time.Minute,
	}
}

func quickPlan() plan {
	return plan{
		Repetitions: 1, ProfileSeconds: 5, Settle: time.Second, AloneWindow: 4 * time.Second, AloneTimes: 2, WarmUp: 10 * time.Second, Window: 8 * time.Second,
		BatchWithin: 20 * time.Second, Aftermath: 5 * time.Second, Calm: time.Minute,
	}
}

// options are the flags.
type options struct {
	bin, dir, inputs string
	records          string
	markdown         string
	port             int
	repetitions      int
	calm             time.Duration
	quick, fresh     bool
	report, asJSON   bool
	keep             bool
}

func main() {
	cluster.Main("evaluate", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func parse(args []string) (options, plan, error) {
	var o options
	f := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "`Folder` of the product's binaries.")
	f.StringVar(&o.dir, "dir", "", "`Folder` of the results (default e2e/evaluate/results, with -quick evaluate-quick in the folder of the binaries). What is there is not measured again.")
	f.StringVar(&o.inputs, "inputs", defaultInputs, "`Folder` of the generated inputs.")
	f.StringVar(&o.records, "records", "", "Write the placer's whole record of each decision into this `folder`, too.")
	f.StringVar(&o.markdown, "markdown", "", "Write the report to this `file`, too.")
	f.IntVar(&o.port, "port", 17800, "First `port`, all on 127.0.0.1.")
	f.IntVar(&o.repetitions, "repetitions", 0, "`Times` that both sides are measured (default 5, with -quick 1).")
	f.DurationVar(&o.calm, "calm", 0, "How `long` is watched that adaptation comes to rest (default 10m, with -quick 1m).")
	f.BoolVar(&o.quick, "quick", false, "One repetition, short windows, one sweep, a calm of a minute: to try it, not for numbers.")
	f.BoolVar(&o.fresh, "fresh", false, "Remove the results in the folder first.")
	f.BoolVar(&o.report, "report", false, "Measure nothing: report what is in the folder.")
	f.BoolVar(&o.asJSON, "json", false, "Print everything measured as JSON instead of the tables.")
	f.BoolVar(&o.keep, "keep", false, "Keep the cluster's folder (logs).")
	if err := f.Parse(args); err != nil {
		return o, plan{}, err
	}
	p := fullPlan()
	if o.quick {
		p = quickPlan()
	}
	if o.dir == "" {
		o.dir = filepath.Join("e2e", "evaluate", "results")
		if o.quick {
			o.dir = filepath.Join(o.bin, "evaluate-quick")
		}
	}
	if o.repetitions != 0 {
		p.Repetitions = o.repetitions
	}
	if o.calm != 0 {
		p.Calm = o.calm
	}
	if f.NArg() > 0 || p.Repetitions < 1 || p.Calm < 0 || o.report && o.fresh {
		return o, p, errors.New("-repetitions is at least 1, -calm not negative, -report not with -fresh, and there are no other arguments; -h says more")
	}
	return o, p, nil
}

func run(ctx context.Context, args []string) error {
	o, p, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := results(o.dir)
	if !o.report {
		if err := measureMissing(ctx, o, p, dir); err != nil {
			return err
		}
	}
	r, err := dir.load()
	if err != nil {
		return err
	}
	return r.publish(o)
}

// measureMissing measures what is not in the folder yet.
func measureMissing(ctx context.Context, o options, p plan, dir results) error {
	if err := checkPrograms(lookPath); err != nil {
		return err
	}
	if err := checkNiceness("/proc/self/autogroup"); err != nil {
		return err
	}
	jobs, err := hashOfJobs()
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	was, err := dir.open(begun{At: now, Run: now.Format("0102t150405"), Machine: machine.Description(), Quick: o.quick, Plan: p, Jobs: jobs}, o.fresh)
	if err != nil {
		return err
	}
	e := &evaluation{plan: p, quick: o.quick, run: was.Run, dir: dir, inputs: o.inputs, records: o.records}
	todo, err := e.todo()
	if err != nil || todo.nothing() {
		return err
	}
	return e.onCluster(ctx, o, todo)
}

// evaluation is a run under way.
type evaluation struct {
	plan     plan
	quick    bool
	run      string
	dir      results
	bin      string
	inputs   string
	records  string // folder for whole decisions; empty: they are not kept
	adapter  string // that the agents run with; empty: their default
	rendered string // folder of the jobspecs as they were submitted
	rig      *rig.Rig
	book     journal.Book
	progress *progress
}

// onCluster starts the cluster, measures, and takes the cluster away.
func (e *evaluation) onCluster(ctx context.Context, o options, todo todo) (err error) {
	e.progress = newProgress(os.Stderr, time.Now, e.seconds(), todo.steps())
	if e.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	if err := e.makeInputs(ctx, e.progress.say); err != nil {
		return err
	}
	if err := cluster.Clean(ctx, runID); err != nil {
		return fmt.Errorf("cleaning up after an earlier run: %w", err)
	}
	if e.records != "" {
		if err := os.MkdirAll(e.records, 0o755); err != nil {
			return err
		}
	}
	e.rendered = filepath.Join(e.bin, "evaluate-jobs") // not with the results: they name folders of this machine
	if err := os.MkdirAll(e.rendered, 0o755); err != nil {
		return err
	}
	e.progress.begin("start", "starting one Nomad server, three clients and the placer")
	e.rig, err = rig.Start(ctx, rig.Options{Bin: o.bin, BasePort: o.port, RunID: runID, KeepDir: o.keep, Described: true, Preferred: true, Signed: true})
	if err != nil {
		return err
	}
	defer func() {
		e.progress.say("stopping the cluster")
		err = errors.Join(err, e.rig.Stop(context.WithoutCancel(ctx)))
	}()
	if err := e.rig.InstallPlacer(ctx); err != nil {
		return err
	}
	s, err := nomadvars.New(e.rig.API(), nomadvars.Options{})
	if err != nil {
		return err
	}
	e.book = journal.Book{Store: s}
	return e.measureEverything(ctx, todo)
}

// hashOfJobs changes with the applications, their jobspecs and the arms.
func hashOfJobs() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%+v %q", apps, order(1))
	entries, err := jobFiles.ReadDir("jobs")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		text, err := jobFiles.ReadFile("jobs/" + e.Name())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", e.Name(), len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}
