package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// jobRun is `job run` with its flags.
type jobRun struct {
	from       recordFlags
	vars       variableFlags
	out        command.OutputFlags
	detach     bool
	checkIndex uint64
	timeout    time.Duration
}

// runReport is what `job run -json` prints at the end.
type runReport struct {
	Job       cluster.JobID      `json:"job"`
	Version   uint64             `json:"version"` // as registered
	Released  uint64             `json:"released,omitempty"`
	Decisions []cluster.Decision `json:"decisions,omitempty"`
	Running   int                `json:"running"`
	Nodes     []string           `json:"nodes,omitempty"`
}

func jobRunCommand() *command.Command {
	return &command.Command{
		Name: "job run", Arguments: "FILE", Synopsis: "Submit a job and wait until it is placed",
		About: "Submits a job file (- is standard input) whose groups may have a performance block. The job is held, measured, placed and released; this command shows the steps and ends once the allocations run.\n\nInterrupting this command does not stop the job.",
		Example: "nomad-placer job run cache.nomad.hcl\n" +
			"nomad-placer job run -var image=redis:7 -detach cache.nomad.hcl",
		ExitsStock: true,
		MinArgs:    1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			r := &jobRun{}
			r.from.add(f)
			r.from.addPools(f)
			r.vars.add(f)
			r.out.Add(f)
			r.out.AddVerbose(f, "Explain the decision of each group at the end, as job explain does.")
			f.BoolVar(&r.detach, "detach", false, "Return as soon as Nomad has the job.")
			f.Uint64Var(&r.checkIndex, "check-index", 0, "Only submit if the job's modify index is still this `index`; 0 submits anyway.")
			f.DurationVar(&r.timeout, "timeout", 15*time.Minute, "Stop waiting after this long; the job goes on.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return r.run(ctx, s, args[0]) }
		},
	}
}

func (r *jobRun) run(ctx context.Context, s *command.Shell, file string) error {
	client, err := r.from.client()
	if err != nil {
		return err
	}
	job, held, err := r.prepare(ctx, s, client, file)
	if err != nil {
		return err
	}
	if held && !r.detach {
		if err := r.readable(ctx, s); err != nil {
			return err
		}
	}
	f, err := r.register(ctx, s, client, job)
	if err != nil || r.detach {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("not running after %s; the job goes on, see `nomad-placer job status %s`", r.timeout, f.id.ID))
	defer cancel()
	err = r.follow(ctx, s, f, held)
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

// preparedJob is a job ready to be registered.
type preparedJob struct {
	file *jobFile
	body map[string]any
}

func (r *jobRun) prepare(ctx context.Context, s *command.Shell, client *api.Client, file string) (job preparedJob, held bool, err error) {
	job.file, err = readJobFile(s, file, &r.vars)
	if err != nil {
		return job, false, err
	}
	if !job.file.diagnostic.HasErrors() {
		job.body, err = job.file.parse(ctx, client, r.from.jobNamespace(s))
	}
	printProblems(s, job.file.diagnostic)
	if job.file.diagnostic.HasErrors() {
		return job, false, command.ErrTold
	}
	if err != nil {
		return job, false, err
	}
	if len(job.file.specs) == 0 {
		fmt.Fprintf(s.Err, "%s: no group has a performance block; the job is submitted as it is.\n", job.file.name)
		return job, false, nil
	}
	return job, true, hold(job.body, &r.from.nomadFlags)
}

// readable finds out before the job is submitted whether its progress can be
// followed at all.
func (r *jobRun) readable(ctx context.Context, s *command.Shell) error {
	records, err := r.from.open(s)
	if err != nil {
		return err
	}
	_, err = records.Evaluation(ctx, cluster.JobID{})
	if err == nil || errors.Is(err, cluster.ErrNoRecord) {
		return nil
	}
	return fmt.Errorf("the placer's records cannot be read, so the job could not be followed: %w (-detach submits without following)", err)
}

func (r *jobRun) register(ctx context.Context, s *command.Shell, client *api.Client, job preparedJob) (*follower, error) {
	body := map[string]any{"Job": job.body, "Submission": job.file.submission()}
	if r.checkIndex > 0 {
		body["EnforceIndex"], body["JobModifyIndex"] = true, r.checkIndex
	}
	namespace, _ := job.body["Namespace"].(string)
	id, _ := job.body["ID"].(string)
	write := (&api.WriteOptions{Namespace: namespace}).WithContext(ctx)
	var raw json.RawMessage
	if _, err := client.Raw().Write("/v1/jobs", body, &raw, write); err != nil {
		if strings.Contains(err.Error(), "nonexistent node pool") {
			err = fmt.Errorf("%w: the agent makes the hold pool when it starts; is one running?", err)
		}
		return nil, fmt.Errorf("submitting %s: %w", id, err)
	}
	var answer api.JobRegisterResponse
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("nomad's answer: %w", err)
	}
	if answer.Warnings != "" {
		fmt.Fprintln(s.Err, strings.TrimSpace(answer.Warnings))
	}
	f := &follower{
		shell: s, nomad: client, hold: r.from.holdPool, started: s.Now(),
		id: cluster.JobID{Namespace: namespace, ID: id}, quiet: r.out.ForMachines(),
	}
	version, err := f.registered(ctx, answer.JobModifyIndex)
	if err != nil {
		return nil, err
	}
	f.version = version
	f.say(fmt.Sprintf("%-9s %s, version %d", "submitted", f.id, version))
	if r.detach && r.out.ForMachines() {
		return f, r.out.Print(s, runReport{Job: f.id, Version: version}, nil)
	}
	return f, nil
}

func (r *jobRun) follow(ctx context.Context, s *command.Shell, f *follower, held bool) error {
	report := runReport{Job: f.id, Version: f.version, Released: f.version}
	stock := false
	if held {
		records, err := r.from.open(s)
		if err != nil {
			return err
		}
		f.records = records
		e, err := f.untilReleased(ctx)
		if err != nil {
			return err
		}
		report.Released = max(e.Released, f.version)
		if report.Decisions, err = decisionsOf(ctx, records, f.id, "", f.version); err != nil {
			return err
		}
		stock = tellDecisions(f, e, report.Decisions)
	}
	state, err := f.untilRunning(ctx, report.Released)
	if err != nil {
		return err
	}
	report.Running, report.Nodes = state.up+state.done, state.nodes
	err = r.out.Print(s, report, func(p *command.Page) { tellEnd(p, f, report, state) })
	if err == nil && stock {
		return command.ExitError{Code: command.ExitStock}
	}
	return err
}

// tellDecisions prints one line per group and reports whether stock Nomad
// places any of them.
func tellDecisions(f *follower, e cluster.Evaluation, decisions []cluster.Decision) (stock bool) {
	for _, d := range decisions {
		if d.Outcome != cluster.Placed {
			stock = true
			f.say(fmt.Sprintf("%-9s %s: left to stock Nomad: %s", "released", d.Workload.Group, d.Reason))
			continue
		}
		var nodes []string
		for _, c := range chosen(d) {
			nodes = append(nodes, c.Name)
		}
		f.say(fmt.Sprintf("%-9s %s on %s: %s, predicted %s", "placed", d.Workload.Group, strings.Join(nodes, ", "),
			wording.Target(d.Target), wording.Expect(d.Predicted, d.Target).Short()))
		for _, w := range d.Warnings {
			f.say("          warning: " + w)
		}
	}
	if len(decisions) == 0 {
		f.say(fmt.Sprintf("%-9s without a decision%s", "released", suffix(e.Message)))
		return true
	}
	return stock
}

func suffix(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func tellEnd(p *command.Page, f *follower, report runReport, state running) {
	if p.Verbose {
		for _, d := range report.Decisions {
			p.Line()
			explainPage(p, explanation{Decision: d}, f.shell.Now())
			p.Line()
		}
	}
	if state.wanted == 0 {
		p.Line(command.Text("Job " + f.id.ID + " is registered; it runs when it is dispatched or due."))
		return
	}
	p.Line(command.Text(fmt.Sprintf("Job %s runs: %s on %s, after %s.", f.id.ID, wording.Count(state.up+state.done, "allocation"),
		strings.Join(unique(state.nodes), ", "), wording.Duration(f.shell.Now().Sub(f.started)))))
	p.Line(command.Text("More: nomad-placer job explain " + f.id.ID))
}

func unique(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
