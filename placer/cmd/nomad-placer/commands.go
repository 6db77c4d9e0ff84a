package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/cli"
)

// commands is the table of subcommands, sorted by name.
func commands() []*command {
	return []*command{
		agentCommand(),
		devLoadCommand(),
		devLoopCommand(),
		jobExplainCommand(),
		jobPlanCommand(),
		jobReleaseCommand(),
		jobRunCommand(),
		jobStatusCommand(),
		jobStripCommand(),
		jobValidateCommand(),
		nodeListCommand(),
		nodeStatusCommand(),
		policyListCommand(),
		profileEvaluateCommand(),
		profileExportCommand(),
		profileImportCommand(),
		profileListCommand(),
		profileShowCommand(),
		proxyCommand(),
		simFiguresCommand(),
		simListCommand(),
		simRunCommand(),
		simValidateCommand(),
		versionCommand(),
	}
}

// families are the words that only hold subcommands.
var families = map[string]string{
	"dev":     "Tools for trying things out",
	"job":     "Submit jobs with a performance block, and see what became of them",
	"node":    "See what room and headroom nodes have",
	"policy":  "See the placement policies",
	"profile": "See what was measured of workloads, and import what others measured",
	"sim":     "Compare policies on a simulated cluster",
}

func factories(ctx context.Context, s *shell) map[string]cli.CommandFactory {
	out := map[string]cli.CommandFactory{}
	for name, synopsis := range families {
		out[name] = func() (cli.Command, error) { return family{name, synopsis}, nil }
	}
	for _, c := range commands() {
		out[c.name] = func() (cli.Command, error) { return &bound{c, ctx, s}, nil }
	}
	return out
}

// family is a command that only lists its subcommands; the cli package adds
// the list.
type family struct{ name, synopsis string }

func (f family) Help() string {
	return fmt.Sprintf("Usage: nomad-placer %s <subcommand> [options]\n\n  %s.", f.name, f.synopsis)
}
func (f family) Synopsis() string { return f.synopsis }
func (f family) Run([]string) int { return cli.RunResultHelp }

// helpOf is the page of `nomad-placer` without a subcommand.
func helpOf(all map[string]cli.CommandFactory) string {
	var names []string
	for name := range all {
		if !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("Usage: nomad-placer <command> [options]\n\n")
	b.WriteString("Places Nomad jobs by what they must achieve instead of what they reserve.\n\nCommands:\n")
	for _, name := range names {
		c, err := all[name]()
		if err != nil {
			continue // our factories do not fail
		}
		fmt.Fprintf(&b, "    %-9s %s\n", name, c.Synopsis())
	}
	b.WriteString("\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 the job runs but stock Nomad\nplaced it, 130 interrupted. Every command takes -help.\n")
	return strings.TrimSuffix(b.String(), "\n")
}
