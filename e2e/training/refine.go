package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// unclear is a row with sources worth more time.
type unclear struct {
	app     catalogue.Application
	row     profile.Profile
	sources []interference.Source
}

// refineRows measures again what rows could not tell from noise, each source
// once, and writes the rows anew.
func refineRows(ctx context.Context, apps []catalogue.Application, s settings) (err error) {
	todo, err := unclearRows(apps, s)
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		fmt.Println("nothing is left to refine")
		return nil
	}
	s.seed += refineSeed
	l, err := openLab(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop(context.WithoutCancel(ctx))) }()
	var failures []error
	for i, u := range todo {
		fmt.Printf("[%d/%d, about %s to go] %s: %d sources\n", i+1, len(todo), l.refining(todo[i:]).Round(time.Minute), u.app.ID, len(u.sources))
		err := l.refine(ctx, u)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", u.app.ID, err)
			fmt.Fprintln(os.Stderr, "training:", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// refineSeed makes the orders of a second look others than those of rows (+0)
// and repeats (+1).
const refineSeed = 2

func unclearRows(apps []catalogue.Application, s settings) ([]unclear, error) {
	var out []unclear
	for _, a := range apps {
		data, err := os.ReadFile(s.rowFile(a))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		row, err := store.DecodeProfile(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.ID, err)
		}
		if sources := training.Open(row); len(sources) > 0 {
			out = append(out, unclear{a, row, sources})
		}
	}
	return out, nil
}

func (l *lab) refine(ctx context.Context, u unclear) error {
	request := l.request(u.app)
	request.Method, request.Sources = profiler.MethodSweep, u.sources
	request.Seconds = len(u.sources)*l.seconds + baselineSeconds
	again, err := l.profile(ctx, tenant{app: u.app, task: "app", cpus: []int{l.cpu}, cores: 1}, request)
	if err != nil {
		return err
	}
	if again.Key != u.row.Key {
		return fmt.Errorf("the application is not what the row was measured on: key %s, not %s", again.Key, u.row.Key)
	}
	training.Round(&again)
	training.Refine(&u.row, again, u.sources)
	if err := training.Check(u.row); err != nil {
		return err
	}
	return write(l.rowFile(u.app), u.row)
}

func (l *lab) refining(todo []unclear) time.Duration {
	var out time.Duration
	for _, u := range todo {
		out += time.Duration(len(u.sources)*l.seconds+baselineSeconds)*time.Second + runOverhead
	}
	return out
}
