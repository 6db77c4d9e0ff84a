package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// repetition is every arm once, on the same cluster.
type repetition struct {
	Number   int                   `json:"number"` // from 1
	Began    time.Time             `json:"began"`
	Load     string                `json:"load_before"` // the machine's load averages
	Order    []string              `json:"order"`
	Profiles int                   `json:"profiles"` // the set that the placer knew
	Sides    map[string]sideResult `json:"sides"`
}

// sideResult is one arm's turn.
type sideResult struct {
	Jobs    map[string]outcome  `json:"jobs"`
	Decided map[string]decided  `json:"decided,omitempty"`
	Actions map[string][]action `json:"actions,omitempty"` // what adaptation did, by job
	// StolenPercent of the CPU time a host gave to its other guests during the turn; nil
	// is not known.
	StolenPercent *float64 `json:"stolen_percent,omitempty"`
}

// decided is what the placer decided of a job.
type decided struct {
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason"`
	Size     size     `json:"size"`
	Sized    bool     `json:"sized"` // the size is the placer's choice
	Why      string   `json:"why,omitempty"`
	Seconds  float64  `json:"seconds"` // from submission to release
	Warnings []string `json:"warnings,omitempty"`
}

type action struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	From   string    `json:"from,omitempty"`
	To     string    `json:"to,omitempty"`
	Reason string    `json:"reason"`
	Result string    `json:"result"`
}

// repeat measures one repetition.
func (e *evaluation) repeat(ctx context.Context, number int, known map[string]alone, p profiles) (repetition, error) {
	r := repetition{
		Number: number, Began: time.Now().UTC(), Load: machine.LoadAverages(), Order: order(number), Profiles: p.Number, Sides: map[string]sideResult{},
	}
	for _, s := range r.Order {
		e.progress.begin("side", fmt.Sprintf("repetition %d: all jobs side by side, arm %s", number, s))
		a := armNamed(s)
		if err := e.useAdapter(ctx, a); err != nil {
			return r, fmt.Errorf("%s: %w", s, err)
		}
		before := machine.StolenNow()
		one, err := e.side(ctx, a, known, p.version(), fmt.Sprintf("%s-%d-%s", p.version(), number, s))
		if err != nil {
			return r, fmt.Errorf("%s: %w", s, err)
		}
		one.StolenPercent = machine.StolenNow().PercentSince(before)
		r.Sides[s] = one
	}
	return r, nil
}

// decision reads the placer's record of a released job.
func (e *evaluation) decision(ctx context.Context, f rig.JobFile) (decided, error) {
	d, err := e.book.Decision(ctx, f.Workload().ID)
	if err != nil {
		return decided{}, fmt.Errorf("decision on %s: %w", f.ID, err)
	}
	if err := e.keepRecord(f.ID, d); err != nil {
		return decided{}, err
	}
	ev, err := e.book.Evaluation(ctx, placer.JobID{Namespace: "default", ID: f.ID})
	if err != nil {
		return decided{}, fmt.Errorf("evaluation of %s: %w", f.ID, err)
	}
	var took time.Duration
	for _, s := range ev.Steps {
		took += s.Duration
	}
	out := decided{
		Outcome: string(d.Outcome), Reason: d.Reason, Size: size{Count: d.Count}, Seconds: took.Seconds(), Warnings: d.Warnings,
	}
	if s := d.Sizing; s != nil {
		out.Sized, out.Why, out.Size.MemoryMB = s.Chosen, s.Why, s.Own.MemoryMB
	}
	return out, nil
}

// keepRecord writes the placer's whole record of a decision where -records says.
func (e *evaluation) keepRecord(job string, d placer.Decision) error {
	if e.records == "" {
		return nil
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.records, d.At.UTC().Format("150405.000")+"-"+job+".json"), text, 0o644)
}

// side runs all jobs side by side once, as version, by the profiles of version learnt.
func (e *evaluation) side(ctx context.Context, a arm, known map[string]alone, learnt, version string) (sideResult, error) {
	out := sideResult{Jobs: map[string]outcome{}}
	list := compared()
	files := make([]rig.JobFile, len(list))
	for i, application := range list {
		var err error
		if files[i], err = e.render(application, known[application.name], a.variant(application, version)); err != nil {
			return out, err
		}
	}
	began := time.Now()
	err := e.withKnowledge(ctx, a, list, known, learnt, version, func(ctx context.Context) error {
		return e.whileSubmitted(ctx, files, func(context.Context) error { return e.submit(a, files) }, func(ctx context.Context) error {
			// One that does not run has no number and missed its target; best effort, which
			// has none, may have to wait for room to spare.
			if err := e.waitRunning(ctx, withTargets(files)); err != nil {
				e.progress.say(err.Error())
			}
			e.measureAll(ctx, list, files, out.Jobs)
			if a.stock {
				return ctx.Err()
			}
			return e.explain(ctx, files, began, &out)
		})
	})
	return out, err
}

func withTargets(files []rig.JobFile) []rig.JobFile {
	return slices.DeleteFunc(slices.Clone(files), func(f rig.JobFile) bool { return f.Spec.Target.Kind == performance.BestEffort })
}

// measureAll measures all jobs over the same window, once they are warm; batch jobs
// are followed to their end meanwhile.
func (e *evaluation) measureAll(ctx context.Context, list []app, files []rig.JobFile, into map[string]outcome) {
	out := make([]outcome, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() {
			if f.Spec.Target.Kind == performance.FinishWithin {
				out[i] = e.follow(ctx, f)
				return
			}
			if cluster.Sleep(ctx, e.plan.WarmUp) == nil {
				out[i] = e.measure(ctx, list[i], f, e.plan.Window)
			}
		})
	}
	wg.Wait()
	for i, f := range files {
		into[f.ID] = out[i]
	}
}

// explain adds the placer's records.
func (e *evaluation) explain(ctx context.Context, files []rig.JobFile, began time.Time, out *sideResult) error {
	out.Decided, out.Actions = map[string]decided{}, map[string][]action{}
	for _, f := range files {
		d, err := e.decision(ctx, f)
		if errors.Is(err, placer.ErrNoRecord) {
			d, err = e.undecided(ctx, f)
		}
		if err != nil {
			return err
		}
		out.Decided[f.ID] = d
		list, err := e.actions(ctx, f)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(a action) bool { return a.At.Before(began) })
		if len(list) > 0 {
			out.Actions[f.ID] = list
		}
	}
	return nil
}

// undecided is what is on record of a job that waited for room all the time, as best
// effort may.
func (e *evaluation) undecided(ctx context.Context, f rig.JobFile) (decided, error) {
	ev, err := e.book.Evaluation(ctx, placer.JobID{Namespace: "default", ID: f.ID})
	if err != nil {
		return decided{}, fmt.Errorf("evaluation of %s: %w", f.ID, err)
	}
	return decided{Outcome: string(placer.Queued), Reason: ev.Message}, nil
}

// actions are those on record of a job.
func (e *evaluation) actions(ctx context.Context, f rig.JobFile) ([]action, error) {
	list, err := e.book.Actions(ctx, f.Workload().ID)
	if err != nil {
		return nil, fmt.Errorf("actions on %s: %w", f.ID, err)
	}
	var out []action
	for _, r := range list {
		out = append(out, action{r.At, r.Kind, r.From, r.To, r.Reason, r.Result})
	}
	return out, nil
}
