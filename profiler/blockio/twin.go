package blockio

import (
	"context"
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// Twin is a model on a scratch file of its own.
type Twin struct {
	Model   *model.Model
	Scratch *Scratch
	Seed    uint64
	// Length is how long it is played: intervals are made shorter or longer, gaps stay.
	Length time.Duration
}

// NewTwin makes the scratch file of a model in a folder. Progress is told the part that is
// written (0..1).
func NewTwin(ctx context.Context, m *model.Model, folder string, seed uint64, length time.Duration, progress func(done float64)) (*Twin, error) {
	scratch, err := NewScratch(ctx, folder, m.Device.Bytes, progress)
	if err != nil {
		return nil, err
	}
	return &Twin{Model: m, Scratch: scratch, Seed: seed, Length: length}, nil
}

// Play plays an intensity.
func (t *Twin) Play(ctx context.Context, intensity float64) (Step, error) {
	walk, err := generate.NewWalk(t.Model, generate.Options{Seed: t.Seed, Intensity: intensity, Compression: t.Model.Capture.Seconds / t.Length.Seconds()})
	if err != nil {
		return Step{}, err
	}
	step, err := PlayStream(ctx, t.Scratch, walk, LoopOf(t.Model.Loop))
	step.Intensity = intensity
	return step, err
}

// LoopOf is how a model's workload is played.
func LoopOf(l *model.Loop) Play {
	if l == nil {
		return Play{}
	}
	return Play{Reads: l.Reads, Writes: l.Writes, ThreadReads: l.ThreadReads, Waits: l.Waits}
}

// PlayStream plays any stream, at its own intensity.
func PlayStream(ctx context.Context, s *Scratch, stream storage.Reader, how Play) (Step, error) {
	planned := &counted{from: stream}
	played, err := s.Play(ctx, planned, how)
	if err != nil {
		return Step{}, err
	}
	return Step{Intensity: 1, PlannedIOs: planned.ios, PlannedSeconds: planned.last.Seconds(), Played: *played}, nil
}

// counted is a stream that says how many I/Os it had.
type counted struct {
	from storage.Reader
	ios  int64
	last time.Duration
}

// Next is the next I/O.
func (c *counted) Next(r *storage.Record) error {
	err := c.from.Next(r)
	if err == nil {
		c.ios, c.last = c.ios+1, r.At
	}
	return err
}

// Load is something to play.
type Load func(ctx context.Context) (Step, error)

// PlayTogether plays all at once. Where one fails all end: the others say nothing without it.
func PlayTogether(ctx context.Context, loads ...Load) ([]Step, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps, errs := make([]Step, len(loads)), make(chan error, len(loads))
	for i, play := range loads {
		go func() {
			var err error
			if steps[i], err = play(ctx); err != nil {
				cancel()
			}
			errs <- err
		}()
	}
	var all []error
	for range loads {
		all = append(all, <-errs)
	}
	return steps, firstCause(all)
}

// firstCause is an error that is no consequence of another's.
func firstCause(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}
