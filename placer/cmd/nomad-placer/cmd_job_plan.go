package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// planReport is what `job plan -json` prints.
type planReport struct {
	Decisions  []cluster.Decision   `json:"decisions"`
	Unprofiled []cluster.WorkloadID `json:"unprofiled,omitempty"`
	Nomad      *api.JobPlanResponse `json:"nomad"`
	Problems   []string             `json:"problems,omitempty"`
}

func jobPlanCommand() *command.Command {
	return &command.Command{
		Name: "job plan", Arguments: "FILE", Synopsis: "Show what submitting a job would do",
		About:   "Reads a job file (- is standard input) and prints what the placer would decide now from stored profiles, and Nomad's own plan of the job rewritten like that. Nothing is submitted or measured. A group without a stored profile would be profiled first, so its decision is a first guess.",
		Example: "nomad-placer job plan cache.nomad.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			r := &jobRun{}
			r.from.add(f)
			r.from.addPools(f)
			r.vars.add(f)
			r.out.Add(f)
			r.out.AddVerbose(f, "Print long values and keys in full.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return planJob(ctx, s, r, args[0]) }
		},
	}
}

func planJob(ctx context.Context, s *command.Shell, r *jobRun, file string) error {
	client, err := r.from.client()
	if err != nil {
		return err
	}
	job, held, err := r.prepare(ctx, s, client, file)
	if err != nil {
		return err
	}
	var report planReport
	if held {
		if err := preview(ctx, s, r, job.body, &report); err != nil {
			return err
		}
		if job.body, err = rewritten(job.body, r.from.holdPool, r.from.runPool, report.Decisions); err != nil {
			return err
		}
	}
	if report.Nomad, err = nomadPlan(ctx, client, job.body); err != nil {
		return err
	}
	return r.out.Print(s, report, func(p *command.Page) { planPage(p, report) })
}

// preview asks the placer's own engine, over the live cluster and its records.
func preview(ctx context.Context, s *command.Shell, r *jobRun, body map[string]any, report *planReport) error {
	opened, err := r.from.open(s)
	if err != nil {
		return err
	}
	records, ok := opened.(engineRecords)
	if !ok {
		return errors.New("a plan needs Nomad itself: leave out -placer-address and NOMAD_PLACER_ADDR")
	}
	world, err := r.from.world()
	if err != nil {
		return err
	}
	job := world.ReadJob(body)
	job.RunPool = r.from.runPool
	report.Problems = job.Problems
	report.Decisions, report.Unprofiled, err = records.engine.Preview(ctx, job)
	return err
}

// rewritten is the job as the placer would register it.
func rewritten(body map[string]any, holdPool, runPool string, decisions []cluster.Decision) (map[string]any, error) {
	placed := make([]cluster.Decision, 0, len(decisions))
	for _, d := range decisions {
		if d.Outcome == cluster.Placed {
			placed = append(placed, d)
		}
	}
	return nomadapi.Rewrite(body, cluster.Plan{Job: cluster.Job{RunPool: runPool}, Decisions: placed}, holdPool)
}

func nomadPlan(ctx context.Context, client *api.Client, body map[string]any) (*api.JobPlanResponse, error) {
	id, _ := body["ID"].(string)
	namespace, _ := body["Namespace"].(string)
	var raw json.RawMessage
	request := map[string]any{"Job": body, "Diff": true}
	write := (&api.WriteOptions{Namespace: namespace}).WithContext(ctx)
	if _, err := client.Raw().Write("/v1/job/"+url.PathEscape(id)+"/plan", request, &raw, write); err != nil {
		return nil, fmt.Errorf("asking Nomad for a plan: %w", err)
	}
	var answer api.JobPlanResponse
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("nomad's answer: %w", err)
	}
	return &answer, nil
}

func planPage(p *command.Page, report planReport) {
	unprofiled := map[cluster.WorkloadID]bool{}
	for _, w := range report.Unprofiled {
		unprofiled[w] = true
	}
	for _, problem := range report.Problems {
		p.Item(command.Warn, problem)
	}
	for _, d := range report.Decisions {
		planDecision(p, d, unprofiled[d.Workload])
	}
	p.Section("Nomad's plan")
	printDiff(p, report.Nomad.Diff)
	printPlacements(p, report.Nomad)
	if w := strings.TrimSpace(report.Nomad.Warnings); w != "" {
		p.Item(command.Warn, w)
	}
}

func planDecision(p *command.Page, d cluster.Decision, unprofiled bool) {
	p.Line(command.Heading(d.Workload.Job+" / "+d.Workload.Group), outcomeCell(d.Outcome))
	p.Fact("Target", wording.Target(d.Target))
	p.Fact("Predicted", wording.Expect(d.Predicted, d.Target).String())
	p.Fact("Why", d.Reason)
	if unprofiled {
		p.Fact("Profile", "none is stored: the workload would be profiled first, and the decision may change")
	} else {
		p.Fact("Profile", p.Cut(d.ProfileKey, 20))
	}
	explainDisk(p, d)
	explainSizing(p, d)
	explainWarnings(p, d)
	explainCandidates(p, d)
	explainRejections(p, d)
	p.Line()
}
