package probe

import (
	"context"
	"fmt"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// instructionsReader counts what the processor completes for the task. Waiting in
// a loop counts like work, so it is for workloads that count nothing themselves.
type instructionsReader struct {
	spec  performance.ProbeSpec
	reach Reach
	task  string
}

func (p *instructionsReader) Read(ctx context.Context) (performance.Reading, error) {
	v, at, err := bounded(ctx, p.spec.Timeout, func(ctx context.Context) (float64, error) {
		return p.reach.Instructions(ctx, p.task)
	})
	if err == nil && !usable(v) {
		err = fmt.Errorf("%v: %w", v, ErrBadNumber)
	}
	if err != nil {
		return performance.Reading{}, fmt.Errorf("instructions of task %s: %w", p.task, err)
	}
	// The processor counts at every moment, so the moment of reading is that of counting.
	return stamped(asReading(at, v, performance.ModeTotal), at), nil
}

func validateInstructions(spec performance.ProbeSpec, target performance.Target) error {
	c := check("instructions", spec, target).common().progressing().noLatency().uses("task")
	switch target.Kind {
	case performance.QPS, performance.FinishWithin:
		c.fail("type", "it counts instructions, which tell neither requests nor the end of a job: "+
			"it goes with best_effort, or with a rate whose unit is %q", unitInstructions)
	case performance.Rate:
		if target.Unit != unitInstructions {
			c.fail("type", "it counts instructions, and the rate of the target is in %s: write unit = %q, or use a probe that counts the job's own work",
				target.RateUnit(), unitInstructions)
		}
	}
	return c.err()
}

const unitInstructions = "instructions"

var instructionsProbe = Descriptor{
	Name:     "instructions",
	Summary:  "counts the instructions that the processor completes for the task, while it is profiled",
	Validate: validateInstructions,
	New: func(spec performance.ProbeSpec, reach Reach, task string) (Probe, error) {
		return &instructionsReader{spec: spec, reach: reach, task: taskOf(spec, task)}, nil
	},
	Progress: true,
	Unit:     unitInstructions,
}
