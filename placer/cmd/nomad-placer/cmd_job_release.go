package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func jobReleaseCommand() *command.Command {
	return &command.Command{
		Name: "job release", Arguments: "JOB", Synopsis: "Release a held job under stock rules",
		About:   "Moves a held job into the run pool as it is, so that stock Nomad places it at once. It needs no running agent. A job that is not held stays as it is.",
		Example: "nomad-placer job release cache",
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
				result, err := world.ReleaseJob(ctx, id)
				if err != nil {
					return err
				}
				return tellEdit(s, &out, id, result, "Job "+args[0]+" is released", "Job "+args[0]+" is not held; nothing was changed")
			}
		},
	}
}

// editReport is what -json prints of a change to a job.
type editReport struct {
	Job         cluster.JobID `json:"job"`
	Changed     bool          `json:"changed"`
	Version     uint64        `json:"version"`
	ModifyIndex uint64        `json:"modify_index"`
}

func tellEdit(s *command.Shell, out *command.OutputFlags, id cluster.JobID, result cluster.PlanResult, done, unchanged string) error {
	report := editReport{id, !result.Unchanged, result.Version, result.ModifyIndex}
	return out.Print(s, report, func(p *command.Page) {
		if result.Unchanged {
			p.Line(command.Text(unchanged + "."))
			return
		}
		p.Line(command.Text(fmt.Sprintf("%s: version %d.", done, result.Version)))
	})
}
