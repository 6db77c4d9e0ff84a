package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/day"
)

// dayRuns is one run of the command with its flags.
type dayRuns struct {
	out         command.OutputFlags
	seeds, work string
	hours       int
}

// dayLine is a trial over all seeds, as -json prints it.
type dayLine struct {
	Trial       day.Trial    `json:"trial"`
	Before      float64      `json:"before_points"` // by profiles alone
	After       float64      `json:"after_points"`
	Left        float64      `json:"left"` // after, by before
	Random      float64      `json:"random_points"`
	Experiments int          `json:"experiments"`
	Drifted     int          `json:"drifted"`
	Days        []day.Result `json:"days"`
}

func dayCommand() *command.Command {
	return &command.Command{
		Name: "day", Synopsis: "Ask what a day of production is worth",
		About: "Runs a small cluster for a day, in which jobs come and go and what they achieve teaches, and compares what placement loses by profiles alone with what it loses afterwards, on decisions that were never run. " +
			"Trials take a cause of the loss away. The same program and seed give the same numbers. With -work every day is kept, and a stopped run goes on where it was.",
		Example: "nomad-placer-sim day -seeds 101,102,103,104,105,106,107,108 -work bin/day",
		Setup: func(f *flag.FlagSet) command.Runner {
			var r dayRuns
			r.out.Add(f)
			f.StringVar(&r.seeds, "seeds", "1", "How many seeds, or `numbers` with commas between (one with a comma after it).")
			f.StringVar(&r.work, "work", "", "Keep every day in this `folder`, and take what is there.")
			f.IntVar(&r.hours, "hours", 24, "How many hours a day has.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return r.run(ctx, s) }
		},
	}
}

// mostHours bounds a day, against slips of the pen.
const mostHours = 1000

func (r *dayRuns) run(ctx context.Context, s *command.Shell) error {
	seeds, err := seedList(r.seeds)
	if err != nil {
		return err
	}
	if r.hours < 1 || r.hours > mostHours {
		return command.UsageError("-hours: 1 to %d, not %d", mostHours, r.hours)
	}
	progress := command.NewProgress(s, command.StillEvery)
	var lines []dayLine
	for _, trial := range day.Trials() {
		line := dayLine{Trial: trial}
		for _, seed := range seeds {
			progress.Show(fmt.Sprintf("%s, seed %d", trial, seed))
			d, err := day.Kept(ctx, r.work, r.hours, seed, trial)
			if err != nil {
				progress.End()
				return err
			}
			n := float64(len(seeds))
			line.Days = append(line.Days, d)
			line.Before, line.After, line.Random = line.Before+d.Regret[0]/n, line.After+d.Regret[len(d.Regret)-1]/n, line.Random+d.Random/n
			line.Experiments, line.Drifted = line.Experiments+d.Experiments, line.Drifted+d.Drifted
		}
		line.Left = line.After / line.Before
		lines = append(lines, line)
	}
	progress.End()
	return r.out.Print(s, lines, func(p *command.Page) { r.page(p, lines, len(seeds)) })
}

func (r *dayRuns) page(p *command.Page, lines []dayLine, seeds int) {
	p.Line(command.Text(fmt.Sprintf("Mean regret of a decision, in points of performance in isolation, %d seeds, %d hours", seeds, r.hours)))
	var rows [][]command.Cell
	points := func(v float64) command.Cell { return command.Number(strconv.FormatFloat(v, 'f', 2, 64)) }
	for _, l := range lines {
		rows = append(rows, []command.Cell{
			command.Text(string(l.Trial)), points(l.Random), points(l.Before), points(l.After), command.Number(strconv.FormatFloat(100*(1-l.Left), 'f', 0, 64) + " %"),
			command.Number(strconv.Itoa(l.Experiments)), command.Number(strconv.Itoa(l.Drifted)),
		})
	}
	p.Table([]string{"Trial", "By lot", "Profiles alone", "After", "Falls by", "Experiments", "Taken for drifted"}, rows)
}
