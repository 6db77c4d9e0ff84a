package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/foreign"
)

func profileImportCommand() *command {
	return &command{
		name: "profile import", arguments: "[PATH]", synopsis: "Turn public measurements into profiles",
		about: "Reads a folder (or one table) of a known public data set and writes what it says as profiles and pairs in our own format, " +
			"so that they can serve as training rows and in tests. Without -o nothing is written: the data are checked and counted. " +
			"What the data do not say stays unknown, and every measurement that is not taken is counted under its reason. The store is not touched.",
		example: "nomad-placer profile import -list\n" +
			"nomad-placer profile import -o rows downloads/gavel",
		maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			var c importRun
			f.StringVar(&c.format, "format", "", "The `name` of the data set. By default it is found by the columns.")
			f.StringVar(&c.output, "o", "", "Write to this `folder`, which must not exist or be empty, or with - one JSON document a line to standard output.")
			f.BoolVar(&c.list, "list", false, "List the data sets that can be read, with what each yields.")
			c.out.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
				switch {
				case c.list && len(args) == 0:
					return c.printFormats(s)
				case c.list:
					return usageError("-list takes no PATH")
				case len(args) == 0:
					return usageError("profile import takes exactly: PATH, or -list")
				}
				return c.run(ctx, s, args[0])
			}
		},
	}
}

// importRun is one run of the command with its flags.
type importRun struct {
	out            outputFlags
	format, output string
	list           bool
}

const toStandardOutput = "-"

func (c *importRun) run(ctx context.Context, s *shell, path string) error {
	if c.output != "" && c.output != toStandardOutput {
		if err := foreign.CheckDir(c.output); err != nil {
			return err // before the work, not after it
		}
	}
	result, err := foreign.Read(ctx, path, foreign.Options{Format: c.format, Progress: slowProgress(s)})
	if err != nil {
		return err
	}
	report := s.out
	switch c.output {
	case "":
	case toStandardOutput:
		if _, err := result.WriteTo(s.out); err != nil {
			return err
		}
		report = s.err
	default:
		if err := result.WriteDir(ctx, c.output); err != nil {
			return err
		}
	}
	return c.report(s, report, result)
}

// progressAfter is how long a command may be silent.
const progressAfter = 2 * time.Second

// slowProgress prints a line every two seconds, so none where the work is
// shorter.
func slowProgress(s *shell) func(fraction float64, file string) {
	started := s.now()
	last := started
	return func(fraction float64, file string) {
		now := s.now()
		if now.Sub(last) < progressAfter || fraction <= 0 {
			return
		}
		last = now
		left := time.Duration(float64(now.Sub(started)) * (1 - fraction) / fraction).Round(time.Second)
		fmt.Fprintf(s.err, "reading %s  %s %3.0f %%  about %s left\n", file, gauge(fraction, 20), 100*fraction, wording.Duration(left))
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
		out.Speeds += len(p.Alone)
		for _, e := range p.Sensitivity.Tolerated {
			if e.Score.Known() {
				out.Scores++
			}
		}
	}
	return out
}

func (c *importRun) report(s *shell, w io.Writer, r foreign.Result) error {
	report := c.reportOf(r)
	return c.out.printTo(s, w, report, func(p *page) { c.reportPage(p, report, r) })
}

func (c *importRun) reportPage(p *page, report importReport, r foreign.Result) {
	p.line(heading(report.Format))
	p.line()
	p.fact("Profiles", fmt.Sprintf("%s: speeds in isolation %s, levels of ramps %s, tolerated scores %s, sizes %s", wording.Number(float64(report.Profiles)),
		wording.Number(float64(report.Speeds)), wording.Number(float64(report.Levels)), wording.Number(float64(report.Scores)), wording.Number(float64(report.Sizes))))
	p.fact("Pairs", wording.Number(float64(report.Pairs)))
	p.fact("Written", writtenText(c.output))
	p.section("Measurements")
	var rows [][]cell
	for _, f := range r.Files {
		rows = append(rows, []cell{text(f.File), number(fmt.Sprint(f.Measurements)), number(fmt.Sprint(f.Taken)), number(fmt.Sprint(f.Measurements - f.Taken))})
	}
	p.table([]string{"File", "Read", "Taken", "Left out"}, rows)
	if len(r.LeftOut) > 0 {
		p.section("Left out, and why")
	}
	rows = nil
	for _, l := range r.LeftOut {
		rows = append(rows, []cell{number(fmt.Sprint(l.Measurements)), text(l.File), text(l.Reason)})
	}
	if len(rows) > 0 {
		p.table(nil, rows)
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

func (c *importRun) printFormats(s *shell) error {
	var list []importFormat
	for _, f := range foreign.Formats() {
		list = append(list, importFormat{f.Name, f.Title, f.Tables(), f.Takes, f.Leaves, f.License})
	}
	return c.out.print(s, list, formatsPage)
}

func formatsPage(p *page) {
	for i, f := range foreign.Formats() {
		if i > 0 {
			p.line()
		}
		p.line(heading(f.Name))
		p.fact("Holds", f.Title)
		p.fact("Tables", strings.Join(f.Tables(), ", "))
		p.fact("License", f.License)
		p.line(text("Taken"))
		for _, t := range f.Takes {
			p.item(plain, t)
		}
		p.line(text("Left out"))
		for _, l := range f.Leaves {
			p.item(plain, l)
		}
	}
}
