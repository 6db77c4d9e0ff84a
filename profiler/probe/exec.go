package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// execReader runs a command inside the task and reads the number it prints.
type execReader struct {
	spec  performance.ProbeSpec
	reach Reach
	task  string
}

func (p *execReader) Read(ctx context.Context) (performance.Reading, error) {
	out, at, err := bounded(ctx, p.spec.Timeout, func(ctx context.Context) ([]byte, error) {
		return p.reach.Exec(ctx, p.task, p.spec.Command)
	})
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	if err := checkSize(out); err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	if strings.TrimSpace(string(out)) == "" {
		return performance.Reading{}, p.wrap(fmt.Errorf("it printed nothing: %w", ErrNoSuchData))
	}
	v, err := parseNumber(string(out))
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	return asReading(at, v, p.spec.Mode), nil
}

func (p *execReader) wrap(err error) error {
	return fmt.Errorf("command %q in task %s: %w", excerpt(strings.Join(p.spec.Command, " ")), p.task, err)
}

func validateExec(spec performance.ProbeSpec, target performance.Target) error {
	c := check("exec", spec, target).common().progressing().noLatency().
		uses("task", "command", "mode").needs("command")
	if len(spec.Command) > 0 && spec.Command[0] == "" {
		c.fail("command", "its first word is empty")
	}
	return c.err()
}

var execProbe = Descriptor{
	Name:     "exec",
	Summary:  "runs a command inside the task that prints one number",
	Validate: validateExec,
	New: func(spec performance.ProbeSpec, reach Reach, task string) (Probe, error) {
		return &execReader{spec: spec, reach: reach, task: taskOf(spec, task)}, nil
	},
	Progress: true,
}
