package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

func runCommand() *command.Command {
	return &command.Command{
		Name: "run", Arguments: "FILE", Synopsis: "Compare policies on a simulated cluster",
		About: "Runs a scenario file: every policy under every seed, on the same submissions. Prints a table of what became of the jobs; ± is half the 95 % interval over seeds. " +
			"The same file and seeds give the same bytes. Performance is the ideal time over the real one; a job that was killed or had not ended counts as 0.",
		Example: "nomad-placer-sim run -seeds 1,2 examples/sim/paragon-ec2-low.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simRun{}
			r.out.Add(f)
			f.StringVar(&r.policies, "policy", "", "Only these `names`, with commas between. Default: all of the scenario.")
			f.StringVar(&r.seeds, "seeds", "", "Other `numbers` as seeds, with commas between. Default: those of the scenario.")
			f.StringVar(&r.page, "report", "", "Write an HTML page with pictures to this `file`.")
			f.IntVar(&r.parallel, "parallel", 0, "How many runs at once; 0 is one per processor. It does not change the result.")
			r.profile.add(f)
			return r.profile.during(func(ctx context.Context, s *command.Shell, args []string) error { return r.run(ctx, s, args[0]) })
		},
	}
}

type simRun struct {
	out                   command.OutputFlags
	policies, seeds, page string
	parallel              int
	profile               cpuProfile
}

func (r *simRun) run(ctx context.Context, s *command.Shell, file string) error {
	o := scenario.Options{Policies: names(r.policies), Parallel: r.parallel}
	if r.parallel < 0 {
		return command.UsageError("-parallel must not be negative")
	}
	if r.seeds != "" {
		var ok bool
		if o.Seeds, ok = numbers(r.seeds); !ok {
			return command.UsageError("-seeds takes different whole numbers with commas between, not %q", r.seeds)
		}
	}
	sc, err := scenario.Load(file)
	if err != nil {
		return err
	}
	progress := command.NewProgress(s, 0)
	o.Progress = progress.Share(sc.Name)
	result, err := sc.Run(ctx, o)
	progress.End()
	switch {
	case errors.Is(err, scenario.ErrPolicy):
		return command.UsageError("%s", err)
	case err != nil:
		return err
	}
	if r.page != "" {
		if err := writeHTML("report", r.page, result); err != nil {
			return err
		}
	}
	return r.out.Print(s, result, func(p *command.Page) { simPage(p, result) })
}

// simPage has a row per metric and a column per policy and load.
func simPage(p *command.Page, r *report.Report) {
	p.Line(command.Heading(r.Title))
	if r.Source != "" {
		p.Line(command.Cell{Text: r.Source, Hue: command.Faint})
	}
	for _, n := range sortedSkips(r.Skipped) {
		p.Line(command.Cell{Text: n, Hue: command.Warn})
	}
	for _, n := range r.Notes {
		p.Line(command.Cell{Text: "Note: " + n, Hue: command.Faint})
	}
	p.Line()
	header := []string{"Metric"}
	for _, l := range r.Lines {
		name := l.Policy
		if l.Load != 0 {
			name += fmt.Sprintf(" at %g", l.Load)
		}
		header = append(header, name)
	}
	var rows [][]command.Cell
	for _, m := range report.Metrics() {
		row := []command.Cell{{Text: m.Name + ", " + m.Unit, Hue: command.Bold}}
		known := false
		for i := range r.Lines {
			f, ok := r.Lines[i].Figure(m.Name)
			known = known || ok
			row = append(row, command.Number(simFigure(f, ok)))
		}
		if known {
			rows = append(rows, row)
		}
	}
	p.Table(header, rows)
}

// sortedSkips says what of a trace was left out.
func sortedSkips(skipped map[string]int) []string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		out = append(out, fmt.Sprintf("%d jobs of the trace were left out: %s", skipped[why], why))
	}
	return out
}

func simFigure(f report.Figure, ok bool) string {
	if !ok {
		return "–"
	}
	digits := 1
	if f.Mean >= 1000 {
		digits = 0
	}
	out := strconv.FormatFloat(f.Mean, 'f', digits, 64)
	if f.Low != nil {
		out += " ±" + strconv.FormatFloat(f.Mean-*f.Low, 'f', digits, 64)
	}
	return out
}
