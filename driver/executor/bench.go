package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// bench starts kernels next to the target of a profiling run.
type bench struct {
	room    *room
	target  *Target
	machine ibench.Machine
}

var _ profiler.Bench = (*bench)(nil)

// Kernel starts the source's kernel at intensity 0 where it puts pressure on the
// target.
func (b *bench) Kernel(ctx context.Context, s interference.Source) (profiler.Kernel, error) {
	if err := ibench.Supported(b.machine, s); err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrKernelUnsupported, err)
	}
	cpus, err := b.target.CPUs()
	if err != nil {
		return nil, err
	}
	allowed, err := b.room.allowed()
	if err != nil {
		return nil, err
	}
	where, err := Place(b.machine, s, DomainAuto, cpus, allowed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrKernelUnsupported, err)
	}
	kernel, err := b.room.kernel(ctx, KernelSpec{Source: s}, where)
	if errors.Is(err, errNoDiskRoom) {
		err = fmt.Errorf("%w: %w", profiler.ErrKernelUnsupported, err)
	}
	if err != nil {
		return nil, err // not a kernel that is nil
	}
	return kernel, nil
}

// subject is the workload under measurement.
type subject struct {
	target *Target
	probe  probe.Probe
	meters []*cgroup.Meter // of the tasks; nil before they were looked for, empty where there are none
}

var (
	_ profiler.Subject    = (*subject)(nil)
	_ profiler.CPUMeter   = (*subject)(nil)
	_ profiler.UsageMeter = (*subject)(nil)
)

// Read returns a reading of the probe.
func (s *subject) Read(ctx context.Context) (performance.Reading, error) { return s.probe.Read(ctx) }

// Pause stops the workload's processes.
func (s *subject) Pause(ctx context.Context) error { return s.target.Pause(ctx) }

// Resume lets them go on, also when ctx has ended: nothing may stay paused.
func (s *subject) Resume(context.Context) error { return s.target.Resume() }

// CPUTime is what the workload's processes have used, and what was stolen from each of
// their CPUs.
func (s *subject) CPUTime() (profiler.CPUTime, error) {
	used, err := s.target.CPUTime()
	if err != nil {
		return profiler.CPUTime{}, err
	}
	cpus, err := s.target.CPUs()
	if err != nil {
		return profiler.CPUTime{}, err
	}
	stolen, err := s.target.Procs.Stolen(cpus)
	out := profiler.CPUTime{Used: used, Stolen: stolen, CPUs: float64(len(cpus))}
	if quota, limited := s.target.Tree.QuotaCPUs(); limited {
		out.CPUs = min(out.CPUs, quota)
	}
	// Without its threads all else is known: not every kernel counts their runs.
	out.Threads, _ = s.target.Threads()
	return out, err
}

// Usage is what the workload's processes have used, at any moment.
func (s *subject) Usage() (time.Duration, error) {
	if s.meters == nil {
		s.meters = s.target.meters()
	}
	if len(s.meters) == 0 {
		return 0, cgroup.ErrNoMeter
	}
	var sum time.Duration
	var errs []error
	for _, m := range s.meters { // all: one that is not read now cannot be compared next time
		used, err := m.Read()
		sum, errs = sum+used, append(errs, err)
	}
	return sum, errors.Join(errs...)
}

// Alive returns nil while every task of the workload has a process.
func (s *subject) Alive(context.Context) error {
	err := s.target.Alive()
	if errors.Is(err, ErrNoProcess) {
		return fmt.Errorf("the workload has ended: %w", err)
	}
	return err
}
