package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/fleet"
)

// calibrateLongest is the most seconds that the driver takes for a calibration.
const calibrateLongest = 600

// calibratedFleet is what `fleet calibrate -json` prints.
type calibratedFleet struct {
	*fleet.Report
	Nodes   []fleet.NodeCalibration `json:"nodes"`
	Spreads []fleet.Spread          `json:"spreads"`
}

func fleetCalibrateCommand() *command.Command {
	return &command.Command{
		Name: "fleet calibrate", Synopsis: "Calibrate the kernels of the nodes of a cluster",
		About: "Has the driver ibench of each node calibrate its kernels, as a batch job that asks for all that the node has left: nothing else is placed there meanwhile, and nobody is sent away. A node on which others run is left out, or waited for. " +
			"Drivers keep the result; it is kept here, too, and nodes of one configuration are compared.\n\n" +
			"The operator of a node allows this by \"calibrate\" in the driver's option allow.\n\n" +
			"An interrupted campaign removes its jobs, and the same command goes on where it was. The exit code is 1 if a node was left out.",
		Example: "nomad-placer fleet calibrate -class large\nnomad-placer fleet calibrate -node alpha -wait 1h -json",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c fleetFlags
			c.add(f)
			seconds := f.Int("seconds", 0, "How many `seconds` a node should take; 0 is about 80. Less time repeats less.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				if *seconds < 0 || *seconds > calibrateLongest {
					return command.UsageError("-seconds is from 0 to %d", calibrateLongest)
				}
				m, err := c.begin(ctx, s)
				if err != nil {
					return err
				}
				report, err := m.run(ctx, fleet.Calibrations(m.world, m.nodes, *seconds))
				if err != nil {
					return err
				}
				out := calibratedFleet{Report: report}
				if out.Nodes, out.Spreads, err = fleet.Compare(report); err != nil {
					return err
				}
				return m.print(report, out, func(p *command.Page) { calibratedPage(p, &out) })
			}
		},
	}
}

func calibratedPage(p *command.Page, c *calibratedFleet) {
	if len(c.Nodes) > 0 {
		var rows [][]command.Cell
		for _, n := range c.Nodes {
			of := map[string]int{}
			var bent []string
			for _, k := range n.Calibration.Kernels {
				if of[k.Status]++; k.Status == "nonlinear" {
					bent = append(bent, string(k.Source))
				}
			}
			rows = append(rows, []command.Cell{
				{Text: n.Node, Hue: command.Bold}, command.Text(n.Configuration), command.Number(strconv.Itoa(of["supported"])),
				command.Text(strings.Join(bent, ", ")), command.Number(strconv.Itoa(of["unsupported"])),
			})
		}
		p.Line()
		p.Table([]string{"Node", "Configuration", "Linear", "Not linear", "Unsupported"}, rows)
	}
	if len(c.Spreads) == 0 {
		p.Line(command.Text("\nNo configuration has two calibrated nodes that could be compared."))
		return
	}
	var rows [][]command.Cell
	for _, s := range c.Spreads {
		rows = append(rows, []command.Cell{
			command.Text(s.Configuration), command.Text(string(s.Source)), command.Number(strconv.Itoa(s.Nodes)),
			command.Number(fmt.Sprintf("%.1f %%", s.ApartPercent)), command.Text(fmt.Sprintf("%.4g on %s", s.Low, s.LowNode)), command.Text(fmt.Sprintf("%.4g on %s", s.High, s.HighNode)), command.Text(s.Unit + "/s"),
		})
	}
	p.Line(command.Text("\nHow far nodes of one configuration are apart, at the peak of each kernel:"))
	p.Table([]string{"Configuration", "Source", "Nodes", "Apart", "Lowest", "Highest", "Unit"}, rows)
}
