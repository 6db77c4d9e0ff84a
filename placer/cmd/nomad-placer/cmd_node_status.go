package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func nodeStatusCommand() *command {
	return &command{
		name: "node status", arguments: "NODE", synopsis: "Show one node: room, headroom, residents",
		about:   "Prints what is free on a node, its headroom and pressure per source, and its residents. NODE is a name, or an ID that may be cut short.",
		example: "nomad-placer node status alpha",
		minArgs: 1, maxArgs: 1, complete: fromRecords(nodeNames),
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			var out outputFlags
			from.add(f)
			out.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
				nodes, err := readNodes(ctx, s, &from)
				if err != nil {
					return err
				}
				n, err := pickNode(nodes, args[0])
				if err != nil {
					return err
				}
				return out.print(s, n, func(p *page) { nodePage(p, n) })
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
		return cluster.NodeRecord{}, withHint(fmt.Errorf("node %s: %w", wanted, cluster.ErrNoRecord), "nomad-placer node list shows all nodes")
	case 1:
		return found[0], nil
	default:
		return cluster.NodeRecord{}, fmt.Errorf("node %s: %d nodes match; give more of the ID", wanted, len(found))
	}
}

func nodePage(p *page, n cluster.NodeRecord) {
	p.line(heading(n.Node.Name), cell{text: string(n.Node.ID), hue: faint}, readyCell(n.Node))
	p.line()
	p.fact("Class", orNone(n.Node.Class))
	p.fact("Config.", orNone(n.Node.Configuration))
	p.fact("Pool", n.Node.Pool+", datacenter "+n.Node.Datacenter)
	kernels := "yes"
	if !n.Node.Kernels {
		kernels = "no: the ibench driver is missing or unhealthy, so nothing can be profiled here"
	}
	p.fact("Kernels", kernels)
	p.section("Room")
	p.table([]string{"Resource", "Used", "Total"}, [][]cell{
		roomRow("CPU, MHz", n.Used.CPUMHz, n.Node.Total.CPUMHz),
		roomRow("Reserved cores", n.Used.Cores, n.Node.Total.Cores),
		roomRow("Memory, MiB", n.Used.MemoryMB, n.Node.Total.MemoryMB),
		roomRow("Disk, MiB", n.Used.DiskMB, n.Node.Total.DiskMB),
	})
	headroomTable(p, n)
	p.section("Residents")
	if len(n.Residents) == 0 {
		p.line(text("  none"))
		return
	}
	rows := make([][]cell, len(n.Residents))
	for i, r := range n.Residents {
		known := text("known")
		if !r.Known {
			known = cell{text: "unknown", hue: warn}
		}
		rows[i] = []cell{text(r.Workload.String()), number(fmt.Sprint(r.Allocations)), known, text(wording.Resources(r.Resources))}
	}
	p.table([]string{"Workload", "Allocations", "Scores", "Resources"}, rows)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func roomRow(what string, used, total int) []cell {
	return []cell{text(what), number(wording.Number(float64(used))), number(wording.Number(float64(total)))}
}

func headroomTable(p *page, n cluster.NodeRecord) {
	p.section("Headroom and pressure, points")
	if note := wording.AssumedNote(n); note != "" {
		p.item(warn, note)
	}
	var rows [][]cell
	for _, info := range interference.Sources() {
		t, okT := n.Pressure.Tolerated[info.Source]
		c, okC := n.Pressure.Caused[info.Source]
		if okT || okC {
			rows = append(rows, []cell{text(info.Title), text(scoreBar(t)), number(wording.Score(t)), text(scoreBar(c)), number(wording.Score(c))})
		}
	}
	if len(rows) == 0 {
		p.line(text("  The pressure on this node is not known yet."))
		return
	}
	p.table([]string{"Source", "Headroom", "", "Pressure", ""}, rows)
}
