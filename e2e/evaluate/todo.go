package main

import (
	"context"
	"errors"
	"fmt"
)

// todo is what the folder lacks.
type todo struct {
	alone       []app
	known       map[string]alone
	learn       bool
	jobs        int // to learn of
	repetitions []int
	sweeps      []app
	adapt       bool
}

func (t todo) nothing() bool {
	return len(t.alone)+len(t.repetitions)+len(t.sweeps) == 0 && !t.learn && !t.adapt
}

// todo looks into the folder.
func (e *evaluation) todo() (todo, error) {
	t := todo{known: map[string]alone{}, jobs: len(profiled(e.quick))}
	if _, err := e.dir.read(fileAlone, &t.known); err != nil {
		return t, err
	}
	// One pass after the other, so that a slow minute of the machine is in one of them.
	for pass := 1; pass <= e.plan.AloneTimes; pass++ {
		for _, a := range profiled(e.quick) {
			if t.known[a.name].Times < pass {
				t.alone = append(t.alone, a)
			}
		}
	}
	var errs []error
	missing := func(name string, into any) bool {
		found, err := e.dir.read(name, into)
		errs = append(errs, err)
		return !found
	}
	for n := 1; n <= e.plan.Repetitions; n++ {
		if missing(fileRepetition(n), &repetition{}) {
			t.repetitions = append(t.repetitions, n)
		}
	}
	for _, a := range sized(e.quick) {
		if missing(fileSweep(a.name), &sweep{}) {
			t.sweeps = append(t.sweeps, a)
		}
	}
	t.learn = missing(fileProfiles(1), &profiles{}) || len(t.repetitions) > 0
	t.adapt = missing(fileAdapt, &adaptation{})
	return t, errors.Join(errs...)
}

// seconds is what each kind of step is planned to take.
func (e *evaluation) seconds() map[string]float64 {
	p := e.plan
	return map[string]float64{
		"start":   4,
		"alone":   4 + (p.Settle + p.AloneWindow).Seconds(),
		"profile": 6 + float64(p.ProfileSeconds),
		"side":    12 + max((p.WarmUp+p.Window).Seconds(), p.BatchWithin.Seconds()*1.25),
		"size":    4 + (p.Settle + p.AloneWindow).Seconds(),
		"adapt":   90 + p.Aftermath.Seconds()/2,
		"calm":    p.Calm.Seconds(),
	}
}

// steps counts them by kind.
func (t todo) steps() map[string]int {
	out := map[string]int{"start": 1, "alone": len(t.alone), "side": len(arms) * len(t.repetitions)}
	if t.learn {
		out["profile"] = t.jobs
	}
	for _, a := range t.sweeps {
		out["size"] += len(a.sizes())
	}
	if t.adapt {
		out["adapt"], out["calm"] = 2, 1
		out["alone"] += 2
	}
	return out
}

// measureEverything measures what is missing and writes each as soon as it is known.
func (e *evaluation) measureEverything(ctx context.Context, t todo) error {
	for _, a := range t.alone {
		e.progress.begin("alone", fmt.Sprintf("%s in isolation on the fastest node", a.name))
		k, err := e.measureAlone(ctx, a)
		if err != nil {
			return err
		}
		t.known[a.name] = k.better(t.known[a.name])
		if err := e.dir.measured(fileAlone, t.known); err != nil {
			return err
		}
	}
	var p profiles
	if t.learn {
		var err error
		if p, err = e.learn(ctx, t.known); err != nil {
			return err
		}
	}
	for _, n := range t.repetitions {
		r, err := e.repeat(ctx, n, t.known, p)
		if err != nil {
			return fmt.Errorf("repetition %d: %w", n, err)
		}
		if err := e.dir.measured(fileRepetition(n), r); err != nil {
			return err
		}
	}
	for _, a := range t.sweeps {
		s, err := e.sweepSizes(ctx, a, t.known[a.name])
		if err != nil {
			return fmt.Errorf("sizes of %s: %w", a.name, err)
		}
		if err := e.dir.measured(fileSweep(a.name), s); err != nil {
			return err
		}
	}
	if !t.adapt {
		return nil
	}
	if err := e.useAdapter(ctx, armNamed(placed)); err != nil {
		return err
	}
	a, err := e.adapt(ctx)
	if err != nil {
		return fmt.Errorf("adaptation: %w", err)
	}
	return e.dir.measured(fileAdapt, a)
}
