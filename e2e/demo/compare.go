package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// The lengths of the demo's parts. All jobs run side by side while they are
// measured.
const (
	warmUp        = 20 * time.Second // after the last job runs, as in the evaluation: what runs is watched and corrected
	measureWindow = 20 * time.Second // one window for every service
	batchWait     = 3 * time.Minute  // a batch job that takes longer is reported as such
	runDeadline   = 10 * time.Minute // for all jobs to be held, profiled and placed
)

// outcome is what was measured of one job in one half.
type outcome struct {
	Nodes      []string      `json:"nodes"`
	RatePerSec float64       `json:"rate_per_sec,omitempty"`
	Tail       time.Duration `json:"tail_ns,omitempty"`
	FinishedIn time.Duration `json:"finished_in_ns,omitempty"`
	Missing    string        `json:"missing,omitempty"` // why there is no number
	Met        bool          `json:"met"`
}

// row is one job of the table.
type row struct {
	Job       string             `json:"job"`
	Target    performance.Target `json:"target"`
	Work      float64            `json:"work,omitempty"` // units a batch job does
	Isolated  isolated           `json:"isolated"`
	Stock     outcome            `json:"stock"`
	Predicted placer.Prediction  `json:"predicted"`
	Placer    outcome            `json:"placer"`
	Why       string             `json:"why"`
	// Scores counts what is tolerated and caused by where the score comes from.
	Scores map[interference.Origin]int `json:"scores"`
	// Actions are what the placer did to the job since it runs.
	Actions []placer.ActionRecord `json:"actions,omitempty"`
}

// compare runs both halves, stock first, and joins them.
func compare(ctx context.Context, r *rig.Rig, jobs []demoJob, p *progress) ([]row, error) {
	p.stage("stock Nomad places the jobs", secondsPlaceStock)
	stock, err := half(ctx, r, jobs, p, func(context.Context) error {
		for _, f := range jobs {
			if err := r.SubmitStock(f.JobFile); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("stock half: %w", err)
	}
	p.stage("nomad-placer holds, profiles and places the same jobs", secondsProfile)
	if err := submitAll(ctx, r, jobs, p); err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	// Profiled one after the other, the first job would have run for minutes, and the
	// batch job ended, before the last one starts: that is not what stock Nomad had to
	// place.
	p.stage("the same jobs again, all at once: their profiles are known now", secondsPlacePlacer)
	placed, err := half(ctx, r, jobs, p, func(ctx context.Context) error { return submitAll(ctx, r, jobs, p) })
	if err != nil {
		return nil, fmt.Errorf("placer half: %w", err)
	}
	return join(ctx, r, jobs, stock, placed)
}

// half submits the jobs, measures them side by side, and stops them. The jobs
// of the second half stay up, for the pages to show.
func half(ctx context.Context, r *rig.Rig, jobs []demoJob, p *progress, submit func(context.Context) error) ([]outcome, error) {
	sctx, cancel := context.WithTimeout(ctx, runDeadline)
	defer cancel()
	if err := submit(sctx); err != nil {
		return nil, err
	}
	for _, f := range jobs {
		if err := r.WaitRunning(sctx, f.ID); err != nil {
			return nil, err
		}
	}
	p.stage("measuring all jobs side by side", secondsMeasure)
	if err := cluster.Sleep(ctx, warmUp); err != nil {
		return nil, err
	}
	out := make([]outcome, len(jobs))
	var wg sync.WaitGroup
	for i, f := range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out[i] = measure(ctx, r, f)
		}()
	}
	wg.Wait()
	return out, ctx.Err()
}

// submitAll runs the command line once per job, side by side, as several users
// would.
func submitAll(ctx context.Context, r *rig.Rig, jobs []demoJob, p *progress) error {
	ctx, cancel := context.WithTimeout(ctx, runDeadline)
	defer cancel()
	if err := purgeAll(ctx, r, jobs); err != nil {
		return err
	}
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, f := range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var out bytes.Buffer
			placed, err := r.SubmitPlacer(ctx, f.JobFile, &out)
			switch {
			case err != nil:
				errs[i] = fmt.Errorf("%w\n%s", err, out.String())
			case placed:
				p.note(f.ID + " is placed")
			default:
				p.note(f.ID + " was left to stock Nomad:\n" + out.String())
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

func purgeAll(ctx context.Context, r *rig.Rig, jobs []demoJob) error {
	for _, f := range jobs {
		if err := r.Purge(ctx, f.ID); err != nil {
			return err
		}
	}
	return nil
}

// measure reads the job's own probe over one window; a batch job is followed
// to its end.
func measure(ctx context.Context, r *rig.Rig, f demoJob) outcome {
	var o outcome
	var err error
	if o.Nodes, err = r.Nodes(f.ID); err != nil {
		o.Missing = err.Error()
		return o
	}
	if f.Spec.Target.Kind == performance.FinishWithin {
		return measureFinish(ctx, r, f, o)
	}
	readings, err := r.World.Observe(ctx, f.Workload(), measureWindow)
	if err != nil || len(readings) == 0 {
		o.Missing = fmt.Sprint("not measured: ", err)
		return o
	}
	sum := performance.Measure{}
	for _, reading := range readings {
		if reading.Unavailable != "" {
			o.Missing = reading.Unavailable
			return o
		}
		sum.RatePerSec += reading.Measure.RatePerSec
		sum.LatencyTail = max(sum.LatencyTail, reading.Measure.LatencyTail)
	}
	o.RatePerSec = sum.RatePerSec
	o.Tail = sum.LatencyTail
	o.Met = f.Spec.Target.Met(sum.RatePerSec, sum.LatencyTail)
	return o
}

func measureFinish(ctx context.Context, r *rig.Rig, f demoJob, o outcome) outcome {
	ctx, cancel := context.WithTimeout(ctx, batchWait)
	defer cancel()
	for {
		started, finished, ok, err := r.BatchTimes(f.ID)
		switch {
		case err != nil:
			o.Missing = err.Error()
			return o
		case ok:
			o.FinishedIn = finished.Sub(started)
			o.Met = f.Spec.Target.Met(o.FinishedIn.Seconds(), 0)
			return o
		}
		if cluster.Sleep(ctx, 250*time.Millisecond) != nil {
			o.Missing = "not finished after " + batchWait.String()
			return o
		}
	}
}

// join reads the placer's own records for the prediction, the reason and what it did
// afterwards.
func join(ctx context.Context, r *rig.Rig, jobs []demoJob, stock, placed []outcome) ([]row, error) {
	s, err := nomadvars.New(r.API(), nomadvars.Options{})
	if err != nil {
		return nil, err
	}
	book := journal.Book{Store: s}
	rows := make([]row, len(jobs))
	for i, f := range jobs {
		d, err := book.Decision(ctx, f.Workload().ID)
		if err != nil {
			return nil, err
		}
		rows[i] = row{
			Job: f.ID, Target: f.Spec.Target, Isolated: f.Isolated, Stock: stock[i], Placer: placed[i], Predicted: d.Predicted, Why: d.Reason,
			Scores: byOrigin(d.Sensitivity),
		}
		if f.Spec.Probe != nil {
			rows[i].Work = f.Spec.Probe.Work
		}
		if rows[i].Actions, err = book.Actions(ctx, f.Workload().ID); err != nil {
			return nil, err
		}
		if len(d.Candidates) > 0 && strings.TrimSpace(d.Candidates[0].Why) != "" {
			rows[i].Why = d.Candidates[0].Why
		}
	}
	return rows, nil
}

func byOrigin(s interference.Sensitivity) map[interference.Origin]int {
	counts := map[interference.Origin]int{}
	for _, scores := range []interference.Scores{s.Tolerated, s.Caused} {
		for _, e := range scores {
			counts[e.Origin]++
		}
	}
	return counts
}
