package probe

import (
	"context"
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Errors of a probe.
var (
	ErrNotReady   = errors.New("the workload does not answer its probe yet")
	ErrNoSuchData = errors.New("the probe answered, but not with what the performance block names")
	ErrBadNumber  = errors.New("the probe gave something that is not a usable number")
	ErrFailed     = errors.New("the workload ended in failure")
	// ErrUnsupported is final: no later reading will do better.
	ErrUnsupported = errors.New("this probe cannot be read here")
)

// Status is the state of the probed task.
type Status struct {
	Running    bool
	StartedAt  time.Time
	FinishedAt time.Time // zero while running
	ExitCode   int
}

// Reach is how to get at one allocation of a workload.
type Reach interface {
	// HTTPGet fetches path from the allocation's port with that label.
	HTTPGet(ctx context.Context, portLabel, path string) ([]byte, error)
	// ReadLog returns what the task's stream holds from offset on, at most
	// limit bytes, and the offset to go on from.
	ReadLog(ctx context.Context, task, stream string, offset int64, limit int) (data []byte, next int64, err error)
	// Exec runs argv inside the task and returns its standard output.
	Exec(ctx context.Context, task string, argv []string) ([]byte, error)
	// Instructions is how many instructions the task's programs have completed
	// since it was first asked for.
	Instructions(ctx context.Context, task string) (float64, error)
	// Status returns the task's state.
	Status(ctx context.Context, task string) (Status, error)
}

// Probe reads one allocation. It may keep an offset or a last value, so one
// Probe serves one allocation and one goroutine.
type Probe interface {
	Read(ctx context.Context) (performance.Reading, error)
}

// Descriptor describes a kind of probe.
type Descriptor struct {
	Name    string
	Summary string // one line, for help and docs
	// Validate checks a spec of this type; errors name the attribute.
	Validate func(spec performance.ProbeSpec, target performance.Target) error
	// New returns a probe; task is the default task.
	New func(spec performance.ProbeSpec, reach Reach, task string) (Probe, error)
	// Progress says whether readings while the workload runs show progress;
	// without it tolerated scores cannot be measured online.
	Progress bool
	// Unit is what it counts, where the performance block does not say; else empty.
	Unit string
}
