package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// jobEdit is a command that changes one job of Nomad and needs no running agent.
type jobEdit struct {
	edit            func(*nomadapi.World, context.Context, cluster.JobID) (cluster.PlanResult, error)
	done, unchanged string // sentences without a full stop, %s is the job
}

// editReport is what -json prints of a change to a job.
type editReport struct {
	Job         cluster.JobID `json:"job"`
	Changed     bool          `json:"changed"`
	Version     uint64        `json:"version"`
	ModifyIndex uint64        `json:"modify_index"`
}

func (e jobEdit) command(c command.Command) *command.Command {
	c.Arguments, c.MinArgs, c.MaxArgs, c.Complete = "JOB", 1, 1, fromRecords(nomadJobs)
	c.Setup = func(f *flag.FlagSet) command.Runner {
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
			result, err := e.edit(world, ctx, id)
			if err != nil {
				return err
			}
			report := editReport{id, !result.Unchanged, result.Version, result.ModifyIndex}
			return out.Print(s, report, func(p *command.Page) { e.page(p, id.ID, result) })
		}
	}
	return &c
}

func (e jobEdit) page(p *command.Page, job string, result cluster.PlanResult) {
	if result.Unchanged {
		p.Line(command.Text(fmt.Sprintf(e.unchanged, job) + "."))
		return
	}
	p.Line(command.Text(fmt.Sprintf(e.done, job) + fmt.Sprintf(": version %d.", result.Version)))
}
