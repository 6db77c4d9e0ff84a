package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	examples "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

func leagueCommand() *command.Command {
	return &command.Command{
		Name: "league", Synopsis: "Run every policy in every scenario",
		About: "Runs every policy in every scenario of a folder, each with what its paper pairs it with, and ranks them. " +
			"Policies know of jobs what the live engine would. The same program and data give the same table, byte for byte. " +
			"With -work, every run is kept, and a stopped league goes on where it was. A scenario whose data is not there is left out, and said so.",
		Example: "nomad-placer-sim league -work bin/figures -out placer/docs/reproduction/league.md\n" +
			"nomad-placer-sim league -scenarios ./mine -seeds 3",
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simLeague{}
			r.flags(f)
			f.StringVar(&r.only, "policies", "", "Run only these policies: `names`, with commas between.")
			return r.profile.during(func(ctx context.Context, s *command.Shell, _ []string) error { return r.run(ctx, s) })
		},
	}
}

type simLeague struct {
	manyRuns
	folder, page, except, only, world string
}

// flags are those of every command that plays all scenarios.
func (r *simLeague) flags(f *flag.FlagSet) {
	r.add(f, "How many seeds, or `numbers` with commas between (one with a comma after it). Default: one.")
	f.StringVar(&r.folder, "scenarios", scenarioFolder, "The `folder` of the scenarios. Where there is none of this name, those of the program are run, without the traces.")
	f.StringVar(&r.page, "out", "", "Write Markdown to this `file`.")
	f.StringVar(&r.world, "world", "", "Put every scenario into the world of this `name`: measured, of our own rows and pairs, or published, fitted to what papers publish. Scenarios of which it cannot be are left out, and said so.")
	f.StringVar(&r.except, "except", "", "Leave out these scenarios: `names`, with commas between.")
}

func (r *simLeague) run(ctx context.Context, s *command.Shell) error {
	league, err := playing(ctx, s, r, figures.RunLeague, "league")
	if errors.Is(err, figures.ErrEntrant) {
		return command.UsageError("-policies: %s", err)
	}
	if err != nil {
		return err
	}
	return r.out.Print(s, league, func(p *command.Page) { leaguePage(p, league) })
}

// playing runs all scenarios with progress, and writes the page.
func playing[T interface{ Markdown() string }](ctx context.Context, s *command.Shell, r *simLeague, play func(context.Context, figures.LeagueOptions) (T, error), name string) (T, error) {
	var none T
	options, err := r.options(s)
	if err != nil {
		return none, err
	}
	options.Folder = r.folder
	o := figures.LeagueOptions{Options: options, Except: names(r.except), Only: names(r.only)}
	o.World = r.world
	o.Scenarios = examples.Files
	if _, err := os.Stat(r.folder); err == nil {
		o.Scenarios = os.DirFS(r.folder)
	}
	progress := command.NewProgress(s, command.StillEvery)
	o.Progress = figuresProgress(progress, name)
	out, err := play(ctx, o)
	progress.End()
	switch {
	case errors.Is(err, figures.ErrScenario):
		return none, command.UsageError("-except: %s", err)
	case errors.Is(err, figures.ErrWorld):
		return none, command.UsageError("-world: %s", err)
	}
	if err != nil || r.page == "" {
		return out, err
	}
	if err := os.WriteFile(r.page, []byte(out.Markdown()), 0o644); err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// leaguePage has the standings, and what was not run.
func leaguePage(p *command.Page, l *figures.League) {
	var rows [][]command.Cell
	for _, e := range l.Table {
		rows = append(rows, []command.Cell{{Text: e.Entrant, Hue: command.Bold}, command.Number(fmt.Sprintf("%.1f", e.Rank)), command.Number(fmt.Sprintf("%.1f", e.Wins)), command.Number(fmt.Sprint(e.Games)),
			command.Number(fmt.Sprintf("%.1f", e.Mean.WithWait)), command.Number(fmt.Sprintf("%.1f", e.Mean.Performance)), command.Number(fmt.Sprintf("%.1f", e.Mean.QoS))})
	}
	p.Table([]string{"Policy", "Rank", "First", "Scenarios", "With wait %", "Running %", "QoS %"}, rows)
	for _, g := range l.Games {
		if g.Absent != "" {
			p.Line(command.Text(fmt.Sprintf("%s was not run: %s", g.Scenario, g.Absent)))
		}
	}
}
