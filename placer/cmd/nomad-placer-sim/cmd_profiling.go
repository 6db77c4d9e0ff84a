package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/placer/sim/sequence"
)

func profilingCommand() *command.Command {
	return &command.Command{
		Name: "profiling", Synopsis: "Compare ways to spend the seconds of a profile",
		About: "Profiles simulated newcomers in several ways, places each by what was found, and compares the regret in points, paired by seed, with that of a full profile of two sources: " +
			"of the decision that the profile was taken for, and of later ones that use it again. With -work, every outcome is kept, and a stopped study goes on where it was.",
		Example: "nomad-placer-sim profiling -first 1000 -count 40\n" +
			"nomad-placer-sim profiling -rules 0.5:1,1:2,2:1 -count 100 -work work",
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simProfiling{}
			r.out.Add(f)
			f.Uint64Var(&r.first, "first", 1000, "The first `seed`. Those from 0 to 99 are the ones that the constants were chosen on.")
			f.Uint64Var(&r.count, "count", 400, "How many seeds.")
			f.StringVar(&r.rules, "rules", "", "Other constants of the advice: `pairs` of the least points and the weight of later decisions, with commas between. Default: those of the product.")
			f.StringVar(&r.work, "work", "", "Keep every outcome in this `folder`, and take what is there.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return r.run(ctx, s) }
		},
	}
}

type simProfiling struct {
	out          command.OutputFlags
	first, count uint64
	rules, work  string
}

func (r *simProfiling) run(ctx context.Context, s *command.Shell) error {
	o := sequence.Options{Work: r.work, Arms: []sequence.Arm{sequence.Every}}
	advised, err := r.advised()
	if err != nil {
		return err
	}
	o.Arms = append(o.Arms, advised...)
	if r.count == 0 {
		return command.UsageError("-count: at least one seed is needed")
	}
	for i := range r.count {
		o.Seeds = append(o.Seeds, r.first+i)
	}
	progress := command.NewProgress(s, command.StillEvery)
	o.Progress = func(done, total int) { progress.Show(fmt.Sprintf("profiling: %d of %d seeds", done, total)) }
	report, err := sequence.Run(ctx, o)
	progress.End()
	if err != nil {
		return err
	}
	return r.out.Print(s, report, func(p *command.Page) { profilingPage(p, report) })
}

// advised reads the pairs of constants.
func (r *simProfiling) advised() ([]sequence.Arm, error) {
	if r.rules == "" {
		return []sequence.Arm{sequence.Advised(worth.Default().LeastPoints, worth.LaterWeight)}, nil
	}
	var out []sequence.Arm
	for _, pair := range names(r.rules) {
		least, later, _ := strings.Cut(pair, ":")
		points, err := strconv.ParseFloat(least, 64)
		weight, laterErr := strconv.ParseFloat(later, 64)
		if err != nil || laterErr != nil || !(points >= 0) || !(weight >= 0) {
			return nil, command.UsageError("-rules takes pairs such as 1:2, not %q", pair)
		}
		out = append(out, sequence.Advised(points, weight))
	}
	return out, nil
}

func profilingPage(p *command.Page, r *sequence.Report) {
	number := func(v float64) command.Cell { return command.Number(strconv.FormatFloat(v, 'f', 1, 64)) }
	signed := func(d sequence.Difference) command.Cell {
		return command.Number(fmt.Sprintf("%+.1f (%+.1f to %+.1f)", d.Mean, d.Low, d.High))
	}
	for _, part := range r.Parts {
		p.Section(fmt.Sprintf("%s (%d seeds)", part.Name, part.Lines[0].Count))
		var rows [][]command.Cell
		for _, l := range part.Lines {
			rows = append(rows, []command.Cell{
				command.Text(l.Arm), number(l.MedianSeconds), number(l.P90Seconds), number(l.Sources),
				number(l.Now), signed(l.ByNow), number(l.Later), signed(l.ByLater), number(l.WrongVerdicts),
			})
		}
		p.Table([]string{"Profile", "Seconds, median", "9 of 10", "Scores", "Regret", "from full", "Later", "from full", "Wrong verdicts, %"}, rows)
	}
}
