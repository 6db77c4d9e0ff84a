package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func jobStripCommand() *command {
	return &command{
		name: "job strip", arguments: "JOB", synopsis: "Remove what the placer added to a job",
		about:   "Removes the constraints, affinities and the page that the placer added to a job; the user's own stay. Nomad may then move its allocations at the next update.",
		example: "nomad-placer job strip cache",
		minArgs: 1, maxArgs: 1, complete: fromRecords(nomadJobs),
		setup: func(f *flag.FlagSet) runner {
			var nomad nomadFlags
			var out outputFlags
			nomad.add(f)
			nomad.addPools(f)
			out.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
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
