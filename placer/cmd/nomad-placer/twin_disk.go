package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// diskFlags are the flags of commands that play load on a disk.
type diskFlags struct {
	dir    string
	size   int64
	seed   uint64
	length time.Duration
}

func (d *diskFlags) add(f *flag.FlagSet) {
	f.StringVar(&d.dir, "dir", "", "The `folder` for scratch files: its disk is played on. Required.")
	f.Int64Var(&d.size, "size", 0, "The size of a scratch file in `bytes`. By default that of the model's device; addresses are scaled to a smaller one.")
	f.DurationVar(&d.length, "for", time.Minute, "Play each load for this `time`: intervals are made shorter or longer, gaps stay.")
	f.Uint64Var(&d.seed, "seed", 0, "Where chance begins, a `number`. By default that of the model.")
}

func (d *diskFlags) check() error {
	switch {
	case d.dir == "":
		return command.UsageError("-dir names a folder for scratch files")
	case d.size < 0:
		return command.UsageError("-size is not negative")
	case d.length < time.Second:
		return command.UsageError("-for is a second or longer, not %v", d.length)
	}
	return nil
}

// model reads the model of a load, on a device of the size that is asked for.
func (d *diskFlags) model(path string) (*model.Model, error) {
	m, err := readTwin(path)
	if err != nil {
		return nil, err
	}
	if m, err = m.OnDevice(cmp.Or(d.size, m.Device.Bytes)); err != nil {
		return nil, command.UsageError("-size: %s", err)
	}
	return m, nil
}

// twin makes the scratch file of a model.
func (d *diskFlags) twin(ctx context.Context, m *model.Model, share func(float64, string)) (*blockio.Twin, error) {
	return blockio.NewTwin(ctx, m, d.dir, cmp.Or(d.seed, m.Seed), d.length, func(done float64) { share(done, "filling the scratch file") })
}

// playHint says what helps against an error of playing.
func playHint(err error) error {
	switch {
	case errors.Is(err, blockio.ErrRoom):
		return command.WithHint(err, "-size makes a smaller file: addresses are scaled to it")
	case errors.Is(err, blockio.ErrDirect):
		return command.WithHint(err, "name a folder on a file system on a disk; in memory, there is nothing to measure")
	case errors.Is(err, blockio.ErrFolder):
		return command.WithHint(err, "-dir names a folder that can be written to, on the disk that is to be measured")
	default:
		return twinHint(err)
	}
}
