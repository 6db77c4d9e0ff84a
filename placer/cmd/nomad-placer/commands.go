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
		Moved:    moved,
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
		aclPolicyCommand(),
		agentCommand(),
		checkCommand(),
		consolidatePlanCommand(),
		consolidateRecordCommand(),
		fleetCalibrateCommand(),
		fleetPairsCommand(),
		fleetProfileCommand(),
		jobExplainCommand(),
		jobPlanCommand(),
		jobReleaseCommand(),
		jobRunCommand(),
		jobStatusCommand(),
		jobStripCommand(),
		jobValidateCommand(),
		keysGenerateCommand(),
		nodeListCommand(),
		nodeStatusCommand(),
		policyListCommand(),
		profileExportCommand(),
		profileForgetCommand(),
		profileImportCommand(),
		profileListCommand(),
		profileShowCommand(),
		provisionStatusCommand(),
		provisionWhatIfCommand(),
		proxyCommand(),
		rebalanceCommand(),
		trafficCaptureCommand(),
		trafficCompareCommand(),
		trafficFitCommand(),
		trafficGenerateCommand(),
		trafficMapCommand(),
		trafficShowCommand(),
		twinCaptureCommand(),
		twinCompareCommand(),
		twinExportCommand(),
		twinFitCommand(),
		twinPairCommand(),
		twinPlayCommand(),
		twinShowCommand(),
		command.VersionCommand("nomad-placer"),
	}
}

// families are the words that only hold subcommands.
var families = map[string]string{
	"acl":         "Write the policies that the placer needs",
	"consolidate": "See which nodes will be short of disk bandwidth, and which can be emptied",
	"fleet":       "Calibrate nodes and measure workloads, as batch jobs on idle nodes",
	"job":         "Submit jobs with a performance block, and see what became of them",
	"keys":        "Make the keys with which agents sign",
	"node":        "See what room and headroom nodes have",
	"policy":      "See the placement policies",
	"profile":     "See, keep and forget what was measured of workloads",
	"provision":   "See which nodes are rented, what they cost, and what others would",
	"traffic":     "Model, regenerate and compare the network traffic of a cluster",
	"twin":        "Model the storage load of a workload, and generate it",
}

// moved are the commands that only research needs. They say where they went for
// one release (decision 0020).
var moved = []command.Moved{
	{Name: "dev", To: "go run ./e2e/cmd/workload, in the sources"},
	{Name: "profile evaluate", To: "nomad-placer-sim evaluate"},
	{Name: "sim", To: "nomad-placer-sim"},
}
