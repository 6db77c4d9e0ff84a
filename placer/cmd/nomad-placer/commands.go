package main

import (
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// nomadPlacer is the program with its subcommands.
func nomadPlacer() *command.Program {
	return &command.Program{
		Name:     "nomad-placer",
		Summary:  "Places Nomad jobs by what they must achieve instead of what they reserve.",
		Families: families,
		Commands: commands(),
		Shared: []command.SharedFlags{
			{Title: "Nomad options", Add: func(f *flag.FlagSet) { new(nomadFlags).add(f) }},
			{Title: "Options of the placer's records", Add: func(f *flag.FlagSet) { new(recordFlags).addOwn(f) }},
		},
		Values: valuePredictors,
		Hint:   nomadHint,
	}
}

// commands is the table of subcommands, sorted by name.
func commands() []*command.Command {
	return []*command.Command{
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
		command.VersionCommand("nomad-placer"),
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
