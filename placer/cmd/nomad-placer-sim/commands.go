package main

import "github.com/nomad-placer/nomad-placer/placer/command"

const programName = "nomad-placer-sim"

// simulator is the program with its subcommands.
func simulator() *command.Program {
	return &command.Program{
		Name:     programName,
		Summary:  "Compares placement policies on simulated clusters, and reads what others measured.",
		Commands: commands(),
	}
}

// commands is the table of subcommands, sorted by name.
func commands() []*command.Command {
	return []*command.Command{
		calibrateCommand(),
		consolidateCommand(),
		dayCommand(),
		evaluateCommand(),
		figuresCommand(),
		headroomCommand(),
		importCommand(),
		leagueCommand(),
		listCommand(),
		profilingCommand(),
		runCommand(),
		unitCommand(),
		validateCommand(),
		command.VersionCommand(programName),
	}
}
