package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	examples "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

func figuresCommand() *command.Command {
	return &command.Command{
		Name: "figures", Synopsis: "Compare the published results of papers with ours",
		About: "Runs the scenarios that reproduce tables and figures of the papers and checks what a reproduction must show: met, missed, or not carried by the simulator. " +
			"The same program and data give the same pages, byte for byte. With -work, every run is kept, and a stopped report goes on where it was. " +
			"That something is missed is a result, not a failure.",
		Example: "nomad-placer-sim figures -list\n" +
			"nomad-placer-sim figures -only paragon-local-low -seeds 1",
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simFigures{}
			r.add(f, "Other seeds: how many, or `numbers` with commas between (one with a comma after it). Default: those of each scenario.")
			f.StringVar(&r.only, "only", "", "Only these experiments or papers: `names`, with commas between.")
			f.StringVar(&r.pages, "out", "", "Write Markdown to this `folder`: an index and a page per paper.")
			f.StringVar(&r.page, "report", "", "Write an HTML page with pictures, and with what the runs took on this machine, to this `file`.")
			f.StringVar(&r.data, "data-root", "../shared/data", "The `folder` that holds public measurements by name. What is not there is not run.")
			f.StringVar(&r.world, "world", scenario.Worlds()[0], "Put scenarios into the world of this `name`, where they can be: "+strings.Join(scenario.Worlds(), ", ")+", or own for each scenario's own.")
			f.BoolVar(&r.list, "list", false, "Run nothing; list the experiments.")
			return r.profile.during(func(ctx context.Context, s *command.Shell, _ []string) error { return r.run(ctx, s) })
		},
	}
}

type simFigures struct {
	manyRuns
	only, pages, page, data, world string
	list                           bool
}

func (r *simFigures) run(ctx context.Context, s *command.Shell) error {
	o, err := r.options(s)
	if err != nil {
		return err
	}
	chosen, err := figures.Choose(names(r.only))
	if errors.Is(err, figures.ErrUnknown) {
		return command.UsageError("-only: %s", err)
	}
	if r.list {
		return r.printList(s, chosen)
	}
	o.Scenarios, o.Folder, o.Data, o.World = examples.Files, scenarioFolder, r.data, r.world
	if r.world == "own" {
		o.World = ""
	}
	progress := command.NewProgress(s, command.StillEvery)
	o.Progress = figuresProgress(progress, "figures")
	result, err := figures.Run(ctx, chosen, o)
	progress.End()
	if errors.Is(err, figures.ErrWorld) {
		return command.UsageError("-world: %s", err)
	}
	if err != nil {
		return err
	}
	if err := r.write(result); err != nil {
		return err
	}
	return r.out.Print(s, result, func(p *command.Page) { figuresPage(p, result) })
}

// listed is an experiment of -list.
type listed struct {
	ID        string   `json:"id"`
	Paper     string   `json:"paper"`
	Where     string   `json:"where"`
	Title     string   `json:"title"`
	Scenarios []string `json:"scenarios,omitempty"`
	Missing   string   `json:"missing,omitempty"`
}

func (r *simFigures) printList(s *command.Shell, chosen []figures.Experiment) error {
	var all []listed
	for _, e := range chosen {
		all = append(all, listed{e.ID, e.Paper, e.Where, e.Title, e.Scenarios, e.Missing})
	}
	return r.out.Print(s, all, func(p *command.Page) { experimentTable(p, all) })
}

func experimentTable(p *command.Page, all []listed) {
	var rows [][]command.Cell
	for _, e := range all {
		scenarios := strings.Join(e.Scenarios, ", ")
		if e.Missing != "" {
			scenarios = "not carried by the simulator"
		}
		rows = append(rows, []command.Cell{{Text: e.ID, Hue: command.Bold}, {Text: e.Title}, {Text: e.Where, Hue: command.Faint}, {Text: scenarios, Hue: command.Faint}})
	}
	p.Table([]string{"Experiment", "What", "Where", "Scenarios"}, rows)
}

// write makes the files that were asked for.
func (r *simFigures) write(result *figures.Report) error {
	if r.pages != "" {
		for name, text := range result.Files() {
			path := filepath.Join(r.pages, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("figures: %w", err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return fmt.Errorf("figures: %w", err)
			}
		}
	}
	if r.page == "" {
		return nil
	}
	return writeHTML("figures", r.page, result)
}

// figuresPage has a row per experiment, and what was missed below.
func figuresPage(p *command.Page, result *figures.Report) {
	var rows [][]command.Cell
	for i := range result.Outcomes {
		o := &result.Outcomes[i]
		row := []command.Cell{{Text: o.ID, Hue: command.Bold}, {Text: o.Title}, {}, command.Number("–"), command.Number("–"), requirementCell(o.Verdict)}
		if len(o.Quantities) > 0 {
			headline := o.Summary[0].Cells[0]
			row[2], row[3], row[4] = command.Text(o.Quantities[0].String()), command.Number(headline.PublishedText()), command.Number(headline.OursText())
		}
		rows = append(rows, row)
	}
	p.Table([]string{"Experiment", "What", "Quantity", "Published", "Ours", "Requirement"}, rows)
	p.Line()
	for _, c := range result.Counts {
		p.Line(command.Text(fmt.Sprintf("%s: %d met, %d missed, %d not carried by the simulator, %d not run", c.Paper, c.Met, c.Missed, c.NotCarried, c.NotRun)))
	}
}

func requirementCell(v figures.Verdict) command.Cell {
	switch v {
	case figures.Met:
		return command.Cell{Text: string(v), Hue: command.Good}
	case figures.Missed:
		return command.Cell{Text: string(v), Hue: command.Warn}
	default:
		return command.Cell{Text: string(v), Hue: command.Faint}
	}
}
