package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// diskFlags are the flags of commands that play load on a disk.
type diskFlags struct {
	dir, fio string
	size     int64
	seed     uint64
	length   time.Duration
}

func (d *diskFlags) add(f *flag.FlagSet) {
	f.StringVar(&d.dir, "dir", "", "The `folder` for scratch files: its disk is played on. Required.")
	f.StringVar(&d.fio, "fio", "fio", "The `program` fio, by name or path.")
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

// twinLoad is a model on a scratch file of its own.
type twinLoad struct {
	model   *model.Model
	scratch *blockio.Scratch
	seed    uint64
	length  time.Duration
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

// load makes the scratch file of a model.
func (d *diskFlags) load(ctx context.Context, m *model.Model, share func(float64, string)) (*twinLoad, error) {
	scratch, err := blockio.NewScratch(ctx, d.dir, m.Device.Bytes, func(done float64) { share(done, "filling the scratch file") })
	if err != nil {
		return nil, err
	}
	return &twinLoad{m, scratch, cmp.Or(d.seed, m.Seed), d.length}, nil
}

// preparedLoad is a log that is written, and what it plans.
type preparedLoad struct {
	folder string
	step   blockio.Step
}

// prepare writes the log of an intensity into a temporary file, which fio reads into memory
// before it begins.
func (l *twinLoad) prepare(ctx context.Context, intensity float64) (*preparedLoad, error) {
	w, err := generate.NewWalk(l.model, generate.Options{Seed: l.seed, Intensity: intensity, Compression: l.model.Capture.Seconds / l.length.Seconds()})
	if err != nil {
		return nil, twinHint(err)
	}
	folder, err := os.MkdirTemp("", "nomad-placer-twin-*")
	if err != nil {
		return nil, err
	}
	p := &preparedLoad{folder: folder, step: blockio.Step{Intensity: intensity}}
	f, err := os.Create(p.log())
	if err == nil {
		p.step.PlannedIOs, err = generate.WriteLog(f, w, generate.LogOptions{Data: l.scratch.Path, Wrote: func(int64, time.Duration) error { return ctx.Err() }})
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, p.remove())
	}
	p.step.PlannedSeconds = w.Last().Seconds()
	return p, nil
}

func (p *preparedLoad) log() string { return filepath.Join(p.folder, "log") }

func (p *preparedLoad) remove() error { return os.RemoveAll(p.folder) }

// play plays the log.
func (p *preparedLoad) play(ctx context.Context, player *blockio.Player) (blockio.Step, error) {
	played, err := player.Log(ctx, p.log())
	if err != nil {
		return blockio.Step{}, err
	}
	step := p.step
	step.Played = *played
	return step, nil
}

// play prepares and plays an intensity.
func (l *twinLoad) play(ctx context.Context, player *blockio.Player, intensity float64) (step blockio.Step, err error) {
	p, err := l.prepare(ctx, intensity)
	if err != nil {
		return step, err
	}
	defer func() { err = errors.Join(err, p.remove()) }()
	return p.play(ctx, player)
}

// playHint says what helps against an error of playing.
func playHint(err error) error {
	switch {
	case errors.Is(err, blockio.ErrNoFio), errors.Is(err, blockio.ErrOldFio):
		return command.WithHint(err, "apt-get install fio (Debian 12 or newer), or -fio names another; nomad-placer twin export writes the load for another machine")
	case errors.Is(err, blockio.ErrRoom):
		return command.WithHint(err, "-size makes a smaller file: addresses are scaled to it")
	case errors.Is(err, blockio.ErrDirect):
		return command.WithHint(err, "name a folder on a file system on a disk; in memory, there is nothing to measure")
	case errors.Is(err, blockio.ErrFolder):
		return command.WithHint(err, "-dir names a folder that can be written to, on the disk that is to be measured")
	default:
		return err
	}
}
