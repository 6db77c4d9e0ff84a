package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// policyRow is a policy as -json prints it.
type policyRow struct {
	Name         string `json:"name"`
	Summary      string `json:"summary"`
	Paper        string `json:"paper,omitempty"`
	NeedsProfile bool   `json:"needs_profile"`
}

func policyListCommand() *command.Command {
	return &command.Command{
		Name: "policy list", Synopsis: "List the placement policies",
		About:   "Lists the policies that a performance block or the agent's configuration may name.",
		Example: "nomad-placer policy list",
		Setup: func(f *flag.FlagSet) command.Runner {
			var out command.OutputFlags
			out.Add(f)
			return func(_ context.Context, s *command.Shell, _ []string) error { return listPolicies(s, &out) }
		},
	}
}

func listPolicies(s *command.Shell, out *command.OutputFlags) error {
	var list []policyRow
	var rows [][]command.Cell
	for _, d := range policy.Policies() {
		list = append(list, policyRow{d.Name, d.Summary, d.Paper, d.NeedsProfile})
		paper, profiles := d.Paper, "no"
		if paper == "" {
			paper = "baseline"
		}
		if d.NeedsProfile {
			profiles = "yes"
		}
		rows = append(rows, []command.Cell{{Text: d.Name, Hue: command.Bold}, command.Text(profiles), command.Text(paper), command.Text(d.Summary)})
	}
	return out.Print(s, list, func(p *command.Page) {
		p.Table([]string{"Policy", "Profiles", "Source", "What it does"}, rows)
	})
}
