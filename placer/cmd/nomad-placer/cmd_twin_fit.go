package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

func twinFitCommand() *command.Command {
	return &command.Command{
		Name: "twin fit", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Make a storage model of a block trace",
		About: "Reads a block trace twice and writes its model: a state diagram over ranges of addresses, with the sizes, directions and gaps of the I/Os, a rate for every 30 minutes, and a diagram for every type of threads. " +
			"The file has no names, no contents and no addresses but ranges, and stays below 1 MB for a day. A trace is a log of fio (version 2 or 3), text of blkparse, or a public trace; gzip is read as it is.",
		Example: "nomad-placer twin fit -o app.twin trace.log\n" +
			"blktrace -d /dev/vdb -w 3600 -o - | blkparse -i - > trace.txt",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinFit
			c.trace.add(f)
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Write the model to this `file`, or with - to standard output. By default nothing is written: the trace is checked and the model shown.")
			f.StringVar(&c.volume, "volume", "", "The `name` of the volume, where FILE has statistics by 30 minutes of several; its model has no ranges of addresses.")
			f.StringVar(&c.outstanding, "outstanding", "", "The most `reads,writes` that the workload has outstanding, as 4,128: no more are when the model is played. By default that is not known, and an I/O comes at its time whatever the disk does. /sys/block/NAME/inflight has both numbers of a moment.")
			f.IntVar(&c.threadReads, "thread-reads", 0, "With -outstanding, the most reads that one thread has outstanding, a `number`: 1 where threads wait for what they read. By default a thread has no bound of its own.")
			f.BoolVar(&c.waits, "waits", false, "With -outstanding, what an I/O takes longer all that come after are later by: a batch job. By default a workload makes up for it, as one with requests at their own times does.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

type twinFit struct {
	trace          traceFlags
	out            command.OutputFlags
	output, volume string
	outstanding    string
	threadReads    int
	waits          bool
}

// loop reads how the workload waits.
func (c *twinFit) loop() (*model.Loop, error) {
	switch {
	case c.threadReads < 0:
		return nil, command.UsageError("-thread-reads is not negative")
	case c.outstanding == "" && (c.waits || c.threadReads > 0):
		return nil, command.UsageError("-waits and -thread-reads need -outstanding")
	case c.outstanding == "":
		return nil, nil
	}
	reads, writes, ok := strings.Cut(c.outstanding, ",")
	loop := &model.Loop{ThreadReads: c.threadReads, Waits: c.waits}
	var err1, err2 error
	loop.Reads, err1 = strconv.Atoi(reads)
	loop.Writes, err2 = strconv.Atoi(writes)
	if !ok || err1 != nil || err2 != nil || min(loop.Reads, loop.Writes) < 1 {
		return nil, command.UsageError("-outstanding has two numbers from 1 on, as 4,128, not %q", c.outstanding)
	}
	return loop, nil
}

// twinFitReport is the report as -json prints it.
type twinFitReport struct {
	twinSummary
	Levels  []compare.Level `json:"levels_tried,omitempty"`
	Written string          `json:"written,omitempty"`
}

func (c *twinFit) run(ctx context.Context, s *command.Shell, path string) error {
	o, err := c.trace.options()
	if err != nil {
		return err
	}
	loop, err := c.loop()
	if err != nil {
		return err
	}
	m, levels, err := c.fit(ctx, s, path, o)
	if err != nil {
		return twinHint(err)
	}
	m.Loop = loop
	report := s.Out
	if c.output != "" {
		if report, err = forOutput(s, c.output, m.Write); err != nil {
			return err
		}
	}
	summary, err := summarize(m)
	if err != nil {
		return err
	}
	data := twinFitReport{summary, levels, c.output}
	return c.out.PrintTo(s, report, data, func(p *command.Page) {
		summaryPage(p, &data.twinSummary)
		levelsTable(p, levels)
		if c.output == "" {
			p.Line()
			p.Line(command.Text("Nothing was written; -o names a file."))
		}
	})
}

// fit makes the model of a trace, or of a volume of statistics.
func (c *twinFit) fit(ctx context.Context, s *command.Shell, path string, o compare.Options) (*model.Model, []compare.Level, error) {
	statistics, err := isStatistics(c.trace.format, path)
	switch {
	case err != nil:
		return nil, nil, err
	case statistics && c.volume == "":
		return nil, nil, command.UsageError("%s has statistics of several volumes: -volume names one", path)
	case statistics:
		m, err := volumeModel(path, c.volume)
		return m, nil, err
	case c.volume != "":
		return nil, nil, command.UsageError("%s is a trace: -volume is for statistics", path)
	}
	progress := command.NewProgress(s, command.StillEvery)
	defer progress.End()
	o.Progress = progress.Share("twin fit")
	return compare.Fit(ctx, c.trace.source(path), o)
}

// volumeModel makes the model of a volume of published statistics.
func volumeModel(path, name string) (*model.Model, error) {
	w, err := trace.OpenWindows(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }() // it was only read: nothing can be lost
	var m *model.Model
	var names []string
	err = compare.Volumes(w, func(v *compare.Volume) error {
		names = append(names, v.Name)
		if v.Name != name {
			return nil
		}
		var err error
		m, err = v.Model()
		return err
	})
	if err == nil && m == nil {
		err = command.WithHint(fmt.Errorf("%s has no volume %q", path, name), "it has "+wording.Shorten(strings.Join(names, ", "), command.PageWidth))
	}
	return m, err
}
