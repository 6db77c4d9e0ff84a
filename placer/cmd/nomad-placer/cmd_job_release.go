package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func jobReleaseCommand() *command {
	return &command{
		name: "job release", arguments: "JOB", synopsis: "Free a held job under stock rules",
		about:   "Moves a held job into the run pool as it is, so that stock Nomad places it at once. It needs no running agent. A job that is not held stays as it is.",
		minArgs: 1, maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			var nomad nomadFlags
			nomad.add(f)
			nomad.addPools(f)
			return func(ctx context.Context, s *shell, args []string) error {
				world, err := nomad.world()
				if err != nil {
					return err
				}
				result, err := world.ReleaseJob(ctx, cluster.JobID{Namespace: nomad.jobNamespace(s), ID: args[0]})
				if err != nil {
					return err
				}
				return tellEdit(s, result, "Job "+args[0]+" is released", "Job "+args[0]+" is not held; nothing was changed")
			}
		},
	}
}

func tellEdit(s *shell, result cluster.PlanResult, done, unchanged string) error {
	line := fmt.Sprintf("%s: version %d", done, result.Version)
	if result.Unchanged {
		line = unchanged
	}
	_, err := fmt.Fprintln(s.out, line+".")
	return err
}
