package main

import "flag"

// nomadPlacer is the program with its subcommands.
func nomadPlacer() *program {
	return &program{
		name:     "nomad-placer",
		summary:  "Places Nomad jobs by what they must achieve instead of what they reserve.",
		families: families,
		commands: commands(),
		shared: []sharedFlags{
			{title: "Nomad options", add: func(f *flag.FlagSet) { new(nomadFlags).add(f) }},
			{title: "Options of the placer's records", add: func(f *flag.FlagSet) { new(recordFlags).addOwn(f) }},
		},
		values: valuePredictors,
		hint:   nomadHint,
	}
}

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
		versionCommand("nomad-placer"),
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
