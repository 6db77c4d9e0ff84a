package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// trafficShow is one run of the command with its flags.
type trafficShow struct {
	from   trafficFlags
	out    command.OutputFlags
	server int
	page   string
}

func trafficShowCommand() *command.Command {
	return &command.Command{
		Name: "traffic show", Arguments: "[FILE]", MaxArgs: 1, Synopsis: "Show what is in a model, or what traffic looks like",
		About: "Of a model: its cluster, windows and transitions. Of traffic: how much of it stays in the rack, the load over the day and at the weekend, the servers with the most traffic and with the most peers; with -report also maps over time, of servers and of racks. " +
			"With -server, what one server has over time, as a sum of known shapes.",
		Example: "nomad-placer traffic show cluster.echo\n" +
			"nomad-placer traffic show -report traffic.html traffic.csv",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c trafficShow
			c.from.add(f)
			c.out.Add(f)
			f.IntVar(&c.server, "server", -1, "Show the curve of this server, by its number from 0. -1 is none.")
			f.StringVar(&c.page, "report", "", "Write an HTML page with pictures of the traffic to this `file`.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				if err := c.from.checkArguments(args, 0, "FILE"); err != nil {
					return err
				}
				return c.run(ctx, s, append(args, "")[0])
			}
		},
	}
}

func (c *trafficShow) run(ctx context.Context, s *command.Shell, path string) error {
	if c.from.synthetic == "" {
		m, err := readTrafficModel(path)
		switch {
		case err == nil:
			return c.showModel(s, m)
		case !errors.Is(err, errNoModel):
			return err
		}
	}
	return c.showTraffic(ctx, s, path)
}

// shownModel is what -json prints of a model.
type shownModel struct {
	trafficFitReport
	Levels int                    `json:"levels"`
	Flat   bool                   `json:"flat"`
	Method string                 `json:"method,omitempty"`
	Curve  *network.Superposition `json:"curve,omitempty"`
}

func (c *trafficShow) showModel(s *command.Shell, m *network.Model) error {
	if c.page != "" {
		return command.UsageError("-report shows traffic, and this is a model: traffic generate makes traffic of it")
	}
	_, cloud := m.Topology.Cloud()
	shown := shownModel{Levels: int(m.Levels), Flat: m.Flat, Method: m.Capture.Method, trafficFitReport: trafficFitReportOf(m, trafficReport{
		Source: "a model of " + wording.Duration(m.Capture.To-m.Capture.From), Servers: m.Topology.Servers(), Racks: m.Topology.Racks(), Groups: m.Topology.Groups(), Cloud: cloud,
		FromSeconds: m.Capture.From.Seconds(), ToSeconds: m.Capture.To.Seconds(), BinSeconds: m.Capture.Bin.Seconds(), MissingBins: m.Capture.MissingBins,
	})}
	var err error
	if shown.FileBytes, err = m.Bytes(); err != nil {
		return err
	}
	if c.server >= 0 {
		if c.server >= len(m.Servers) {
			return command.WithHint(fmt.Errorf("the model has the curves of %s", wording.Count(len(m.Servers), "server")), "traffic fit -curves fits them; servers are numbered from 0")
		}
		shown.Curve = &m.Servers[c.server]
	}
	return c.out.Print(s, shown, func(p *command.Page) {
		shown.Traffic.page(p)
		p.Fact("Levels", fmt.Sprint(shown.Levels))
		if shown.Method != "" {
			p.Fact("Fitted to", shown.Method)
		}
		shown.modelPage(p)
		curvePage(p, shown.Curve)
	})
}

// shownTraffic is what -json prints of traffic.
type shownTraffic struct {
	Traffic   trafficReport          `json:"traffic"`
	Character network.Character      `json:"character"`
	Names     []string               `json:"names,omitempty"` // of the servers in Hot and Talkers, by number
	Curve     *network.Superposition `json:"curve,omitempty"`
	Report    string                 `json:"report,omitempty"`
}

func (c *trafficShow) showTraffic(ctx context.Context, s *command.Shell, path string) error {
	line := command.NewProgress(s, command.StillEvery)
	defer line.End()
	progress := line.Share("traffic show")
	data, err := c.from.open(ctx, path, progress)
	if err != nil {
		return err
	}
	a, err := network.Observe(ctx, data, network.OneWindow(), runtime.NumCPU(), func(share float64) { progress(share, "adding up") })
	if err != nil {
		return err
	}
	shown := shownTraffic{Traffic: data.report(), Character: a.Character(), Report: c.page}
	if data.reading != nil {
		shown.Names = data.reading.Names
	}
	if c.server >= 0 {
		if c.server >= data.Topology().Servers() {
			return command.WithHint(fmt.Errorf("there is no server %d", c.server), fmt.Sprintf("servers are numbered from 0 to %d", data.Topology().Servers()-1))
		}
		curve, err := network.FitCurve(a.Curve(c.server))
		if err != nil {
			return err
		}
		shown.Curve = &curve
	}
	if c.page != "" {
		if err := writeTrafficPage(c.page, showPictures(a, data.source)); err != nil {
			return err
		}
	}
	line.End()
	return c.out.Print(s, shown, func(p *command.Page) {
		shown.Traffic.page(p)
		characterPage(p, shown.Character, data.serverName)
		curvePage(p, shown.Curve)
		if c.page != "" {
			p.Fact("Report", c.page)
		}
	})
}

func characterPage(p *command.Page, c network.Character, name func(int) string) {
	p.Fact("Load", wording.Bytes(c.BytesPerSecond)+"/s")
	p.Fact("Locality", fmt.Sprintf("%s within a rack, %s between neighbouring racks, %s between others, %s to and from the cloud",
		percentText(c.SameRack), percentText(c.NeighbourRack), percentText(c.OtherRack), percentText(c.Cloud)))
	p.Fact("Weekend", percentText(c.Weekend)+" of the load of weekdays")
	p.Fact("Hot", percentText(c.AboveRange)+" of the servers have more than ten times the median load")
	serverTable(p, "Servers with the most traffic", c.Hot, name)
	serverTable(p, "Servers with the most peers", c.Talkers, name)
}

func serverTable(p *command.Page, title string, list []network.ServerLoad, name func(int) string) {
	p.Section(title)
	var rows [][]command.Cell
	for _, l := range list {
		rows = append(rows, []command.Cell{command.Number(fmt.Sprint(l.Server)), command.Text(name(l.Server)), command.Number(wording.Bytes(l.BytesPerSecond) + "/s"), command.Number(fmt.Sprint(l.Peers))})
	}
	p.Table([]string{"Server", "Name", "Load", "Peers"}, rows)
}

// curvePage lists the terms of a temporal model; nil is none.
func curvePage(p *command.Page, c *network.Superposition) {
	if c == nil {
		return
	}
	p.Section(fmt.Sprintf("Over time: deviation %s, of single bins %s", percentText(c.Deviation), percentText(c.DeviationSteps)))
	var rows [][]command.Cell
	step := c.StepSeconds * float64(time.Second)
	at := func(steps float64) string { return wording.Duration(time.Duration(steps * step)) }
	for _, t := range c.Terms {
		rows = append(rows, []command.Cell{
			command.Text(string(t.Shape)), command.Text(at(float64(t.From)) + " to " + at(float64(t.To))), command.Number(wording.Bytes(t.Amplitude) + "/s"),
			command.Number(wording.Number(t.Location)), command.Number(wording.Number(t.Scale)),
		})
	}
	p.Table([]string{"Shape", "Interval", "Amplitude", "Location", "Scale"}, rows)
}
