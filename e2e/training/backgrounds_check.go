package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// checkColocated runs each application without a background, next to one that does all it can,
// and prints what it does.
func checkColocated(ctx context.Context, apps []catalogue.Application, s settings) (err error) {
	b, err := openBench(ctx, s, apps, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	fmt.Printf("%-12s %10s %7s %7s %8s %8s %8s %8s %8s %8s %8s %8s  %s\n", "application", "units/s", "noise", "steps/s", "reads/s", "writes/s", "read MB", "write MB", "user", "system", "by CPU", "by reads", "unit")
	bad := 0
	for _, a := range apps {
		if err := b.checkOne(ctx, a); err != nil {
			bad++
			fmt.Printf("%-12s FAILED: %v\n", a.ID, err)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d applications do not work", bad)
	}
	return nil
}

func (b *bench) checkOne(ctx context.Context, a catalogue.Application) (err error) {
	slot := slotOf(a, 0)
	if b.target, err = b.occupy(ctx, a, slot); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, b.disk.Free(), b.target.end())
		b.target = nil
	}()
	if err := b.limited(slot); err != nil {
		return err
	}
	var alone []float64
	var last seen
	for range soloRows {
		if last, err = b.nextTo(ctx, backgrounds.Level{}); err != nil {
			return err
		}
		alone = append(alone, last.rate)
	}
	byCPU, err := b.nextTo(ctx, backgrounds.Level{CPU: 100})
	if err != nil {
		return err
	}
	byReads, err := b.nextTo(ctx, backgrounds.Level{Read: 100})
	if err != nil {
		return err
	}
	c, speed := last.characteristics, stat.Median(alone)
	fmt.Printf("%-12s %10.4g %6.1f%% %7.1f %8.1f %8.1f %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx  %s\n", a.ID, speed, 100*stat.MAD(alone)/speed, last.steps/rowWindow.Seconds(),
		c.ReadsPerSec, c.WritesPerSec, c.ReadMBps, c.WriteMBps, c.CPULocal, c.CPUGlobal, speed/byCPU.rate, speed/byReads.rate, a.Unit)
	return nil
}

func (b *bench) nextTo(ctx context.Context, l backgrounds.Level) (seen, error) {
	if err := b.generator.set(l); err != nil {
		return seen{}, err
	}
	out, err := b.window(ctx, []*occupant{b.target}, rowWindow)
	if err != nil {
		return seen{}, err
	}
	return out[0], nil
}
