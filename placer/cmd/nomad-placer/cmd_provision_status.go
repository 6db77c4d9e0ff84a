package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

func provisionStatusCommand() *command.Command {
	return &command.Command{
		Name: "provision status", Synopsis: "Show which nodes are rented, why each is kept, and what they cost",
		About:   "Asks an agent, whose configuration has the types and their prices: give its address with -placer-address or NOMAD_PLACER_ADDR. With access control on, the token must be one that may read nodes.",
		Example: "nomad-placer provision status -placer-address http://127.0.0.1:9464",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print whole node IDs.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				report, err := readProvision(ctx, s, &from)
				if err != nil {
					return err
				}
				return out.Print(s, report, func(p *command.Page) { provisionPage(p, report) })
			}
		},
	}
}

func readProvision(ctx context.Context, s *command.Shell, from *recordFlags) (provision.Report, error) {
	opened, err := from.open(s)
	if err != nil {
		return provision.Report{}, err
	}
	agent, ok := opened.(pageRecords)
	if !ok {
		return provision.Report{}, command.UsageError("types and prices are in the agent's configuration: give its address with -placer-address or NOMAD_PLACER_ADDR")
	}
	report, err := agent.Provision(ctx)
	if errors.Is(err, cluster.ErrNoRecord) {
		return report, errors.New("the agent rents no nodes: its configuration has no provision block, or it is of an earlier release")
	}
	return report, err
}

func provisionPage(p *command.Page, r provision.Report) {
	p.Fact("Strategy", r.Strategy)
	p.Fact("Cost now", wording.Money(r.PerHour)+" per hour")
	p.Fact("Cost today", wording.Money(r.Today)+" since midnight UTC")
	types := make([][]command.Cell, len(r.Types))
	for i, t := range r.Types {
		types[i] = []command.Cell{{Text: t.Name, Hue: command.Bold}, command.Text(t.NodeClass), command.Number(fmt.Sprint(t.Wanted)), command.Number(fmt.Sprint(t.Present))}
	}
	p.Table([]string{"Type", "Node class", "Wanted", "Present"}, types)
	if len(r.Nodes) == 0 {
		p.Line(command.Text("No node is rented now."))
	} else {
		nodes := make([][]command.Cell, len(r.Nodes))
		for i, n := range r.Nodes {
			nodes[i] = []command.Cell{{Text: n.Name, Hue: command.Bold}, {Text: cutID(p, cluster.NodeID(n.ID)), Hue: command.Faint}, command.Text(n.Type), nodeStateCell(n.State), command.Text(n.Why)}
		}
		p.Table([]string{"Node", "ID", "Type", "State", "Why"}, nodes)
	}
	spentByDay(p, r.Days)
}

// spentByDay is what rented nodes cost on each day that is known.
func spentByDay(p *command.Page, days []provision.DaySpend) {
	if len(days) == 0 {
		return // an earlier release says none
	}
	p.Section("Spent by day, UTC")
	rows := make([][]command.Cell, len(days))
	unseen := false
	for i, d := range days {
		hours := ""
		if d.UnseenHours > 0 {
			hours, unseen = wording.Number(d.UnseenHours), true
		}
		rows[i] = []command.Cell{command.Text(d.Day), command.Number(wording.Money(d.Spent)), command.Number(hours)}
	}
	p.Table([]string{"Day", "Spent", "Unseen hours"}, rows)
	if unseen {
		p.Item(command.Faint, "In unseen hours no agent looked; they are counted with what there was afterwards.")
	}
}

func nodeStateCell(s provision.NodeState) command.Cell {
	switch s {
	case provision.Serving:
		return command.Cell{Text: string(s), Hue: command.Good}
	case provision.Leaving:
		return command.Cell{Text: string(s), Hue: command.Warn}
	default:
		return command.Text(string(s))
	}
}
