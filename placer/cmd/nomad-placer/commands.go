package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/cli"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
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
		rebalanceCommand(),
		simFiguresCommand(),
		simLeagueCommand(),
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

// rootFlags are what may stand before the command.
var rootFlags = []string{"h", "help", "v", "version", "autocomplete-install", "autocomplete-uninstall"}

// misuse finds an unknown command or a flag before the command; nil leaves the
// rest to the cli package.
func misuse(args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if !slices.Contains(rootFlags, strings.TrimLeft(args[0], "-")) {
			return withHint(usageError("unknown option %s before the command", args[0]), "options follow the command: nomad-placer <command> [options]")
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return nil
	}
	var names, within []string // all commands, and those of the family
	for _, c := range commands() {
		first, second, nested := strings.Cut(c.name, " ")
		if nested && first == args[0] {
			within = append(within, second)
		}
		names = append(names, first)
	}
	if !slices.Contains(names, args[0]) {
		return unknownCommand("", args[0], slices.Compact(names))
	}
	if len(within) > 0 && len(args) > 1 && !strings.HasPrefix(args[1], "-") && !slices.Contains(within, args[1]) {
		return unknownCommand(args[0]+" ", args[1], within)
	}
	return nil
}

func unknownCommand(family, name string, known []string) error {
	err := usageError("unknown command %q", family+name)
	if near := jobhcl.Nearest(name, known); near != "" {
		return withHint(err, fmt.Sprintf("did you mean \"nomad-placer %s%s\"?", family, near))
	}
	return withHint(err, fmt.Sprintf("nomad-placer %s-help lists the commands", family))
}

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
	b.WriteString("\nEvery command takes -help. nomad-placer -autocomplete-install sets up completion in your shell.\n\n")
	b.WriteString(exitHelp(true))
	return b.String()
}
