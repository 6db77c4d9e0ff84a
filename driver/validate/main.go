package validate

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The exit codes of Main.
const (
	exitOK     = 0 // measured to the end, also where targets are missed
	exitFailed = 1
	exitUsage  = 2
)

// workerRole is the first argument of the command when it is started as a
// worker.
const workerRole = "worker"

// defaultDir keeps the state next to the calibration of the driver.
const defaultDir = "/var/lib/nomad-driver-ibench/validation"

// options are the command line.
type options struct {
	dir, storage     string
	report, markdown string
	json, quick      bool
	fresh            bool
	seed             uint64
	sources          []interference.Source
	commandLine      string
	program          program
}

// Main runs the command with the arguments after its name.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == workerRole {
		return worker.Main(args[1:], stderr)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, stdout, stderr); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(stderr, "interrupted: what is measured is kept; the same command goes on from there")
		}
		fmt.Fprintln(stderr, err)
		return exitFailed
	}
	return exitOK
}

const usageText = `Usage: nomad-driver-ibench validate [options]

Measures whether the interference kernels of this machine do what they say, and
writes a report: linearity, peaks against other programs, victims, cross-talk.
It takes up to a quarter of an hour, with the calibration, and loads every CPU,
the disk and the memory meanwhile: run it on a machine that does nothing else. An
interrupted run goes on where it was.

Some peaks are compared with programs of others, where they are installed. On
Debian and Ubuntu:

  apt-get install fio iperf3 stress-ng

Options:
`

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var sources string
	flags := flag.NewFlagSet("validate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usageText)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.report, "report", "", "write the report to this HTML file")
	flags.StringVar(&o.markdown, "markdown", "", "write the tables of the report to this Markdown file")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON instead of a summary")
	flags.StringVar(&sources, "sources", "", "comma-separated sources; all of them if empty")
	flags.BoolVar(&o.quick, "quick", false, "rough numbers: only to see that everything works")
	flags.BoolVar(&o.fresh, "fresh", false, "discard what an earlier run has measured")
	flags.Uint64Var(&o.seed, "seed", 1, "of everything random")
	flags.StringVar(&o.dir, "dir", defaultDir, "directory that keeps what is measured")
	flags.StringVar(&o.storage, "storage-dir", "", "directory on the disk to put load on; the state directory if empty")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	o.commandLine = strings.TrimSpace("nomad-driver-ibench validate " + strings.Join(args, " "))
	o.program.worker = []string{"validate", workerRole}
	if o.storage == "" {
		o.storage = o.dir
	}
	var err error
	o.sources, err = parseSources(sources)
	return o, err
}

// parseSources returns the named sources in the order of the paper.
func parseSources(list string) ([]interference.Source, error) {
	wanted := map[interference.Source]bool{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		s, err := interference.ParseSource(name)
		if err != nil {
			return nil, err
		}
		wanted[s] = true
	}
	var out []interference.Source
	for _, info := range interference.Sources() {
		if len(wanted) == 0 || wanted[info.Source] {
			out = append(out, info.Source)
		}
	}
	return out, nil
}

// run measures what is not measured yet and writes the reports.
func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	v, err := prepare(o)
	if err != nil {
		return err
	}
	p := newReporter(stderr, time.Now)
	defer p.close()
	disturbed := busyNote("/proc/loadavg", len(v.cpus))
	if disturbed != "" {
		p.note(disturbed)
	}
	calibration, err := v.calibrate(ctx, p)
	if err != nil {
		return err
	}
	report, cells, err := v.measure(ctx, calibration, p)
	if err != nil {
		return err
	}
	if disturbed != "" {
		report.Notes = append(report.Notes, disturbed)
	}
	if err := report.assemble(v.state, cells); err != nil {
		return err
	}
	p.close()
	return write(report, o, stdout)
}

// validation is one run.
type validation struct {
	options options
	machine ibench.Machine
	cpus    []int
	header  stateHeader
	state   state
}

func prepare(o options) (validation, error) {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return validation{}, fmt.Errorf("read the machine: %w", err)
	}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		return validation{}, err
	}
	hash, err := programHash()
	if err != nil {
		return validation{}, err
	}
	for _, dir := range []*string{&o.dir, &o.storage} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return validation{}, fmt.Errorf("directory: %w", err)
		}
	}
	header := stateHeader{
		Format: StateFormat, Program: hash, Machine: ibench.KeyOf(machine, cpus), Seed: o.seed, Quick: o.quick, Storage: o.storage,
	}
	st, err := openState(o.dir, header, o.fresh)
	return validation{options: o, machine: machine, cpus: cpus, header: header, state: st}, err
}

// calibrate makes or reuses the calibration of the sources.
func (v validation) calibrate(ctx context.Context, p progress) (ibench.Calibration, error) {
	spec := ibench.CalibrateSpec{
		Executable: v.options.program.executable, Arguments: v.options.program.kernel,
		Machine: v.machine, CPUs: v.cpus, Sources: v.options.sources, Path: v.options.storage, Seed: v.options.seed,
	}
	note := func(c ibench.CalibrationProgress) {
		p.note(fmt.Sprintf("calibrating %s, %d of %d", c.Source, c.Done+1, c.Total))
	}
	c, err := ibench.LoadCalibration(v.state.calibration(), v.header.Machine)
	if err == nil && covers(c, v.options.sources) {
		return c, nil
	}
	if err != nil && !errors.Is(err, ibench.ErrNoCalibration) {
		p.note("calibrating again: " + err.Error())
	}
	if c, err = ibench.Calibrate(ctx, spec, note); err != nil {
		return c, err
	}
	if err := c.Save(v.state.calibration()); err != nil || v.options.quick {
		return c, err
	}
	// What was not straight may only have been disturbed.
	if c, err = ibench.RepairCalibration(ctx, v.state.calibration(), spec, note); err != nil {
		return c, err
	}
	return c, c.Save(v.state.calibration())
}

func covers(c ibench.Calibration, sources []interference.Source) bool {
	for _, s := range sources {
		if _, ok := c.Source(s); !ok {
			return false
		}
	}
	return true
}

// measure measures the cells of the sources that run here.
func (v validation) measure(ctx context.Context, c ibench.Calibration, p progress) (Report, []cell, error) {
	scratch, remove, err := makeScratch()
	if err != nil {
		return Report{}, nil, err
	}
	l := newLayout(v.machine, v.cpus)
	b := &machineBench{
		program: v.options.program, scratch: scratch, storage: v.options.storage,
		calibration: v.state.calibration(), seed: v.options.seed, weight: openWeightGroup(),
		tempo: ibench.StartTempo(),
	}
	s := &session{bench: b, pace: fullPace(), machine: v.machine, layout: l, storage: v.options.storage, cast: newCast(b)}
	if v.options.quick {
		s.pace = quickPace()
	}
	report := v.report(c, l)
	report.Notes = b.weight.notes()
	var runs []interference.Source
	for _, r := range report.Sources {
		if r.Status != ibench.StatusUnsupported {
			runs = append(runs, r.Source)
		}
	}
	cells := s.cells(runs)
	err = s.runCells(ctx, v.state, cells, time.Now, p)
	report.Ended = time.Now().UTC()
	return report, cells, errors.Join(err, b.tempo.Close(), b.weight.close(), remove())
}

// report is the report's head.
func (v validation) report(c ibench.Calibration, l layout) Report {
	r := Report{
		Format: ReportFormat, CommandLine: v.options.commandLine, Program: v.header.Program,
		Started: time.Now().UTC(), Seed: v.options.seed, Quick: v.options.quick,
		Machine: MachineRecord{
			Key: v.header.Machine, CalibrationID: c.Key.ID(), CPUs: len(v.machine.CPUs), SMT: v.machine.SMT(),
			MemoryBytes: v.machine.MemoryTotalBytes, Caches: v.machine.Caches, VictimCPU: l.victim, BesideCPUs: l.beside,
		},
	}
	for _, s := range v.options.sources {
		sc, _ := c.Source(s)
		record := SourceRecord{Source: s, Status: sc.Status, Reason: sc.Reason, Notes: sc.Notes}
		if d, err := ibench.Describe(s); err == nil {
			record.Knob = d.Knob
		}
		r.Sources = append(r.Sources, record)
	}
	return r
}

// write writes the reports asked for, and a summary or JSON to stdout.
func write(r Report, o options, stdout io.Writer) error {
	if o.report != "" {
		page, err := r.HTML()
		if err != nil {
			return err
		}
		if err := writeFile(o.report, page); err != nil {
			return err
		}
	}
	if o.markdown != "" {
		if err := writeFile(o.markdown, []byte(r.Markdown())); err != nil {
			return err
		}
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err := fmt.Fprint(stdout, r.Summary(isTerminal(stdout)))
	return err
}

// isTerminal reports whether colours may be used.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd()) && os.Getenv("NO_COLOR") == ""
}
