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
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

func twinPairCommand() *command.Command {
	return &command.Command{
		Name: "twin pair", Arguments: "MODEL MODEL", MinArgs: 2, MaxArgs: 2, Synopsis: "Measure what two workloads lose by one another on a disk",
		About: "Plays two models in isolation and together, in turns, on scratch files on one disk, and prints what part of its performance each loses next to the other: by its mean latency, and by its throughput. " +
			"The models stand for the workloads, which need not run for that. With more rounds the range says how far to trust the median.",
		Example: "nomad-placer twin pair -dir /scratch -for 30s search.twin mail.twin",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinPair
			c.out.Add(f)
			c.disk.add(f)
			f.IntVar(&c.rounds, "rounds", 3, "How many `rounds`: one plays each model once in isolation, and twice together.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args) }
		},
	}
}

type twinPair struct {
	out    command.OutputFlags
	disk   diskFlags
	rounds int
}

// pairReport is the report as -json prints it.
type pairReport struct {
	Fio     string     `json:"fio"`
	Folder  string     `json:"folder"`
	Members []pairSide `json:"members"`
}

// pairSide is one of two models.
type pairSide struct {
	Model    string         `json:"model"`
	Isolated []blockio.Step `json:"isolated"` // by round
	Together []blockio.Step `json:"together"` // two by round
	// Loss has the medians over what was played together, each against its round's isolated
	// one; Low and High are the range by latency.
	Loss blockio.Loss `json:"loss"`
	Low  float64      `json:"low_by_latency"`
	High float64      `json:"high_by_latency"`
}

func (c *twinPair) run(ctx context.Context, s *command.Shell, paths []string) error {
	if err := c.disk.check(); err != nil {
		return err
	}
	if c.rounds < 1 {
		return command.UsageError("-rounds is 1 or more, not %d", c.rounds)
	}
	player, err := blockio.NewPlayer(ctx, c.disk.fio)
	if err != nil {
		return playHint(err)
	}
	progress := command.NewProgress(s, command.StillEvery)
	report, err := c.measure(ctx, player, paths, progress)
	progress.End()
	if err != nil {
		return playHint(err)
	}
	return c.out.Print(s, report, func(p *command.Page) { pairPage(p, report) })
}

func (c *twinPair) measure(ctx context.Context, player *blockio.Player, paths []string, progress *command.Progress) (report *pairReport, err error) {
	report = &pairReport{Fio: player.Version, Folder: c.disk.dir}
	var loads []*twinLoad
	defer func() {
		for _, l := range loads {
			err = errors.Join(err, l.scratch.Remove())
		}
	}()
	for _, path := range paths {
		m, err := c.disk.model(path)
		if err != nil {
			return nil, err
		}
		load, err := c.disk.load(ctx, m, progress.Share("twin pair"))
		if err != nil {
			return nil, err
		}
		loads = append(loads, load)
		report.Members = append(report.Members, pairSide{Model: filepath.Base(path)})
	}
	for round := range c.rounds {
		for i := range loads {
			progress.Show(fmt.Sprintf("twin pair: round %d of %d, %s in isolation", round+1, c.rounds, report.Members[i].Model))
			step, err := loads[i].play(ctx, player, 1)
			if err != nil {
				return nil, err
			}
			report.Members[i].Isolated = append(report.Members[i].Isolated, step)
			progress.Show(fmt.Sprintf("twin pair: round %d of %d, both", round+1, c.rounds))
			if err := together(ctx, player, loads, report.Members); err != nil {
				return nil, err
			}
		}
	}
	for i := range report.Members {
		report.Members[i].sum()
	}
	return report, nil
}

// together plays all loads at once.
func together(ctx context.Context, player *blockio.Player, loads []*twinLoad, sides []pairSide) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var prepared []*preparedLoad
	defer func() {
		for _, p := range prepared {
			err = errors.Join(err, p.remove())
		}
	}()
	for _, l := range loads {
		p, err := l.prepare(ctx, 1)
		if err != nil {
			return err
		}
		prepared = append(prepared, p)
	}
	steps, errs := make([]blockio.Step, len(loads)), make(chan error, len(loads))
	for i, p := range prepared {
		go func() {
			var err error
			if steps[i], err = p.play(ctx, player); err != nil {
				cancel() // the other one alone says nothing
			}
			errs <- err
		}()
	}
	var all []error
	for range loads {
		all = append(all, <-errs)
	}
	if err := firstCause(all); err != nil {
		return err
	}
	for i := range sides {
		sides[i].Together = append(sides[i].Together, steps[i])
	}
	return nil
}

// firstCause is an error that is no consequence of another's.
func firstCause(errs []error) error {
	cause := errors.Join(errs...)
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return cause
}

// sum compares what was played together with the isolated load of its round.
func (s *pairSide) sum() {
	var latency, throughput []float64
	for i, t := range s.Together {
		loss := blockio.LossOf(s.Isolated[i/2].Played, t.Played)
		latency, throughput = append(latency, loss.ByLatency), append(throughput, loss.ByThroughput)
	}
	slices.Sort(latency)
	slices.Sort(throughput)
	s.Loss = blockio.Loss{ByLatency: stat.Quantile(latency, 0.5), ByThroughput: stat.Quantile(throughput, 0.5)}
	s.Low, s.High = latency[0], latency[len(latency)-1]
}

func pairPage(p *command.Page, r *pairReport) {
	p.Fact("Folder", r.Folder)
	p.Fact("Player", r.Fio+", direct I/O")
	p.Section("Lost by one another, % of performance in isolation")
	number := func(v float64) command.Cell { return command.Number(strconv.FormatFloat(100*v, 'f', 1, 64)) }
	var rows [][]command.Cell
	for _, m := range r.Members {
		rows = append(rows, []command.Cell{
			command.Heading(m.Model), number(m.Loss.ByLatency), command.Text(fmt.Sprintf("%.1f to %.1f", 100*m.Low, 100*m.High)), number(m.Loss.ByThroughput),
		})
	}
	p.Table([]string{"Model", "By latency", "Range", "By throughput"}, rows)
	for _, m := range r.Members {
		p.Section(m.Model)
		var rows [][]command.Cell
		for _, part := range []struct {
			name  string
			steps []blockio.Step
		}{{"in isolation", m.Isolated}, {"together", m.Together}} {
			for _, s := range part.steps {
				rows = append(rows, append([]command.Cell{command.Text(part.name)}, stepCells(s)...))
			}
		}
		p.Table(append([]string{""}, stepHeader...), rows)
	}
	p.Line()
	p.Line(command.Text("Interference of the pair, the mean of both by latency: " + wording.Number(50*(r.Members[0].Loss.ByLatency+r.Members[1].Loss.ByLatency)) + " %."))
}
