package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

func consolidatePlanCommand() *command.Command {
	return &command.Command{
		Name: "consolidate plan", Arguments: "[FILE...]", MaxArgs: math.MaxInt, Synopsis: "Show which nodes will be short of disk bandwidth, and which can be emptied",
		About: "Predicts what the allocations of every node will move to and from its disk in the next 30 minutes, from the last seven days and from now, and says where that is more than they tolerate, and what would have to leave. " +
			"FILE is what consolidate record wrote on a node; for a workload that is in none, what is promised to it is expected (disk { bandwidth = … } in its performance block). " +
			"A node can be emptied where every job on it says move = true, none of its data are in a host volume, other nodes that are in use have room for all, and Nomad copies the data within 30 minutes. Nothing is moved.",
		Example: "nomad-placer consolidate plan use-*.csv",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			from.addPools(f)
			out.Add(f)
			out.AddVerbose(f, "Print whole identifiers.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				return consolidatePlan(ctx, s, &from, &out, args)
			}
		},
	}
}

func consolidatePlan(ctx context.Context, s *command.Shell, from *recordFlags, out *command.OutputFlags, files []string) error {
	var uses []consolidate.Use
	for _, name := range files {
		more, err := readUses(name)
		if err != nil {
			return err
		}
		uses = append(uses, more...)
	}
	opened, err := from.open(s)
	if err != nil {
		return err
	}
	records, ok := opened.(engineRecords)
	if !ok {
		return errors.New("a plan needs Nomad itself: leave out -placer-address and NOMAD_PLACER_ADDR")
	}
	nodes, err := records.engine.Outlook(ctx, consolidate.Expect(uses, s.Now(), consolidate.PaperRules()))
	if err != nil {
		return err
	}
	if nodes == nil {
		nodes = []consolidate.Outlook{}
	}
	return out.Print(s, nodes, func(p *command.Page) { outlookPage(p, nodes) })
}

func readUses(name string) ([]consolidate.Use, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read: nothing can be lost
	uses, err := consolidate.ReadUses(name, f)
	if err != nil {
		return nil, command.WithHint(err, "consolidate record writes what can be read here")
	}
	return uses, nil
}

func outlookPage(p *command.Page, nodes []consolidate.Outlook) {
	if len(nodes) == 0 {
		p.Line(command.Text("Nomad has no nodes."))
		return
	}
	var rows [][]command.Cell
	for _, n := range nodes {
		rows = append(rows, []command.Cell{
			{Text: n.Name, Hue: command.Bold}, {Text: cutID(p, n.Node), Hue: command.Faint},
			command.Number(diskRate(n, n.RatedMBPerSec)), command.Number(diskRate(n, n.MostMBPerSec)), expectedCell(n), emptyCell(n),
		})
	}
	p.Table([]string{"Node", "ID", "Disk, MB/s", "May be used", "Expected", "Can be emptied"}, rows)
	for _, n := range nodes {
		outlookDetail(p, n)
	}
}

func diskRate(n consolidate.Outlook, v float64) string {
	if n.Problem != "" {
		return "?"
	}
	return wording.Number(v)
}

func expectedCell(n consolidate.Outlook) command.Cell {
	if n.Problem != "" {
		return command.Number("?")
	}
	cell := command.Number(wording.Number(n.ExpectedMBPerSec))
	if n.Unknown > 0 {
		cell.Text = "at least " + cell.Text
	}
	if n.Short {
		cell.Hue = command.Bad
	}
	return cell
}

func emptyCell(n consolidate.Outlook) command.Cell {
	switch {
	case n.Empty:
		return command.Cell{Text: "is empty", Hue: command.Good}
	case len(n.Free) > 0:
		return command.Cell{Text: "yes", Hue: command.Good}
	default:
		return command.Text("no: " + n.Stays)
	}
}

// outlookDetail is what a table has no room for.
func outlookDetail(p *command.Page, n consolidate.Outlook) {
	switch {
	case n.Short && len(n.Leave) > 0:
		p.Item(command.Bad, fmt.Sprintf("%s will be short of %s MB/s; first to go: %s", n.Name, wording.Number(n.ExpectedMBPerSec-n.MostMBPerSec), leaversText(n.Leave)))
	case n.Short:
		p.Item(command.Bad, fmt.Sprintf("%s will be short of %s MB/s, and nothing on it may leave", n.Name, wording.Number(n.ExpectedMBPerSec-n.MostMBPerSec)))
	}
	if n.Unknown > 0 {
		p.Item(command.Warn, fmt.Sprintf("%s has %s whose use of the disk is not known", n.Name, wording.Count(n.Unknown, "allocation")))
	}
	if len(n.Free) > 0 {
		p.Item(command.Good, fmt.Sprintf("%s can be emptied: %s", n.Name, leaversText(n.Free)))
	}
	if n.Problem != "" {
		p.Item(command.Faint, n.Name+": "+n.Problem)
	}
}

func leaversText(of []consolidate.Leaver) string {
	var out []string
	for _, l := range of {
		text := l.Workload.Job + " / " + l.Workload.Group
		if l.ToName != "" {
			text += " to " + l.ToName
		}
		if l.CopiedMB > 0 {
			text += fmt.Sprintf(" (%d MB are copied)", l.CopiedMB)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
