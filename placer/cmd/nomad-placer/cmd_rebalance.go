package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func rebalanceCommand() *command.Command {
	return &command.Command{
		Name: "rebalance", Synopsis: "Move running jobs to where they reach their targets better",
		About:   "Lists the allocations that would reach their target better on another node, with the reason for each, and moves those whose job allows it: performance { move = true }. The others are advice. A workload that was measured at its target stays where it is. With -dry-run nothing is moved.",
		Example: "nomad-placer rebalance -dry-run",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			from.addPools(f)
			out.Add(f)
			out.AddVerbose(f, "Print whole identifiers.")
			dry := f.Bool("dry-run", false, "List the moves only.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				return rebalance(ctx, s, &from, &out, *dry)
			}
		},
	}
}

func rebalance(ctx context.Context, s *command.Shell, from *recordFlags, out *command.OutputFlags, dry bool) error {
	opened, err := from.open(s)
	if err != nil {
		return err
	}
	records, ok := opened.(engineRecords)
	if !ok {
		return errors.New("rebalancing needs Nomad itself: leave out -placer-address and NOMAD_PLACER_ADDR")
	}
	moves, err := records.engine.Rebalance(ctx, !dry)
	if err != nil {
		return err
	}
	if moves == nil {
		moves = []cluster.Relocation{}
	}
	return out.Print(s, moves, func(p *command.Page) { relocationPage(p, moves, dry) })
}

func relocationPage(p *command.Page, moves []cluster.Relocation, dry bool) {
	if len(moves) == 0 {
		p.Line(command.Text("Every workload is where it should be."))
		return
	}
	for _, m := range moves {
		p.Line(command.Heading(m.Workload.Job+" / "+m.Workload.Group), relocationCell(m, dry))
		p.Fact("Allocation", cutID(p, cluster.NodeID(m.Allocation)))
		p.Fact("From", m.FromName)
		p.Fact("To", m.ToName)
		p.Fact("Why", m.Reason)
	}
}

func relocationCell(m cluster.Relocation, dry bool) command.Cell {
	switch {
	case !m.Allowed:
		return command.Cell{Text: "advice: its performance block does not say move = true", Hue: command.Warn}
	case dry:
		return command.Cell{Text: "would be moved"}
	case m.Result == cluster.ActionDone:
		return command.Cell{Text: "moved", Hue: command.Good}
	default:
		return command.Cell{Text: fmt.Sprintf("stays: %s", m.Result), Hue: command.Bad}
	}
}
