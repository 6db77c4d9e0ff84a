package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func jobReleaseCommand() *command {
	return &command{
		name: "job release", arguments: "JOB", synopsis: "Release a held job under stock rules",
		about:   "Moves a held job into the run pool as it is, so that stock Nomad places it at once. It needs no running agent. A job that is not held stays as it is.",
		example: "nomad-placer job release cache",
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

func tellEdit(s *shell, out *outputFlags, id cluster.JobID, result cluster.PlanResult, done, unchanged string) error {
	report := editReport{id, !result.Unchanged, result.Version, result.ModifyIndex}
	return out.print(s, report, func(p *page) {
		if result.Unchanged {
			p.line(text(unchanged + "."))
			return
		}
		p.line(text(fmt.Sprintf("%s: version %d.", done, result.Version)))
	})
}
