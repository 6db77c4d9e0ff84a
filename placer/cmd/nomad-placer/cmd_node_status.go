package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func nodeStatusCommand() *command.Command {
	return &command.Command{
		Name: "node status", Arguments: "NODE", Synopsis: "Show one node: room, headroom, residents",
		About:   "Prints what is free on a node, its headroom and pressure per source, and its residents. NODE is a name, or an ID that may be cut short.",
		Example: "nomad-placer node status alpha",
		MinArgs: 1, MaxArgs: 1, Complete: fromRecords(nodeNames),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				nodes, err := readNodes(ctx, s, &from)
				if err != nil {
					return err
				}
				n, err := pickNode(nodes, args[0])
				if err != nil {
					return err
				}
				return out.Print(s, n, func(p *command.Page) { nodePage(p, n) })
			}
		},
	}
}

func pickNode(nodes []cluster.NodeRecord, wanted string) (cluster.NodeRecord, error) {
	var found []cluster.NodeRecord
	for _, n := range nodes {
		if n.Node.Name == wanted || strings.HasPrefix(string(n.Node.ID), wanted) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return cluster.NodeRecord{}, command.WithHint(fmt.Errorf("node %s: %w", wanted, cluster.ErrNoRecord), "nomad-placer node list shows all nodes")
	case 1:
		return found[0], nil
	default:
		return cluster.NodeRecord{}, fmt.Errorf("node %s: %d nodes match; give more of the ID", wanted, len(found))
	}
}

func nodePage(p *command.Page, n cluster.NodeRecord) {
	p.Line(command.Heading(n.Node.Name), command.Cell{Text: string(n.Node.ID), Hue: command.Faint}, readyCell(n.Node))
	p.Line()
	p.Fact("Class", orNone(n.Node.Class))
	p.Fact("Config.", orNone(n.Node.Configuration))
	p.Fact("Pool", n.Node.Pool+", datacenter "+n.Node.Datacenter)
	kernels := "yes"
	if !n.Node.Kernels {
		kernels = "no: the ibench driver is missing, unhealthy or not allowed to profile, so nothing is profiled here"
	}
	p.Fact("Kernels", kernels)
	p.Section("Room")
	p.Table([]string{"Resource", "Used", "Total"}, [][]command.Cell{
		roomRow("CPU, MHz", n.Used.CPUMHz, n.Node.Total.CPUMHz),
		roomRow("Reserved cores", n.Used.Cores, n.Node.Total.Cores),
		roomRow("Memory, MiB", n.Used.MemoryMB, n.Node.Total.MemoryMB),
		roomRow("Disk, MiB", n.Used.DiskMB, n.Node.Total.DiskMB),
	})
	if n.Disk != nil {
		p.Line(command.Text("  Disk bandwidth: " + wording.DiskRecord(*n.Disk)))
	}
	headroomTable(p, n)
	p.Section("Residents")
	if len(n.Residents) == 0 {
		p.Line(command.Text("  none"))
		return
	}
	rows := make([][]command.Cell, len(n.Residents))
	for i, r := range n.Residents {
		known := command.Text("known")
		if !r.Known {
			known = command.Cell{Text: "unknown", Hue: command.Warn}
		}
		rows[i] = []command.Cell{command.Text(r.Workload.String()), command.Number(fmt.Sprint(r.Allocations)), known, command.Text(wording.Resources(r.Resources))}
	}
	p.Table([]string{"Workload", "Allocations", "Scores", "Resources"}, rows)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func roomRow(what string, used, total int) []command.Cell {
	return []command.Cell{command.Text(what), command.Number(wording.Number(float64(used))), command.Number(wording.Number(float64(total)))}
}

func headroomTable(p *command.Page, n cluster.NodeRecord) {
	p.Section("Headroom and pressure, points")
	if note := wording.AssumedNote(n); note != "" {
		p.Item(command.Warn, note)
	}
	var rows [][]command.Cell
	for _, info := range interference.Sources() {
		t, okT := n.Pressure.Tolerated[info.Source]
		c, okC := n.Pressure.Caused[info.Source]
		if okT || okC {
			rows = append(rows, []command.Cell{command.Text(info.Title), command.Text(scoreBar(t)), command.Number(wording.Score(t)), command.Text(scoreBar(c)), command.Number(wording.Score(c))})
		}
	}
	if len(rows) == 0 {
		p.Line(command.Text("  The pressure on this node is not known yet."))
		return
	}
	p.Table([]string{"Source", "Headroom", "", "Pressure", ""}, rows)
}
