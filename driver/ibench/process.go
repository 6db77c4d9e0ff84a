package ibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/child"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Exit is how a kernel process ended.
type Exit struct {
	Known  bool // false where the operating system did not say
	Code   int
	Signal int // 0 unless a signal ended it
}

// String says how it ended, for people.
func (e Exit) String() string {
	switch {
	case !e.Known:
		return "ended; how is not known"
	case e.Signal != 0:
		return "killed by signal " + strconv.Itoa(e.Signal)
	}
	return exitText(e.Code)
}

// Process is a running kernel, seen from outside. It is safe for concurrent use.
type Process struct {
	source interference.Source
	knob   Knob
	same   bool
	socket string
	child  *child.Process
}

var _ profiler.Kernel = (*Process)(nil)

// endingTime is how long a kernel that did not answer gets to turn out to be
// ending: its socket closes a moment before its process is gone.
const endingTime = 100 * time.Millisecond

// PID is the process id of the kernel.
func (p *Process) PID() int { return p.child.PID() }

// Set changes the intensity, 0 to 100 percent, and returns when the kernel
// works with it: within 5 ms, unless it does not get its CPU.
func (p *Process) Set(ctx context.Context, percent float64) error {
	_, err := p.ask(ctx, request{Op: opSet, Percent: &percent})
	return err
}

// Stats returns the running totals.
func (p *Process) Stats(ctx context.Context) (profiler.KernelStats, error) {
	r, err := p.Report(ctx)
	return r.KernelStats, err
}

// Report returns the running totals and the kernel's state.
func (p *Process) Report(ctx context.Context) (Report, error) {
	return p.ask(ctx, request{Op: opStats})
}

// Pause stops the pressure without forgetting the intensity.
func (p *Process) Pause(ctx context.Context) error {
	_, err := p.ask(ctx, request{Op: opPause})
	return err
}

// Resume goes on at the intensity before Pause.
func (p *Process) Resume(ctx context.Context) error {
	_, err := p.ask(ctx, request{Op: opResume})
	return err
}

// Ramp raises the intensity from 0 to 100 percent within that time, in steps
// of one, and returns what the kernel did at each: the published mode, which
// takes 10 ms (Delimitrou 2015, §5.3). The intensity before counts again after.
func (p *Process) Ramp(ctx context.Context, total time.Duration) ([]RampLevel, error) {
	r, err := p.ask(ctx, request{Op: opRamp, RampDuration: total})
	return r.Ramp, err
}

// ask sends one request.
func (p *Process) ask(ctx context.Context, q request) (Report, error) {
	select {
	case <-p.child.Ended:
		return Report{}, fmt.Errorf("kernel %s: %w: %s", p.source, ErrGone, exitOf(p.child.State()))
	default:
	}
	r, err := ask(ctx, p.socket, q)
	if err == nil {
		return r, nil
	}
	select {
	case <-p.child.Ended:
		err = errors.Join(ErrGone, err)
	case <-time.After(endingTime):
	}
	return Report{}, fmt.Errorf("kernel %s: %s: %w", p.source, q.Op, err)
}

// Speed is the kernel's own performance between two stats of one level, in
// operations per second and thread; NaN where it did nothing in between.
// Duty kernels count wall time and so do rate kernels on the workload's CPUs,
// where lost CPU time is the loss. Footprint kernels, and rate kernels on other
// CPUs, count busy time: idle time would hide their slowdown.
func (p *Process) Speed(a, b profiler.KernelStats) float64 {
	return speed(p.knob, p.same, a, b)
}

// Placement is "same" on the workload's CPUs and "beside" on others.
func (p *Process) Placement() string { return placement(p.same) }

// Done is closed when the kernel's process has ended.
func (p *Process) Done() <-chan struct{} { return p.child.Ended }

// Wait returns how the kernel ended, when it has.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.child.Ended:
		return exitOf(p.child.State()), nil
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}

// Stop asks the kernel to end and kills it when it has not after grace. It
// returns when the process is gone, or when ctx ends.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	gentle, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if grace > 0 && p.askToStop(gentle) {
		if _, err := p.Wait(gentle); err == nil {
			return nil
		}
	}
	if err := p.Kill(); err != nil {
		return err
	}
	if _, err := p.Wait(ctx); err != nil {
		return fmt.Errorf("kernel %s does not end: %w", p.source, err)
	}
	return nil
}

// askToStop reports whether the kernel heard. It may end before its reply is
// out.
func (p *Process) askToStop(ctx context.Context) bool {
	_, err := ask(ctx, p.socket, request{Op: opStop})
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET)
}

// Kill ends the kernel at once. A kernel that is gone already is no error.
func (p *Process) Kill() error {
	if err := p.child.Kill(); err != nil {
		return fmt.Errorf("kernel %s: %w", p.source, err)
	}
	return nil
}

// closeGrace is how long Close lets a kernel clean up after itself.
const closeGrace = 2 * time.Second

// Close stops the kernel.
func (p *Process) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*closeGrace)
	defer cancel()
	return p.Stop(ctx, closeGrace)
}
