package ibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// StateFormat is the version of State.
const StateFormat = 1

// State finds a kernel again after its parent was replaced. Start time and
// boot id tell it from a later process with the same id.
type State struct {
	Format     int                 `json:"format"`
	PID        int                 `json:"pid"`
	StartTicks uint64              `json:"start_ticks"` // clock ticks since boot
	BootID     string              `json:"boot_id"`
	Socket     string              `json:"socket"`
	Source     interference.Source `json:"source"`
	Same       bool                `json:"same"`
}

// Exit is how a kernel process ended.
type Exit struct {
	Known  bool // false for an attached process: only its parent learns the code
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
	state  State
	knob   Knob
	pidfd  int
	done   chan struct{} // closed when the process has ended
	exit   Exit          // valid once done is closed
	closer sync.Once
}

var _ profiler.Kernel = (*Process)(nil)

func newProcess(state State) (*Process, error) {
	d, err := Describe(state.Source)
	if err != nil {
		return nil, err
	}
	pidfd, err := unix.PidfdOpen(state.PID, 0)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", state.PID, errors.Join(ErrGone, err))
	}
	return &Process{state: state, knob: d.Knob, pidfd: pidfd, done: make(chan struct{})}, nil
}

// Attach finds a kernel started earlier, perhaps by another process. It
// returns ErrGone when that kernel has ended, and ErrRecycled when its process
// id belongs to another process now.
func Attach(ctx context.Context, state State) (*Process, error) {
	if state.Format != StateFormat {
		return nil, fmt.Errorf("kernel state: format %d, this release reads %d", state.Format, StateFormat)
	}
	p, err := newProcess(state)
	if err != nil {
		return nil, err
	}
	// The identity is checked after the pidfd is open: the pidfd cannot change
	// its process any more.
	err = identify("/", state)
	if err == nil && ended(p.pidfd, 0) {
		err = fmt.Errorf("process %d: %w", state.PID, ErrGone)
	}
	if err == nil {
		_, err = p.Report(ctx)
	}
	if err != nil {
		unix.Close(p.pidfd)
		return nil, fmt.Errorf("attach to kernel %s: %w", state.Source, err)
	}
	go p.watch()
	return p, nil
}

// watch closes done when the attached process ends.
func (p *Process) watch() {
	for !ended(p.pidfd, -1) {
	}
	close(p.done)
}

// ended reports whether the process ends within the timeout (-1 waits without
// one): its pidfd becomes readable then. A pidfd that cannot be polled counts
// as ended.
func ended(pidfd, timeoutMillis int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, timeoutMillis)
	if errors.Is(err, unix.EINTR) {
		return false
	}
	return err != nil || n > 0
}

// endingMillis is how long a kernel that did not answer gets to turn out to be
// ending: its socket closes a moment before its process is gone.
const endingMillis = 100

// State is what Attach needs to find the kernel again.
func (p *Process) State() State { return p.state }

// PID is the process id of the kernel.
func (p *Process) PID() int { return p.state.PID }

// Source is what the kernel presses on.
func (p *Process) Source() interference.Source { return p.state.Source }

// Set changes the intensity, 0 to 100 percent, and returns when the kernel
// presses with it: within 5 ms, unless it does not get its CPU.
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

// ask sends one request; every request renews the lease.
func (p *Process) ask(ctx context.Context, q request) (Report, error) {
	select {
	case <-p.done:
		return Report{}, fmt.Errorf("kernel %s: %w: %s", p.state.Source, ErrGone, p.exit)
	default:
	}
	r, err := ask(ctx, p.state.Socket, q)
	if err != nil && ended(p.pidfd, endingMillis) {
		err = errors.Join(ErrGone, err)
	}
	if err != nil {
		return Report{}, fmt.Errorf("kernel %s: %s: %w", p.state.Source, q.Op, err)
	}
	return r, nil
}

// Speed is the kernel's own performance between two stats of one level, in
// operations per second and thread; NaN where it did nothing in between.
// Duty kernels count wall time and so do rate kernels on the workload's CPUs,
// where lost CPU time is the loss. Footprint kernels, and rate kernels beside
// the workload, count busy time: idle time would hide their slowdown.
func (p *Process) Speed(a, b profiler.KernelStats) float64 {
	return speed(p.knob, p.state.Same, a, b)
}

// Placement is "same" on the workload's CPUs and "beside" on others.
func (p *Process) Placement() string { return placement(p.state.Same) }

// Done is closed when the kernel's process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns how the kernel ended, when it has.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.exit, nil
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
		return fmt.Errorf("kernel %s does not end: %w", p.state.Source, err)
	}
	return nil
}

// askToStop reports whether the kernel heard. It may end before its reply is
// out.
func (p *Process) askToStop(ctx context.Context) bool {
	_, err := ask(ctx, p.state.Socket, request{Op: opStop})
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET)
}

// Kill ends the kernel at once. A kernel that is gone already is no error.
func (p *Process) Kill() error {
	select {
	case <-p.done:
		return nil
	default:
	}
	err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill kernel %s: %w", p.state.Source, err)
	}
	return nil
}

// closeGrace is how long Close lets a kernel clean up after itself.
const closeGrace = 2 * time.Second

// Close stops the kernel and frees what this side holds of it.
func (p *Process) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*closeGrace)
	defer cancel()
	err := p.Stop(ctx, closeGrace)
	p.Release()
	return err
}

// Release frees what this side holds of a kernel and lets it run, for a
// parent that is about to be replaced. The process cannot be used after.
func (p *Process) Release() {
	p.closer.Do(func() {
		go func() { // the pidfd may be in use by watch until the process ends
			<-p.done
			unix.Close(p.pidfd)
		}()
	})
}
