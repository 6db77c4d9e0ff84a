package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

func twinCompareCommand() *command.Command {
	return &command.Command{
		Name: "twin compare", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Say how well a storage model tells a trace",
		About: "Fits a model to the first part of a block trace and compares what it generates with the rest: mix and sizes, ranges of addresses, weights of transitions, misses of LRU caches, and throughput and latency of a reference disk; next to it, exact replay of the first part, the flat diagram and generators without locality. " +
			"With -model a model is judged by the whole trace. A row that misses its limit says whether exact replay misses it too: then the trace itself changed. That something is missed is a result, not a failure. " +
			"Statistics by 30 minutes (the published ones of CloudPhysics) are compared by volume: the first part with the rest, and the rates of a walk with those it is told.",
		Example: "nomad-placer twin compare -report twin.html trace.log\n" +
			"nomad-placer twin compare -model app.twin other-day.log",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinCompare
			c.trace.add(f)
			c.out.Add(f)
			c.out.AddVerbose(f, "Print the rows of every stream.")
			f.StringVar(&c.model, "model", "", "Judge the model of this `file` instead of one that is fitted to the trace.")
			f.Float64Var(&c.split, "split", 0.5, "Fit to this `part` of the I/Os; 1 fits and judges by the whole trace.")
			f.Int64Var(&c.weights, "weights", compare.DefaultWeights, "Compare weights at this `number` of I/Os.")
			f.StringVar(&c.page, "report", "", "Write an HTML page with pictures to this `file`.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

type twinCompare struct {
	trace       traceFlags
	out         command.OutputFlags
	model, page string
	split       float64
	weights     int64
}

func (c *twinCompare) run(ctx context.Context, s *command.Shell, path string) error {
	o, err := c.trace.options()
	if err != nil {
		return err
	}
	if c.weights < 2 {
		return command.UsageError("-weights is a number of I/Os, not %d", c.weights)
	}
	o.Split, o.Weights = c.split, c.weights
	statistics, err := isStatistics(c.trace.format, path)
	if err != nil {
		return err
	}
	if statistics {
		return c.totals(ctx, s, path, o)
	}
	progress := command.NewProgress(s, command.StillEvery)
	o.Progress = progress.Share("twin compare")
	report, err := c.compare(ctx, path, o)
	progress.End()
	if err != nil {
		return twinHint(err)
	}
	if c.page != "" {
		if err := writeWhole(c.page, report.HTML); err != nil {
			return fmt.Errorf("twin compare: %w", err)
		}
	}
	return c.out.Print(s, report, func(p *command.Page) { comparePage(p, report) })
}

func (c *twinCompare) compare(ctx context.Context, path string, o compare.Options) (*compare.Report, error) {
	if c.model == "" {
		return compare.Trace(ctx, c.trace.source(path), o)
	}
	m, err := readTwin(c.model)
	if err != nil {
		return nil, err
	}
	return compare.Model(ctx, m, c.trace.source(path), o)
}

// totals compares published statistics.
func (c *twinCompare) totals(ctx context.Context, s *command.Shell, path string, o compare.Options) error {
	if c.model != "" || c.page != "" || c.trace.levels != 0 || c.trace.deviceBytes != 0 || c.trace.interval != model.IntervalLength {
		return command.UsageError("%s has statistics: -model, -report, -levels, -device-bytes and -interval-length are for traces", path)
	}
	w, err := trace.OpenWindows(path)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // it was only read: nothing can be lost
	report, err := compare.Totals(ctx, w, o)
	if err != nil {
		return twinHint(err)
	}
	return c.out.Print(s, report, func(p *command.Page) { totalsPage(p, report) })
}
