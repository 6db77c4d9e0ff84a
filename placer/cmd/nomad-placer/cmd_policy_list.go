package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// policyRow is a policy as -json prints it.
type policyRow struct {
	Name         string `json:"name"`
	Summary      string `json:"summary"`
	Paper        string `json:"paper,omitempty"`
	NeedsProfile bool   `json:"needs_profile"`
}

func policyListCommand() *command {
	return &command{
		name: "policy list", synopsis: "List the placement policies",
		about:   "Lists the policies that a performance block or the agent's configuration may name.",
		example: "nomad-placer policy list",
		setup: func(f *flag.FlagSet) runner {
			var out outputFlags
			out.add(f)
			return func(_ context.Context, s *shell, _ []string) error { return listPolicies(s, &out) }
		},
	}
}

func listPolicies(s *shell, out *outputFlags) error {
	var list []policyRow
	var rows [][]cell
	for _, d := range policy.Policies() {
		list = append(list, policyRow{d.Name, d.Summary, d.Paper, d.NeedsProfile})
		paper, profiles := d.Paper, "no"
		if paper == "" {
			paper = "baseline"
		}
		if d.NeedsProfile {
			profiles = "yes"
		}
		rows = append(rows, []cell{{text: d.Name, hue: bold}, text(profiles), text(paper), text(d.Summary)})
	}
	return out.print(s, list, func(p *page) {
		p.table([]string{"Policy", "Profiles", "Source", "What it does"}, rows)
	})
}
