package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

func twinPairCommand() *command.Command {
	return &command.Command{
		Name: "twin pair", Arguments: "MODEL MODEL [MODEL ...]", MinArgs: 2, MaxArgs: mostModels, Synopsis: "Measure what workloads lose by one another on a disk",
		About: "Plays models in isolation and each pair of them together, in turns, on scratch files on one disk, and prints what part of its performance each loses next to each other one: by its mean latency, and by its throughput. " +
			"The models stand for the workloads, which need not run for that. With more rounds the range says how far to trust the median.",
		Example: "nomad-placer twin pair -dir /scratch -for 30s search.twin mail.twin",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinPair
			c.out.Add(f)
			c.disk.add(f)
			f.IntVar(&c.rounds, "rounds", 3, "How many `rounds`: one plays each model once in isolation, and each pair once.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args) }
		},
	}
}

type twinPair struct {
	out    command.OutputFlags
	disk   diskFlags
	rounds int
}

// mostModels bounds what is compared at once: 2,016 pairs, which is a day of runs of 30 seconds.
const mostModels = 64

// pairReport is the report as -json prints it.
type pairReport struct {
	Folder string      `json:"folder"`
	Models []pairModel `json:"models"`
	Pairs  []pairSides `json:"pairs"`
}

// pairModel is one of the models, in isolation.
type pairModel struct {
	Model    string         `json:"model"`
	Isolated []blockio.Step `json:"isolated"` // by round
}

// pairSides are two of them together.
type pairSides [2]pairSide

// pairSide is one of two models.
type pairSide struct {
	Model    string         `json:"model"`
	Together []blockio.Step `json:"together"` // by round
	// Loss has the medians over what was played together, each against its round's isolated
	// one; Low and High are the range by latency.
	Loss blockio.Loss `json:"loss"`
	Low  float64      `json:"low_by_latency"`
	High float64      `json:"high_by_latency"`

	model int // which of the models
}

func (c *twinPair) run(ctx context.Context, s *command.Shell, paths []string) error {
	if err := c.disk.check(); err != nil {
		return err
	}
	if c.rounds < 1 {
		return command.UsageError("-rounds is 1 or more, not %d", c.rounds)
	}
	progress := command.NewProgress(s, command.StillEvery)
	report, err := c.measure(ctx, paths, progress)
	progress.End()
	if err != nil {
		return playHint(err)
	}
	return c.out.Print(s, report, func(p *command.Page) { pairPage(p, report) })
}

func (c *twinPair) measure(ctx context.Context, paths []string, progress *command.Progress) (report *pairReport, err error) {
	report = &pairReport{Folder: c.disk.dir}
	var twins []*blockio.Twin
	defer func() {
		for _, t := range twins {
			err = errors.Join(err, t.Scratch.Remove())
		}
	}()
	var loads []blockio.Load
	for _, path := range paths {
		m, err := c.disk.model(path)
		if err != nil {
			return nil, err
		}
		twin, err := c.disk.twin(ctx, m, progress.Share("twin pair"))
		if err != nil {
			return nil, err
		}
		twins = append(twins, twin)
		loads = append(loads, func(ctx context.Context) (blockio.Step, error) { return twin.Play(ctx, 1) })
		report.Models = append(report.Models, pairModel{Model: filepath.Base(path)})
	}
	for i := range loads {
		for k := i + 1; k < len(loads); k++ {
			report.Pairs = append(report.Pairs, pairSides{{Model: report.Models[i].Model, model: i}, {Model: report.Models[k].Model, model: k}})
		}
	}
	for round := range c.rounds {
		show := func(what string) {
			progress.Show(fmt.Sprintf("twin pair: round %d of %d, %s", round+1, c.rounds, what))
		}
		if err := report.measure(ctx, loads, show); err != nil {
			return nil, err
		}
	}
	for i := range report.Pairs {
		for k := range report.Pairs[i] {
			side := &report.Pairs[i][k]
			side.sum(report.Models[side.model].Isolated)
		}
	}
	return report, nil
}

// measure measures a round.
func (r *pairReport) measure(ctx context.Context, loads []blockio.Load, show func(what string)) error {
	for i := range loads {
		show(r.Models[i].Model + " in isolation")
		step, err := loads[i](ctx)
		if err != nil {
			return err
		}
		r.Models[i].Isolated = append(r.Models[i].Isolated, step)
	}
	for i := range r.Pairs {
		pair := &r.Pairs[i]
		show(pair[0].Model + " and " + pair[1].Model)
		steps, err := blockio.PlayTogether(ctx, loads[pair[0].model], loads[pair[1].model])
		if err != nil {
			return err
		}
		for k, step := range steps {
			pair[k].Together = append(pair[k].Together, step)
		}
	}
	return nil
}

// sum compares what was played together with the isolated load of its round.
func (s *pairSide) sum(isolated []blockio.Step) {
	var latency, throughput []float64
	for i, t := range s.Together {
		loss := blockio.LossOf(isolated[i].Played, t.Played)
		latency, throughput = append(latency, loss.ByLatency), append(throughput, loss.ByThroughput)
	}
	slices.Sort(latency)
	slices.Sort(throughput)
	s.Loss = blockio.Loss{ByLatency: stat.Quantile(latency, 0.5), ByThroughput: stat.Quantile(throughput, 0.5)}
	s.Low, s.High = latency[0], latency[len(latency)-1]
}

func pairPage(p *command.Page, r *pairReport) {
	p.Fact("Folder", r.Folder)
	p.Fact("Player", "direct I/O")
	p.Section("Lost by one another, % of performance in isolation")
	number := func(v float64) command.Cell { return command.Number(strconv.FormatFloat(100*v, 'f', 1, 64)) }
	var rows [][]command.Cell
	for _, pair := range r.Pairs {
		both := number((pair[0].Loss.ByLatency + pair[1].Loss.ByLatency) / 2)
		for k, m := range pair {
			rows = append(rows, []command.Cell{
				command.Heading(m.Model), command.Text(pair[1-k].Model), number(m.Loss.ByLatency), command.Text(fmt.Sprintf("%.1f to %.1f", 100*m.Low, 100*m.High)), number(m.Loss.ByThroughput), both,
			})
		}
	}
	p.Table([]string{"Model", "Next to", "By latency", "Range", "By throughput", "Of the pair"}, rows)
	for i, m := range r.Models {
		p.Section(m.Model)
		var rows [][]command.Cell
		add := func(name string, steps []blockio.Step) {
			for _, s := range steps {
				rows = append(rows, append([]command.Cell{command.Text(name)}, stepCells(s)...))
			}
		}
		add("in isolation", m.Isolated)
		for _, pair := range r.Pairs {
			for k, side := range pair {
				if side.model == i {
					add("next to "+pair[1-k].Model, side.Together)
				}
			}
		}
		p.Table(append([]string{""}, stepHeader...), rows)
	}
	p.Line()
	p.Line(command.Text("Of the pair: its interference, the mean of both by latency."))
}
