package probe

import (
	"context"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// completionReader sees only whether the task has finished, and when.
type completionReader struct {
	spec  performance.ProbeSpec
	reach Reach
	task  string
}

func (p *completionReader) Read(ctx context.Context) (performance.Reading, error) {
	s, at, err := bounded(ctx, p.spec.Timeout, func(ctx context.Context) (Status, error) {
		return p.reach.Status(ctx, p.task)
	})
	if err != nil {
		return performance.Reading{}, fmt.Errorf("state of task %s: %w", p.task, err)
	}
	r := performance.Reading{At: at, Work: math.NaN(), RateNow: math.NaN(), Started: s.StartedAt}
	switch {
	case s.Running:
		return r, nil
	case s.StartedAt.IsZero() || s.FinishedAt.IsZero():
		return performance.Reading{}, fmt.Errorf("task %s has not started: %w", p.task, ErrNotReady)
	case s.ExitCode != 0:
		return performance.Reading{}, fmt.Errorf("task %s: exit code %d: %w", p.task, s.ExitCode, ErrFailed)
	}
	r.At, r.Done, r.Work = s.FinishedAt, true, p.work()
	return r, nil
}

// work is the size of the whole job; without one, the run itself is the unit.
func (p *completionReader) work() float64 {
	if p.spec.Work > 0 {
		return p.spec.Work
	}
	return 1
}

func validateCompletion(spec performance.ProbeSpec, target performance.Target) error {
	c := check("completion", spec, target).common().uses("task", "work")
	switch target.Kind {
	case performance.QPS:
		c.fail("type", "a qps target needs a probe that reads progress: prometheus, log or exec")
	case performance.Rate:
		c.needs("work")
	}
	return c.err()
}

var completionProbe = Descriptor{
	Name:     "completion",
	Summary:  "sees when the task finishes; no progress before that",
	Validate: validateCompletion,
	New: func(spec performance.ProbeSpec, reach Reach, task string) (Probe, error) {
		return &completionReader{spec: spec, reach: reach, task: taskOf(spec, task)}, nil
	},
}
