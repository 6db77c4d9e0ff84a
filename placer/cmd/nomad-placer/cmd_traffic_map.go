package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

func trafficMapCommand() *command.Command {
	return &command.Command{
		Name: "traffic map", Synopsis: "Show which jobs and nodes exchange how much",
		About:   "Asks an agent whose configuration has the folder of captured tables (its traffic block): give its address with -placer-address or NOMAD_PLACER_ADDR. It shows the last day that was captured. With access control on, jobs of namespaces that the token may not read have no names, and nodes are for tokens that may read nodes.",
		Example: "nomad-placer traffic map -placer-address http://127.0.0.1:9464",
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			out.AddVerbose(f, "Print all that exchange something, not only those with most.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				report, err := readTrafficMap(ctx, s, &from)
				if err != nil {
					return err
				}
				return out.Print(s, report, func(p *command.Page) { trafficMapPage(p, report) })
			}
		},
	}
}

func readTrafficMap(ctx context.Context, s *command.Shell, from *recordFlags) (traffic.Report, error) {
	opened, err := from.open(s)
	if err != nil {
		return traffic.Report{}, err
	}
	agent, ok := opened.(pageRecords)
	if !ok {
		return traffic.Report{}, command.UsageError("captured tables are the agent's: give its address with -placer-address or NOMAD_PLACER_ADDR")
	}
	report, err := agent.Traffic(ctx)
	if errors.Is(err, cluster.ErrNoRecord) {
		return report, errors.New("the agent knows of no traffic: its configuration has no traffic block with tables, none of them was read yet, or it is of an earlier release")
	}
	return report, err
}

// mappedFlows is how many flows are printed without -verbose.
const mappedFlows = 20

func trafficMapPage(p *command.Page, r traffic.Report) {
	p.Fact("Traffic", fmt.Sprintf("from %s to %s UTC, of which %s were captured", r.From.UTC().Format(time.DateTime), r.To.UTC().Format(time.DateTime),
		wording.Duration(time.Duration(r.CapturedSeconds*float64(time.Second)))))
	if r.Problem != "" {
		p.Item(command.Warn, r.Problem)
	}
	flowTable(p, "Jobs that exchange most", r.Jobs)
	flowTable(p, "Nodes that exchange most", r.Nodes)
	if len(r.Uplinks) == 0 {
		return
	}
	p.Section("Uplinks of racks")
	rows := make([][]command.Cell, len(r.Uplinks))
	for i, u := range r.Uplinks {
		next := wording.Unknown
		if u.NextBytesPerSec != nil {
			next = wording.Bytes(*u.NextBytesPerSec) + "/s"
		}
		rows[i] = []command.Cell{{Text: u.Rack, Hue: command.Bold}, command.Number(wording.Bytes(u.BytesPerSec) + "/s"), command.Number(next), command.Text(u.Basis)}
	}
	p.Table([]string{"Rack", "Mean", "Next hour", "Expected by"}, rows)
}

func flowTable(p *command.Page, title string, flows []traffic.Flow) {
	p.Section(title)
	if len(flows) == 0 {
		p.Line(command.Text("None."))
		return
	}
	shown := flows
	if !p.Verbose {
		shown = flows[:min(mappedFlows, len(flows))]
	}
	rows := make([][]command.Cell, len(shown))
	for i, f := range shown {
		rows[i] = []command.Cell{command.Text(f.From), command.Text(f.To), command.Number(wording.Bytes(float64(f.Bytes)))}
	}
	p.Table([]string{"From", "To", "Bytes"}, rows)
	if more := len(flows) - len(shown); more > 0 {
		p.Line(command.Text(fmt.Sprintf("%d more with -verbose.", more)))
	}
}

// Traffic is what an agent that runs has read.
func (r engineRecords) Traffic(ctx context.Context) (traffic.Report, error) {
	if r.traffic == nil {
		return traffic.Report{}, fmt.Errorf("the agent's configuration has no traffic block with tables: %w", cluster.ErrNoRecord)
	}
	return r.traffic.Traffic(ctx)
}

// Traffic asks the agent.
func (p pageRecords) Traffic(ctx context.Context) (traffic.Report, error) {
	return fetch[traffic.Report](ctx, p, "traffic")
}
