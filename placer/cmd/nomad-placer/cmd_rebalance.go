package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func rebalanceCommand() *command {
	return &command{
		name: "rebalance", synopsis: "Move running jobs to where they reach their targets better",
		about:   "Lists the allocations that would reach their target better on another node, with the reason for each, and moves those whose job allows it: performance { move = true }. The others are advice. A workload that was measured at its target stays where it is. With -dry-run nothing is moved.",
		example: "nomad-placer rebalance -dry-run",
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			var out outputFlags
			from.add(f)
			from.addPools(f)
			out.add(f)
			out.addVerbose(f, "Print whole identifiers.")
			dry := f.Bool("dry-run", false, "List the moves only.")
			return func(ctx context.Context, s *shell, _ []string) error { return rebalance(ctx, s, &from, &out, *dry) }
		},
	}
}

func rebalance(ctx context.Context, s *shell, from *recordFlags, out *outputFlags, dry bool) error {
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
	return out.print(s, moves, func(p *page) { relocationPage(p, moves, dry) })
}

func relocationPage(p *page, moves []cluster.Relocation, dry bool) {
	if len(moves) == 0 {
		p.line(text("Every workload is where it should be."))
		return
	}
	for _, m := range moves {
		p.line(heading(m.Workload.Job+" / "+m.Workload.Group), relocationCell(m, dry))
		p.fact("Allocation", cutID(p, cluster.NodeID(m.Allocation)))
		p.fact("From", m.FromName)
		p.fact("To", m.ToName)
		p.fact("Why", m.Reason)
	}
}

func relocationCell(m cluster.Relocation, dry bool) cell {
	switch {
	case !m.Allowed:
		return cell{text: "advice: its performance block does not say move = true", hue: warn}
	case dry:
		return cell{text: "would be moved"}
	case m.Result == cluster.ActionDone:
		return cell{text: "moved", hue: good}
	default:
		return cell{text: fmt.Sprintf("stays: %s", m.Result), hue: bad}
	}
}
