package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// todo is what the folder lacks.
type todo struct {
	alone       []app
	known       map[string]alone
	repetitions []int
	sweeps      []app
	adapt       bool
}

func (t todo) nothing() bool {
	return len(t.alone)+len(t.repetitions)+len(t.sweeps) == 0 && !t.adapt
}

// todo looks into the folder.
func (e *evaluation) todo() (todo, error) {
	t := todo{known: map[string]alone{}}
	if _, err := e.dir.read(fileAlone, &t.known); err != nil {
		return t, err
	}
	for _, a := range apps {
		if _, ok := t.known[a.name]; !ok && (a.compared || slices.ContainsFunc(sized(e.quick), func(s app) bool { return s.name == a.name })) {
			t.alone = append(t.alone, a)
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
	t.adapt = missing(fileAdapt, &adaptation{})
	return t, errors.Join(errs...)
}

// seconds is what each kind of step is planned to take.
func (e *evaluation) seconds() map[string]float64 {
	p := e.plan
	return map[string]float64{
		"start":   4,
		"alone":   5 + (p.Settle + p.Window).Seconds(),
		"profile": 11 + float64(p.ProfileSeconds),
		"side":    12 + max((p.WarmUp+p.Window).Seconds(), p.BatchWithin.Seconds()*1.25),
		"size":    5 + (p.Settle + p.Window).Seconds(),
		"adapt":   90,
		"calm":    p.Calm.Seconds(),
	}
}

// steps counts them by kind.
func (t todo) steps(quick bool) map[string]int {
	out := map[string]int{
		"start": 1, "alone": len(t.alone), "profile": len(t.repetitions) * len(compared()), "side": 2 * len(t.repetitions),
	}
	for _, a := range t.sweeps {
		out["size"] += len(a.sizes())
		if !a.compared || quick {
			out["profile"]++
		}
	}
	if t.adapt {
		out["adapt"], out["calm"] = 2, 1
	}
	return out
}

// measureEverything measures what is missing and writes each as soon as it is known.
func (e *evaluation) measureEverything(ctx context.Context, t todo) error {
	for _, a := range t.alone {
		e.progress.begin("alone", fmt.Sprintf("%s alone on the fastest node", a.name))
		k, err := e.measureAlone(ctx, a)
		if err != nil {
			return err
		}
		t.known[a.name] = k
		if err := e.dir.write(fileAlone, t.known); err != nil {
			return err
		}
	}
	for _, n := range t.repetitions {
		r, err := e.repeat(ctx, n, t.known)
		if err != nil {
			return fmt.Errorf("repetition %d: %w", n, err)
		}
		if err := e.dir.write(fileRepetition(n), r); err != nil {
			return err
		}
	}
	for _, a := range t.sweeps {
		s, err := e.sweepSizes(ctx, a, t.known[a.name])
		if err != nil {
			return fmt.Errorf("sizes of %s: %w", a.name, err)
		}
		if err := e.dir.write(fileSweep(a.name), s); err != nil {
			return err
		}
	}
	if !t.adapt {
		return nil
	}
	a, err := e.adapt(ctx, t.known)
	if err != nil {
		return fmt.Errorf("adaptation: %w", err)
	}
	return e.dir.write(fileAdapt, a)
}
