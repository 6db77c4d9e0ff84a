package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/sim/consolidation"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

func consolidateCommand() *command.Command {
	return &command.Command{
		Name: "consolidate", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Compare ways to consolidate data by disk bandwidth",
		About: "Simulates 40 storage nodes with 40 instances of ten applications under BLOC and under what it is compared with, and prints energy, performance and moved data of a day. " +
			"FILE has the demand: statistics of block I/O by 30 minutes (the published ones of CloudPhysics), six days of at least 40 volumes. What is assumed beside that is in the package's documentation.",
		Example: "nomad-placer-sim consolidate cloudphysics_30min.csv.gz\n" +
			"nomad-placer-sim consolidate -seeds 10 -schemes none,capacity,bloc,oracle cloudphysics_30min.csv.gz",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c simConsolidate
			c.out.Add(f)
			c.options = consolidation.DefaultOptions()
			f.Float64Var(&c.options.LeastUse, "least-use", c.options.LeastUse, "The least mean use of an instance, a `part` of a node's bandwidth.")
			f.Float64Var(&c.options.MostUse, "most-use", c.options.MostUse, "The most mean use of an instance, a `part` of a node's bandwidth.")
			f.Float64Var(&c.options.LossFactor, "loss", c.options.LossFactor, "Scale what pairs of applications lose by this `factor`.")
			f.StringVar(&c.seeds, "seeds", "7", "How many `seeds`, or several with commas between: which volumes are taken, their sizes, and what pairs lose.")
			f.StringVar(&c.schemes, "schemes", "", "The `names` of schemes, with commas between: "+schemeNames()+". By default all.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

func schemeNames() string {
	var out []string
	for _, s := range consolidate.Schemes() {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

type simConsolidate struct {
	out            command.OutputFlags
	seeds, schemes string
	options        consolidation.Options
}

func (c *simConsolidate) run(ctx context.Context, s *command.Shell, path string) error {
	schemes := consolidate.Schemes()
	if c.schemes != "" {
		schemes = nil
		for _, name := range names(c.schemes) {
			scheme, err := consolidate.LookupScheme(name)
			if err != nil {
				return command.UsageError("-schemes: %s", err)
			}
			schemes = append(schemes, scheme)
		}
	}
	seeds, err := seedList(c.seeds)
	if err != nil {
		return err
	}
	windows, err := trace.OpenWindows(path)
	if err != nil {
		return err
	}
	defer func() { _ = windows.Close() }() // it was only read: nothing can be lost
	volumes, left, err := consolidation.ReadVolumes(windows)
	if err != nil {
		return err
	}
	progress := command.NewProgress(s, command.StillEvery)
	study, err := consolidation.Compare(ctx, volumes, schemes, c.options, seeds, progress.Share("consolidate"))
	progress.End()
	if errors.Is(err, consolidation.ErrOptions) {
		return command.UsageError("%s", err)
	}
	if err != nil {
		return err
	}
	study.Left = left
	return c.out.Print(s, study, func(p *command.Page) { consolidatePage(p, study) })
}

func consolidatePage(p *command.Page, r *consolidation.Study) {
	p.Fact("Demand", fmt.Sprintf("40 of %d volumes for each of %d seeds; %d without six days were left out", r.Volumes, len(r.Seeds), r.Left))
	p.Section("The last day")
	percent := func(v float64) command.Cell { return command.Number(strconv.FormatFloat(100*v, 'f', 1, 64)) }
	var rows [][]command.Cell
	for _, s := range r.Schemes {
		row := []command.Cell{command.Heading(s.Name), command.Number(strconv.FormatFloat(s.Savings, 'f', 2, 64) + "×")}
		if d := s.Day; d != nil {
			row = append(row, percent(d.Performance), percent(d.WorstApplication), percent(d.LossP95), percent(d.Broken),
				command.Number(strconv.FormatFloat(d.NodesOn, 'f', 1, 64)), percent(d.MovedShare), command.Number(strconv.Itoa(d.Unplaced)))
		}
		rows = append(rows, row)
	}
	p.Table([]string{"Scheme", "Energy saved", "Performance, %", "Worst app", "Loss, 95 %", "Limits broken, %", "Nodes on", "Moved, %", "Unplaced"}, rows)
}
