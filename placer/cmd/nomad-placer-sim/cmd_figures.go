package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	examples "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

func figuresCommand() *command.Command {
	return &command.Command{
		Name: "figures", Synopsis: "Compare the published results of papers with ours",
		About: "Runs the scenarios that reproduce tables and figures of the papers and checks what a reproduction must show: met, missed, or not carried by the simulator. " +
			"The same program and data give the same pages, byte for byte. With -work, every run is kept, and a stopped report goes on where it was. " +
			"That something is missed is a result, not a failure.",
		Example: "nomad-placer-sim figures -list\n" +
			"nomad-placer-sim figures -only paragon-e4 -seeds 1",
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simFigures{}
			r.out.Add(f)
			f.StringVar(&r.only, "only", "", "Only these experiments or papers: `names`, with commas between.")
			f.StringVar(&r.seeds, "seeds", "", "Other seeds: how many, or `numbers` with commas between. Default: those of each scenario.")
			f.StringVar(&r.work, "work", "", "Keep every run in this `folder`, and take what is there.")
			f.StringVar(&r.pages, "out", "", "Write Markdown to this `folder`: an index and a page per paper.")
			f.StringVar(&r.page, "report", "", "Write an HTML page with pictures, and with what the runs took on this machine, to this `file`.")
			f.StringVar(&r.data, "data-root", "../shared/data", "The `folder` that holds public measurements by name. What is not there is not run.")
			f.IntVar(&r.parallel, "parallel", 0, "How many runs at once; 0 is one per processor. It does not change the result.")
			f.BoolVar(&r.list, "list", false, "Run nothing; list the experiments.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return r.run(ctx, s) }
		},
	}
}

type simFigures struct {
	out                                  command.OutputFlags
	only, seeds, work, pages, page, data string
	parallel                             int
	list                                 bool
}

func (r *simFigures) run(ctx context.Context, s *command.Shell) error {
	if r.parallel < 0 {
		return command.UsageError("-parallel must not be negative")
	}
	seeds, err := seedList(r.seeds)
	if err != nil {
		return err
	}
	var names []string
	if r.only != "" {
		for name := range strings.SplitSeq(r.only, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	chosen, err := figures.Choose(names)
	if errors.Is(err, figures.ErrUnknown) {
		return command.UsageError("-only: %s", err)
	}
	if r.list {
		return r.printList(s, chosen)
	}
	progress := figuresProgress{shell: s, what: "figures"}
	result, err := figures.Run(ctx, chosen, figures.Options{
		Scenarios: examples.Files, Data: r.data, Work: r.work, Seeds: seeds, Parallel: r.parallel, Now: s.Now, Progress: progress.tell,
	})
	progress.end()
	if err != nil {
		return err
	}
	if err := r.write(result); err != nil {
		return err
	}
	return r.out.Print(s, result, func(p *command.Page) { figuresPage(p, result) })
}

// mostSeeds bounds a number of seeds, against slips of the pen.
const mostSeeds = 100

// seedList reads one number as how many, and several as themselves.
func seedList(list string) ([]uint64, error) {
	if list == "" {
		return nil, nil
	}
	var out []uint64
	parts := strings.Split(list, ",")
	for _, text := range parts {
		v, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
		if err != nil || slices.Contains(out, v) {
			return nil, command.UsageError("-seeds takes how many, or different whole numbers with commas between, not %q", list)
		}
		out = append(out, v)
	}
	if len(parts) > 1 {
		return out, nil
	}
	count := out[0]
	if count < 1 || count > mostSeeds {
		return nil, command.UsageError("-seeds: 1 to %d seeds, not %d", mostSeeds, count)
	}
	out = nil
	for seed := range count {
		out = append(out, seed+1)
	}
	return out, nil
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
		if err := os.MkdirAll(r.pages, 0o755); err != nil {
			return fmt.Errorf("figures: %w", err)
		}
		for name, text := range result.Files() {
			if err := os.WriteFile(filepath.Join(r.pages, name), []byte(text), 0o644); err != nil {
				return fmt.Errorf("figures: %w", err)
			}
		}
	}
	if r.page == "" {
		return nil
	}
	f, err := os.Create(r.page)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	if err := result.HTML(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
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

// figuresProgress says on standard error how many runs have ended and how long
// the rest takes: as a moving line on a terminal, else a line now and then.
type figuresProgress struct {
	shell *command.Shell
	what  string // the command
	shown time.Time
	any   bool
}

// figuresProgressEvery is how often a line is written where it stays.
const figuresProgressEvery = 30 * time.Second

func (p *figuresProgress) tell(now figures.Progress) {
	line := fmt.Sprintf("%s: %d of %d runs, %d of them kept", p.what, now.Done, now.Total, now.Kept)
	if now.Left > 0 {
		line += ", " + now.Left.Round(time.Second).String() + " left"
	}
	line += " (" + now.What + ")"
	at := p.shell.Now()
	switch {
	case p.shell.Terminal && (!p.any || at.Sub(p.shown) >= simProgressEvery):
		p.any, p.shown = true, at
		fmt.Fprint(p.shell.Err, "\r\033[K"+line)
	case !p.shell.Terminal && p.shown.IsZero():
		p.shown = at
	case !p.shell.Terminal && at.Sub(p.shown) >= figuresProgressEvery:
		p.shown = at
		fmt.Fprintln(p.shell.Err, line)
	}
}

func (p *figuresProgress) end() {
	if p.any {
		fmt.Fprint(p.shell.Err, "\r\033[K")
	}
}
