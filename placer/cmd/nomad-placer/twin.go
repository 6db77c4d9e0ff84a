package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// traceFlags are the flags of commands that read a trace.
type traceFlags struct {
	format      string
	levels      int
	deviceBytes int64
	interval    time.Duration
	merge       time.Duration
	directions  bool
	seed        uint64
}

func (t *traceFlags) add(f *flag.FlagSet) {
	f.StringVar(&t.format, "format", "", "The `name` of the trace's format: "+strings.Join(trace.Names(), ", ")+". By default it is found by the first line.")
	f.IntVar(&t.levels, "levels", 0, fmt.Sprintf("The `number` of levels of the diagram, 1 to %d. By default the first is taken to which the next adds little.", model.MaxLevels))
	f.Int64Var(&t.deviceBytes, "device-bytes", 0, "The size of the traced device in `bytes`. By default it ends with the last I/O.")
	f.DurationVar(&t.interval, "interval-length", model.IntervalLength, "Take the rate as constant for this `time`. A shorter one keeps bursts, and makes a longer file.")
	f.DurationVar(&t.merge, "merge", 0, "Join I/Os of one thread that adjoin one another and come within this `time`, as the kernel joins them before a device gets them: 100us for what twin capture recorded. By default none are joined.")
	f.BoolVar(&t.directions, "directions", false, "Keep the reads and the writes of a thread apart, each with its own rates: bursts of writes from the page cache stay writes.")
	f.Uint64Var(&t.seed, "seed", 1, "Where chance begins, a `number`: the same one gives the same result.")
}

// options checks the flags.
func (t *traceFlags) options() (compare.Options, error) {
	switch {
	case t.levels < 0 || t.levels > model.MaxLevels:
		return compare.Options{}, command.UsageError("-levels is 1 to %d, not %d", model.MaxLevels, t.levels)
	case t.interval < model.ShortestInterval:
		return compare.Options{}, command.UsageError("-interval-length is %v or longer, not %v", model.ShortestInterval, t.interval)
	case t.merge < 0:
		return compare.Options{}, command.UsageError("-merge is not negative")
	case t.deviceBytes < 0:
		return compare.Options{}, command.UsageError("-device-bytes is a size, not %d", t.deviceBytes)
	}
	return compare.Options{Levels: t.levels, DeviceBytes: t.deviceBytes, Interval: t.interval, Directions: t.directions, Seed: t.seed}, nil
}

// source opens the trace, as often as it is read.
func (t *traceFlags) source(path string) compare.Source {
	return func() (storage.Trace, error) {
		opened, err := trace.Open(path, t.format)
		if err != nil {
			return nil, twinHint(err)
		}
		if opened = storage.Merge(opened, t.merge); t.directions {
			return storage.Split(opened), nil
		}
		return opened, nil
	}
}

// isStatistics tells published statistics from a trace, unless its format is named.
func isStatistics(format, path string) (bool, error) {
	if format != "" {
		return false, nil
	}
	return trace.IsWindows(path)
}

// twinHint says what helps against an error of the storage packages.
func twinHint(err error) error {
	switch {
	case errors.Is(err, model.ErrNewer), errors.Is(err, trace.ErrFormat):
		return err // they say it themselves
	case errors.Is(err, model.ErrFile):
		return command.WithHint(err, "nomad-placer twin fit writes what can be read here")
	case errors.Is(err, compare.ErrOptions), errors.Is(err, generate.ErrOptions):
		return command.UsageError("%s", err)
	default:
		return err
	}
}

// readTwin reads a model from a file.
func readTwin(path string) (*model.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.Read(path, f)
	return m, twinHint(err)
}

// forOutput writes to a file, or for - to standard output; then what the command reports
// goes to standard error.
func forOutput(s *command.Shell, path string, write func(io.Writer) error) (report io.Writer, err error) {
	if path == "-" {
		return s.Err, write(s.Out)
	}
	return s.Out, writeWhole(path, write)
}
