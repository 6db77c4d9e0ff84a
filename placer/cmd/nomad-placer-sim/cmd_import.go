package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/foreign"
)

func importCommand() *command.Command {
	return &command.Command{
		Name: "import", Arguments: "[PATH]", Synopsis: "Turn public measurements into profiles",
		About: "Reads a folder (or one table) of a known public data set and writes what it says as profiles and pairs in our own format, " +
			"so that they can serve as training rows and in tests. Without -o nothing is written: the data are checked and counted. " +
			"What the data do not say stays unknown, and every measurement that is not taken is counted under its reason. With -cells PATH is a matrix of your own (CSV; see placer/docs/import.md). The store is not touched.",
		Example: "nomad-placer-sim import -list\n" +
			"nomad-placer-sim import -o rows downloads/gavel\n" +
			"nomad-placer-sim import -cells tolerated -o rows mine.csv",
		MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			var c importRun
			f.StringVar(&c.format, "format", "", "The `name` of the data set. By default it is found by the columns.")
			f.StringVar(&c.cells, "cells", "", "PATH is a matrix of your own, whose cells are of this `kind`: "+strings.Join(foreign.MatrixCells, ", ")+".")
			f.StringVar(&c.output, "o", "", "Write to this `folder`, which must not exist or be empty, or with - one JSON document a line to standard output.")
			f.BoolVar(&c.list, "list", false, "List the data sets that can be read, with what each yields.")
			c.out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				switch {
				case c.list && len(args) == 0:
					return c.printFormats(s)
				case c.list:
					return command.UsageError("-list takes no PATH")
				case len(args) == 0:
					return command.UsageError("import takes exactly: PATH, or -list")
				case c.cells != "" && c.format != "":
					return command.UsageError("-format names a public data set, -cells goes with a matrix of your own: one of the two")
				case c.cells != "" && !slices.Contains(foreign.MatrixCells, c.cells):
					return command.UsageError("-cells is one of %s, not %q", strings.Join(foreign.MatrixCells, ", "), c.cells)
				}
				return c.run(ctx, s, args[0])
			}
		},
	}
}

// importRun is one run of the command with its flags.
type importRun struct {
	out            command.OutputFlags
	format, output string
	cells          string // of a matrix; empty: a public data set
	list           bool
}

const toStandardOutput = "-"

func (c *importRun) run(ctx context.Context, s *command.Shell, path string) error {
	if c.output != "" && c.output != toStandardOutput {
		if err := foreign.CheckDir(c.output); err != nil {
			return err // before the work, not after it
		}
	}
	result, err := c.read(ctx, s, path)
	if err != nil {
		return err
	}
	report := s.Out
	switch c.output {
	case "":
	case toStandardOutput:
		if _, err := result.WriteTo(s.Out); err != nil {
			return err
		}
		report = s.Err
	default:
		if err := result.WriteDir(ctx, c.output); err != nil {
			return err
		}
	}
	return c.report(s, report, result)
}

func (c *importRun) read(ctx context.Context, s *command.Shell, path string) (foreign.Result, error) {
	if c.cells != "" {
		return foreign.ReadMatrix(ctx, path, c.cells)
	}
	return foreign.Read(ctx, path, foreign.Options{Format: c.format, Progress: slowProgress(s)})
}

// progressAfter is how long a command may be silent.
const progressAfter = 2 * time.Second

// slowProgress prints a line every two seconds, so none where the work is
// shorter.
func slowProgress(s *command.Shell) func(fraction float64, file string) {
	started := s.Now()
	last := started
	return func(fraction float64, file string) {
		now := s.Now()
		if now.Sub(last) < progressAfter || fraction <= 0 {
			return
		}
		last = now
		left := time.Duration(float64(now.Sub(started)) * (1 - fraction) / fraction).Round(time.Second)
		fmt.Fprintf(s.Err, "reading %s  %s %3.0f %%  about %s left\n", file, command.Gauge(fraction, 20), 100*fraction, wording.Duration(left))
	}
}

// importReport is the report as -json prints it.
type importReport struct {
	Format   string          `json:"format"`
	Profiles int             `json:"profiles"`
	Pairs    int             `json:"pairs"`
	Scores   int             `json:"scores"`
	Levels   int             `json:"levels"`
	Sizes    int             `json:"sizes"`
	Speeds   int             `json:"speeds"`
	Written  string          `json:"written,omitempty"`
	Files    []foreign.Count `json:"files"`
	LeftOut  []foreign.Skip  `json:"left_out"`
}

func (c *importRun) reportOf(r foreign.Result) importReport {
	out := importReport{
		Format: r.Format, Profiles: len(r.Profiles), Pairs: len(r.Pairs), Written: c.output,
		Files: r.Files, LeftOut: append([]foreign.Skip{}, r.LeftOut...),
	}
	for _, p := range r.Profiles {
		out.Levels += len(p.Ramp)
		out.Sizes += len(p.ScaleUp)
		out.Speeds += len(p.Isolated)
		for _, e := range p.Sensitivity.Tolerated {
			if e.Score.Known() {
				out.Scores++
			}
		}
	}
	return out
}

func (c *importRun) report(s *command.Shell, w io.Writer, r foreign.Result) error {
	report := c.reportOf(r)
	return c.out.PrintTo(s, w, report, func(p *command.Page) { c.reportPage(p, report, r) })
}

func (c *importRun) reportPage(p *command.Page, report importReport, r foreign.Result) {
	p.Line(command.Heading(report.Format))
	p.Line()
	p.Fact("Profiles", fmt.Sprintf("%s: speeds in isolation %s, levels of ramps %s, tolerated scores %s, sizes %s", wording.Number(float64(report.Profiles)),
		wording.Number(float64(report.Speeds)), wording.Number(float64(report.Levels)), wording.Number(float64(report.Scores)), wording.Number(float64(report.Sizes))))
	p.Fact("Pairs", wording.Number(float64(report.Pairs)))
	p.Fact("Written", writtenText(c.output))
	p.Section("Measurements")
	var rows [][]command.Cell
	for _, f := range r.Files {
		rows = append(rows, []command.Cell{command.Text(f.File), command.Number(fmt.Sprint(f.Measurements)), command.Number(fmt.Sprint(f.Taken)), command.Number(fmt.Sprint(f.Measurements - f.Taken))})
	}
	p.Table([]string{"File", "Read", "Taken", "Left out"}, rows)
	if len(r.LeftOut) > 0 {
		p.Section("Left out, and why")
	}
	rows = nil
	for _, l := range r.LeftOut {
		rows = append(rows, []command.Cell{command.Number(fmt.Sprint(l.Measurements)), command.Text(l.File), command.Text(l.Reason)})
	}
	if len(rows) > 0 {
		p.Table(nil, rows)
	}
}

func writtenText(output string) string {
	switch output {
	case "":
		return "nothing; -o names a folder"
	case toStandardOutput:
		return "to standard output"
	}
	return output
}

// importFormat is a data set as -json prints it.
type importFormat struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Tables  []string `json:"tables"`
	Takes   []string `json:"takes"`
	Leaves  []string `json:"leaves"`
	License string   `json:"license"`
}

func (c *importRun) printFormats(s *command.Shell) error {
	var list []importFormat
	for _, f := range foreign.Formats() {
		list = append(list, importFormat{f.Name, f.Title, f.Tables(), f.Takes, f.Leaves, f.License})
	}
	return c.out.Print(s, list, formatsPage)
}

func formatsPage(p *command.Page) {
	for i, f := range foreign.Formats() {
		if i > 0 {
			p.Line()
		}
		p.Line(command.Heading(f.Name))
		p.Fact("Holds", f.Title)
		p.Fact("Tables", strings.Join(f.Tables(), ", "))
		p.Fact("License", f.License)
		p.Line(command.Text("Taken"))
		for _, t := range f.Takes {
			p.Item(command.Plain, t)
		}
		p.Line(command.Text("Left out"))
		for _, l := range f.Leaves {
			p.Item(command.Plain, l)
		}
	}
}
