package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func jobStripCommand() *command.Command {
	return &command.Command{
		Name: "job strip", Arguments: "JOB", Synopsis: "Remove what the placer added to a job",
		About:   "Removes the constraints, affinities and the page that the placer added to a job; the user's own stay. Nomad may then move its allocations at the next update.",
		Example: "nomad-placer job strip cache",
		MinArgs: 1, MaxArgs: 1, Complete: fromRecords(nomadJobs),
		Setup: func(f *flag.FlagSet) command.Runner {
			var nomad nomadFlags
			var out command.OutputFlags
			nomad.add(f)
			nomad.addPools(f)
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				world, err := nomad.world()
				if err != nil {
					return err
				}
				id := cluster.JobID{Namespace: nomad.jobNamespace(s), ID: args[0]}
				result, err := world.StripJob(ctx, id)
				if err != nil {
					return err
				}
				return tellEdit(s, &out, id, result, "Job "+args[0]+" is stripped", "The placer has added nothing to job "+args[0])
			}
		},
	}
}
