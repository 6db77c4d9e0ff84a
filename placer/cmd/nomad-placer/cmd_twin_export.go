package main

import (
	"context"
	"flag"
	"io"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

func twinExportCommand() *command.Command {
	return &command.Command{
		Name: "twin export", Arguments: "MODEL", MinArgs: 1, MaxArgs: 1, Synopsis: "Write a storage model as load for fio",
		About: "Writes what fio plays: a log of timed I/Os (read_iolog; fio 3.31 or newer), drawn by walking over the diagram, which keeps the order between ranges of addresses; or a job file, a job for every kind of I/O, which is short and portable and loses that order. " +
			"The same seed gives the same bytes. Name a scratch file or device: fio writes to it.",
		Example: "nomad-placer twin export -o load.log -data /scratch/data app.twin\n" +
			"fio --name=twin --read_iolog=load.log --ioengine=libaio --iodepth=256 --direct=1\n" +
			"nomad-placer twin export -form jobs -o load.fio -data /scratch/data -runtime 1m app.twin",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinExport
			c.add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

// The forms of an export.
const (
	logForm  = "log"
	jobsForm = "jobs"
)

type twinExport struct {
	out                command.OutputFlags
	form, output       string
	data, logs, family string
	seed               uint64
	ios                int64
	intensity, squeeze float64
	interval, depth    int
	runtime            time.Duration
}

func (c *twinExport) add(f *flag.FlagSet) {
	c.out.Add(f)
	f.StringVar(&c.form, "form", logForm, "The `form`: log for read_iolog, jobs for a job file.")
	f.StringVar(&c.output, "o", "-", "Write to this `file`; - is standard output.")
	f.StringVar(&c.data, "data", "twin.data", "The `file` or device that fio reads and writes.")
	f.StringVar(&c.logs, "logs", "", "The `file` or device of threads that are logs. By default that of -data.")
	f.Float64Var(&c.intensity, "intensity", 1, "Scale gaps by this `factor`: 0.5 has twice the I/Os in the same time.")
	f.Uint64Var(&c.seed, "seed", 0, "Log: where chance begins, a `number`. By default that of the model.")
	f.Int64Var(&c.ios, "ios", 0, "Log: this `number` of I/Os, beginning the model's time again as needed. By default its time once.")
	f.Float64Var(&c.squeeze, "compression", 1, "Log: shorten every interval by this `factor` and leave gaps as they are: 96 makes 15 minutes of a day.")
	f.StringVar(&c.family, "gaps", "", "Log: draw all gaps from this `family`: "+familyNames()+". By default from that of each transition.")
	f.IntVar(&c.interval, "interval", 0, "Jobs: take the rate of this interval, a `number` from 1. By default the mean of all.")
	f.DurationVar(&c.runtime, "runtime", 0, "Jobs: run for this `time`. By default as long as the interval is.")
	f.IntVar(&c.depth, "depth", 0, "Jobs: keep this `number` of I/Os outstanding instead of a rate. By default the rate of the model.")
}

func familyNames() string {
	var names []string
	for _, f := range model.Families() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// exportReport is the report as -json prints it.
type exportReport struct {
	Form    string  `json:"form"`
	Written string  `json:"written"`
	Seed    uint64  `json:"seed,omitempty"`
	IOs     int64   `json:"ios,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

func (c *twinExport) run(ctx context.Context, s *command.Shell, path string) error {
	switch {
	case c.form != logForm && c.form != jobsForm:
		return command.UsageError("-form is %s or %s, not %q", logForm, jobsForm, c.form)
	case c.data == "" || strings.ContainsAny(c.data+c.logs, " \t\n:"):
		return command.UsageError("-data and -logs name files without blanks and colons: fio reads neither")
	case c.runtime < 0 || c.interval < 0 || c.depth < 0 || c.ios < 0:
		return command.UsageError("-runtime, -interval, -depth and -ios are not negative")
	}
	m, err := readTwin(path)
	if err != nil {
		return err
	}
	var data exportReport
	var report io.Writer
	if c.form == jobsForm {
		data.Form = jobsForm
		report, err = forOutput(s, c.output, func(w io.Writer) error {
			return generate.WriteJobs(w, m, generate.JobOptions{Data: c.data, Logs: c.logs, Runtime: c.runtime, Interval: c.interval, Intensity: c.intensity, Depth: c.depth})
		})
	} else {
		data, report, err = c.writeLog(ctx, s, m)
	}
	if err != nil {
		return twinHint(err)
	}
	data.Written = c.output
	return c.out.PrintTo(s, report, data, func(p *command.Page) { exportPage(p, data) })
}

func (c *twinExport) writeLog(ctx context.Context, s *command.Shell, m *model.Model) (exportReport, io.Writer, error) {
	seed := c.seed
	if seed == 0 {
		seed = m.Seed
	}
	w, err := generate.NewWalk(m, generate.Options{Seed: seed, IOs: c.ios, Intensity: c.intensity, Compression: c.squeeze, Family: model.Family(c.family)})
	if err != nil {
		return exportReport{}, nil, err
	}
	progress := command.NewProgress(s, command.StillEvery)
	share := progress.Share("twin export")
	whole := w.Expected()
	data := exportReport{Form: logForm, Seed: seed}
	report, err := forOutput(s, c.output, func(to io.Writer) error {
		var err error
		data.IOs, err = generate.WriteLog(to, w, generate.LogOptions{Data: c.data, Logs: c.logs, IsLog: w.IsLog, Wrote: func(n int64, at time.Duration) error {
			share(float64(n)/whole, wording.Duration(at)+" of its time")
			return ctx.Err()
		}})
		return err
	})
	progress.End()
	data.Seconds = w.Last().Seconds()
	return data, report, err
}

func exportPage(p *command.Page, e exportReport) {
	if e.Form == jobsForm {
		p.Line(command.Text("A job file of fio was written to " + outputText(e.Written) + "."))
		return
	}
	p.Line(command.Text("A log of fio was written to " + outputText(e.Written) + ": " + wording.Number(float64(e.IOs)) + " I/Os in " + wording.Duration(time.Duration(e.Seconds*float64(time.Second))) + "."))
}

func outputText(path string) string {
	if path == "-" {
		return "standard output"
	}
	return path
}
