package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	examples "github.com/nomad-placer/nomad-placer/examples/sim"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/calibration"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

func calibrateCommand() *command.Command {
	return &command.Command{
		Name: "calibrate", Synopsis: "Fit the simulated world to what papers publish of their inputs",
		About: "Moves the parameters of the simulated world until it has what papers publish of their workloads and machines, on seeds that no scenario has; no policy is run. " +
			"Prints, for every cluster shape, each published number and what the world has of it. Where a shape is left outside of a bound, bounds contradict each other or the fit does not converge, " +
			"the residuals are printed, the command fails, and no file is written. The same program and seeds give the same bytes. With -work, everything is kept, and a stopped calibration goes on where it was.",
		Example: "nomad-placer-sim calibrate -list\n" +
			"nomad-placer-sim calibrate -work bin/calibration -out placer/sim/truth/published.json",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c simCalibrate
			c.out.Add(f)
			f.StringVar(&c.seeds, "seeds", "", "Other `numbers` as seeds, with commas between. Default: three that no scenario has.")
			f.IntVar(&c.count, "count", calibration.DefaultCount, "How many programs of each population are judged, for each seed.")
			f.StringVar(&c.work, "work", "", "Keep what was drawn and judged in this `folder`, and take what is there.")
			f.StringVar(&c.file, "out", "", "Write the world to this `file`.")
			f.StringVar(&c.check, "check", "", "Fit nothing; show what a world has, by `name`: published, or default, which no fit has moved.")
			f.BoolVar(&c.list, "list", false, "Run nothing; list the published numbers.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return c.run(ctx, s) }
		},
	}
}

type simCalibrate struct {
	out                      command.OutputFlags
	seeds, work, file, check string
	count                    int
	list                     bool
}

// defaultWorld is the name of the world that no fit has moved.
const defaultWorld = "default"

func (c *simCalibrate) run(ctx context.Context, s *command.Shell) error {
	if c.list {
		return c.printList(s)
	}
	if c.check != "" && c.file != "" {
		return command.UsageError("-check fits nothing that -out could write")
	}
	if c.check != "" && c.check != defaultWorld && !slices.Contains(truth.WorldNames(), c.check) {
		return command.UsageError("-check takes default or %s, not %q", strings.Join(truth.WorldNames(), " or "), c.check)
	}
	o := calibration.Options{Scenarios: examples.Files, Cases: calibration.Cases(), Statistics: calibration.Statistics(), Seeds: calibration.Seeds(), Count: c.count, Work: c.work}
	if c.seeds != "" {
		var ok bool
		if o.Seeds, ok = numbers(c.seeds); !ok {
			return command.UsageError("-seeds takes different whole numbers with commas between, not %q", c.seeds)
		}
	}
	progress := command.NewProgress(s, command.StillEvery)
	o.Progress = progress.Share("calibrate")
	world, err := c.calibrated(ctx, o)
	progress.End()
	if errors.Is(err, calibration.ErrOptions) {
		return command.UsageError("%s", err)
	}
	if world == nil {
		return err
	}
	printed := c.out.Print(s, world, func(p *command.Page) { worldPage(p, world) })
	if err != nil || printed != nil || c.file == "" {
		return errors.Join(err, printed)
	}
	var text bytes.Buffer
	if err := command.PrintJSON(&text, world); err != nil {
		return err
	}
	if err := calibration.WriteWhole(c.file, text.Bytes()); err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	return nil
}

func (c *simCalibrate) calibrated(ctx context.Context, o calibration.Options) (*truth.Calibration, error) {
	switch c.check {
	case "":
		return calibration.Run(ctx, o)
	case defaultWorld:
		return calibration.Check(ctx, o, truth.DefaultParameters())
	}
	world, err := truth.LookupWorld(c.check)
	if err != nil {
		return nil, err
	}
	return calibration.Check(ctx, o, world.Parameters)
}

// worldPage has a table for each shape.
func worldPage(p *command.Page, w *truth.Calibration) {
	p.Fact("Parameters", fmt.Sprintf("%+v", w.Parameters))
	shape := ""
	var rows [][]command.Cell
	flush := func() {
		if len(rows) > 0 {
			p.Table([]string{"Statistic", "Published", "Reached", "Residual", "All measured", "", ""}, rows)
		}
		rows = nil
	}
	for _, r := range w.Reached {
		if r.Shape != shape {
			flush()
			shape = r.Shape
			p.Section(fmt.Sprintf("%s (%s)", r.Shape, r.Scenario))
		}
		rows = append(rows, []command.Cell{
			command.Text(r.Statistic), command.Number(strconv.FormatFloat(r.Published, 'g', 4, 64)), hundredths(r.Reached), hundredths(r.Residual), hundredths(r.Measured), verdictCell(r), command.Text(r.Unit),
		})
	}
	flush()
}

func hundredths(v *float64) command.Cell {
	if v == nil {
		return command.Number("–")
	}
	return command.Number(strconv.FormatFloat(*v, 'f', 2, 64))
}

func verdictCell(r truth.Reached) command.Cell {
	switch {
	case r.Reached == nil:
		return command.Cell{Text: "nothing of it here", Hue: command.Faint}
	case r.Holds && r.Bound:
		return command.Cell{Text: "holds", Hue: command.Good}
	case r.Bound:
		return command.Cell{Text: "outside", Hue: command.Bad}
	case r.Holds:
		return command.Cell{Text: "as published", Hue: command.Good}
	default:
		return command.Cell{Text: "not as published", Hue: command.Warn}
	}
}

// listedStatistic is one of -list.
type listedStatistic struct {
	Name      string   `json:"name"`
	Source    string   `json:"source"`
	Published float64  `json:"published"`
	Tolerance float64  `json:"tolerance"`
	Unit      string   `json:"unit"`
	Use       string   `json:"use"`
	Why       string   `json:"why,omitempty"`
	Shapes    []string `json:"shapes,omitempty"` // none: all
}

func (c *simCalibrate) printList(s *command.Shell) error {
	var all []listedStatistic
	for _, k := range calibration.Statistics() {
		all = append(all, listedStatistic{k.Name, k.Source, k.Published, k.Tolerance, k.Unit, k.Use.String(), k.Why, k.On})
	}
	return c.out.Print(s, all, func(p *command.Page) {
		var rows [][]command.Cell
		for _, k := range all {
			rows = append(rows, []command.Cell{command.Heading(k.Name), command.Number(strconv.FormatFloat(k.Published, 'g', 4, 64)), command.Text(k.Unit), command.Text(k.Use), {Text: k.Source, Hue: command.Faint}})
		}
		p.Table([]string{"Statistic", "Published", "", "Use", "Source"}, rows)
	})
}
