package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func nodeListCommand() *command.Command {
	return &command.Command{
		Name: "node list", Synopsis: "List nodes with headroom and pressure per source",
		About:   "Lists every node. Each source shows headroom/pressure in points: headroom is the least pressure any resident tolerates, so what a newcomer may exert; pressure is the sum the residents exert, so what a newcomer must tolerate. A ~ marks nodes with residents whose scores are unknown and therefore assumed.",
		Example: "nomad-placer node list",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print whole node IDs.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				nodes, err := readNodes(ctx, s, &from)
				if err != nil {
					return err
				}
				return out.Print(s, nodes, func(p *command.Page) { nodeTable(p, nodes) })
			}
		},
	}
}

func readNodes(ctx context.Context, s *command.Shell, from *recordFlags) ([]cluster.NodeRecord, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(nodes, func(a, b cluster.NodeRecord) int {
		return cmp.Or(cmp.Compare(a.Node.Name, b.Node.Name), cmp.Compare(a.Node.ID, b.Node.ID))
	})
	return nodes, nil
}

func nodeTable(p *command.Page, nodes []cluster.NodeRecord) {
	if len(nodes) == 0 {
		p.Line(command.Text("Nomad has no nodes."))
		return
	}
	columns := knownColumns(nodes)
	header := []string{"Node", "ID", "Configuration", "State", "Residents"}
	for _, c := range columns {
		header = append(header, string(c))
	}
	rows := make([][]command.Cell, len(nodes))
	for i, n := range nodes {
		rows[i] = []command.Cell{{Text: n.Node.Name, Hue: command.Bold}, {Text: cutID(p, n.Node.ID), Hue: command.Faint}, command.Text(n.Node.Configuration), readyCell(n.Node), command.Number(fmt.Sprint(len(n.Residents)))}
		for _, c := range columns {
			rows[i] = append(rows[i], pressureCell(n, c))
		}
	}
	p.Table(header, rows)
}

// cutID is the part of an ID that Nomad shows, or all of it.
func cutID(p *command.Page, id cluster.NodeID) string {
	if p.Verbose {
		return string(id)
	}
	return string(id[:min(8, len(id))])
}

func readyCell(n cluster.Node) command.Cell {
	if n.Ready {
		return command.Cell{Text: "ready", Hue: command.Good}
	}
	return command.Cell{Text: "not ready", Hue: command.Warn}
}

// knownColumns are the sources of which at least one node says something.
func knownColumns(nodes []cluster.NodeRecord) []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources() {
		if slices.ContainsFunc(nodes, func(n cluster.NodeRecord) bool {
			return n.Pressure.Tolerated[info.Source].Score.Known() || n.Pressure.Caused[info.Source].Score.Known()
		}) {
			out = append(out, info.Source)
		}
	}
	return out
}

// lowRoom is the room below which a cell is coloured.
const lowRoom = 20

// pressureCell marks with ~ what rests on assumed scores.
func pressureCell(n cluster.NodeRecord, s interference.Source) command.Cell {
	t, okT := n.Pressure.Tolerated[s].Score.Percent()
	c, okC := n.Pressure.Caused[s].Score.Percent()
	out := command.Number(whole(t, okT) + "/" + whole(c, okC))
	if wording.Assumed(n) > 0 {
		out.Text = "~" + out.Text
	}
	if okT && okC && min(t, 100-c) < lowRoom {
		out.Hue = command.Bad
	}
	return out
}

func whole(v float64, known bool) string {
	if !known {
		return "?"
	}
	return fmt.Sprintf("%.0f", v)
}
