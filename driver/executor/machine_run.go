package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// machineGrace is how long a run without a workload may take beyond its own time: for the start of
// the kernel that its end finds, and writing.
const machineGrace = startTimeout + 10*time.Second

// runMachine measures how fast kernels are on this machine by themselves, and leaves what it has
// also where it is cut short.
func (s *profileRun) runMachine(ctx context.Context) error {
	request := *s.room.spec.Profile
	s.progress(profiler.Progress{Phase: profiler.PhaseRamp, Message: "measuring the kernels by themselves"})
	speeds, err := profiler.MeasureSpeeds(ctx, request, machineBench{s.room}, profiler.SystemClock{})
	if writeErr := writeJSON(filepath.Join(s.out, profiler.SpeedsFile), speeds); writeErr != nil {
		return errors.Join(err, fmt.Errorf("leave the speeds: %w", writeErr))
	}
	for _, k := range speeds.Kernels {
		if k.Unknown != "" {
			s.say("%s: not known: %s", k.Source, k.Unknown)
		}
	}
	if err != nil {
		s.progress(profiler.Progress{Phase: profiler.PhaseFailed, Fraction: s.fraction(), Message: err.Error()})
		return fmt.Errorf("%w: %w", errPartial, err)
	}
	s.progress(profiler.Progress{Phase: profiler.PhaseDone, Fraction: 1, Message: "the kernels are measured"})
	return nil
}

// machineBench starts kernels on all CPUs of the driver.
type machineBench struct{ room *room }

var _ profiler.Bench = machineBench{}

// Kernel starts the source's kernel at intensity 0.
func (b machineBench) Kernel(ctx context.Context, s interference.Source) (profiler.Kernel, error) {
	if err := ibench.Supported(b.room.machine, s); err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrKernelUnsupported, err)
	}
	allowed, err := b.room.allowed()
	if err != nil {
		return nil, err
	}
	if len(allowed) == 0 {
		return nil, ErrNoCPU
	}
	kernel, err := b.room.kernel(ctx, KernelSpec{Source: s}, Placement{CPUs: allowed})
	if err != nil {
		return nil, err // not a kernel that is nil
	}
	return kernel, nil
}
