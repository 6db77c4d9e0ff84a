package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func jobExplainCommand() *command.Command {
	return &command.Command{
		Name: "job explain", Arguments: "JOB", Synopsis: "Explain where a job was placed, and why",
		About: "Prints the record of the newest decision for each group of a job: target, outcome, chosen nodes and why, every rejected node and its reason, sensitivity to interference, prediction and measurement, and where the time went.",
		Example: "nomad-placer job explain cache\n" +
			"nomad-placer job explain -t '{{range .}}{{.decision.policy}}: {{.decision.reason}}{{end}}' cache",
		MinArgs: 1, MaxArgs: 1, Complete: fromRecords(knownJobs),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print every acceptable node and the whole keys.")
			group := f.String("group", "", "Explain this `group` only.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				r, err := from.open(s)
				if err != nil {
					return err
				}
				id := cluster.JobID{Namespace: from.jobNamespace(s), ID: args[0]}
				return explainJob(ctx, s, r, id, *group, &out)
			}
		},
	}
}

func explainJob(ctx context.Context, s *command.Shell, r records, id cluster.JobID, group string, out *command.OutputFlags) error {
	decisions, err := decisionsOf(ctx, r, id, group, 0)
	if err != nil {
		return err
	}
	if len(decisions) == 0 {
		return noDecision(ctx, r, id, group)
	}
	limits, err := diskLimitsOf(ctx, r, decisions)
	if err != nil {
		return err
	}
	explanations := make([]explanation, len(decisions))
	for i, d := range decisions {
		explanations[i].Decision, explanations[i].DiskLimits = d, limits[i]
		if explanations[i].Observations, err = r.Observations(ctx, d.Workload); err != nil {
			return err
		}
	}
	return out.Print(s, explanations, func(p *command.Page) {
		for i, x := range explanations {
			if i > 0 {
				p.Line()
				p.Line()
			}
			explainPage(p, x, s.Now())
		}
	})
}

// noDecision says what is known of a job without a decision.
func noDecision(ctx context.Context, r records, id cluster.JobID, group string) error {
	what := "job " + id.String()
	if group != "" {
		what = "group " + group + " of " + what
	}
	e, err := r.Evaluation(ctx, id)
	switch {
	case err == nil && !e.Stage.Ended():
		return fmt.Errorf("%s: no decision yet; it is in stage %s: %s", what, e.Stage, e.Message)
	case err != nil && !errors.Is(err, cluster.ErrNoRecord):
		return err
	default:
		return fmt.Errorf("%s: %w; `nomad-placer job status` lists what there is", what, cluster.ErrNoRecord)
	}
}

// decisionsOf returns the newest decisions of a job's groups that are about
// version or a later one, by name of the group.
func decisionsOf(ctx context.Context, r records, id cluster.JobID, group string, version uint64) ([]cluster.Decision, error) {
	all, err := r.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	var out []cluster.Decision
	for _, d := range all {
		if d.Workload.JobID() == id && (group == "" || d.Workload.Group == group) && d.JobVersion >= version {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b cluster.Decision) int { return cmp.Compare(a.Workload.Group, b.Workload.Group) })
	return out, nil
}
