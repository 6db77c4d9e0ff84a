// Command workload is what demos, evaluations and measurements run: a load
// generator for redis and HTTP servers, and a loop that makes a measurable
// workload of any program. The work is in package e2e/load.
package main

import "github.com/nomad-placer/nomad-placer/placer/command"

func main() { workload().Main() }

// workload is the program with its subcommands.
func workload() *command.Program {
	return &command.Program{
		Name:     "workload",
		Summary:  "Loads servers, and runs programs as endless, measurable workloads.",
		Commands: []*command.Command{loadCommand(), loopCommand()},
	}
}
