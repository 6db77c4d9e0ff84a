package ibench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// kernelRun is a running kernel, seen from its own process.
type kernelRun struct {
	descriptor Descriptor
	spec       Spec
	rig        *rig
	curve      Curve
	base       totals // done before it was ready
	notes      []string
	ends       time.Time

	mu      sync.Mutex
	percent float64
	stop    context.CancelCauseFunc
}

// startKernel prepares the kernel and starts it at its first intensity.
func startKernel(ctx context.Context, spec Spec, stop context.CancelCauseFunc) (*kernelRun, error) {
	d, err := Describe(spec.Source)
	if err != nil {
		return nil, err
	}
	setup, notes, err := setupOf(spec)
	if err != nil {
		return nil, err
	}
	if err := d.Supported(setup.Machine); err != nil {
		return nil, fmt.Errorf("source %s: %w", d.Source, err)
	}
	if err := newGuard("/", nil, nil, nil).ready(); err != nil {
		return nil, err
	}
	r, err := openRig(ctx, d, setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", d.Source, err)
	}
	k := &kernelRun{
		descriptor: d, spec: spec, rig: r, curve: setup.Calibration.Curve, base: r.read(),
		notes: append(notes, r.load.Notes...), ends: time.Now().Add(spec.MaxDuration), stop: stop,
	}
	if setup.Calibration.Status == StatusNonlinear {
		k.notes = append(k.notes, "nonlinear here: "+setup.Calibration.Reason)
	}
	k.set(spec.IntensityPercent)
	return k, nil
}

// openRig prepares a kernel and runs it at knob 0, with its peak known.
func openRig(ctx context.Context, d Descriptor, setup Setup) (*rig, error) {
	load, err := d.New(ctx, setup)
	if err != nil {
		return nil, err
	}
	r, err := startRig(ctx, load, setup.CPUs, setup.Same)
	if err != nil {
		if load.Close != nil {
			err = errors.Join(err, load.Close())
		}
		return nil, err
	}
	if peak, ok := setup.Calibration.peakPerThread(load.Threads, len(setup.CPUs)); ok {
		r.setPeak(peak)
		return r, nil
	}
	if err := r.prime(ctx); err != nil {
		return nil, errors.Join(err, r.end())
	}
	return r, nil
}

// openControl serves the control socket.
func (k *kernelRun) openControl() (closeControl func(), err error) {
	listener, err := listenControl(k.spec.Socket)
	if err != nil {
		return nil, errors.Join(err, k.rig.end())
	}
	go serveControl(listener, k.answer)
	return func() {
		closeQuietly(listener)
		_ = os.Remove(k.spec.Socket) // its directory may be gone already
	}, nil
}

// live waits for the end and returns the exit code.
func (k *kernelRun) live(ctx context.Context) int {
	err := k.await(ctx)
	if endErr := k.rig.end(); endErr != nil && !errors.Is(err, endErr) {
		err = errors.Join(err, endErr)
	}
	code := exitCode(err)
	if code != ExitStopped && code != ExitParent {
		fmt.Fprintln(os.Stderr, "kernel:", err)
	}
	return code
}

// exitCode tells the parent why a kernel ended.
func exitCode(err error) int {
	switch {
	case errors.Is(err, errParent):
		return ExitParent
	case errors.Is(err, errMemory):
		return ExitMemory
	case errors.Is(err, errCPUs):
		return ExitCPUs
	case errors.Is(err, errStopped), errors.Is(err, errMaxDuration):
		return ExitStopped
	}
	return ExitFailed
}

// await returns why the kernel must end.
func (k *kernelRun) await(ctx context.Context) error {
	end := time.NewTimer(time.Until(k.ends))
	defer end.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-k.rig.failed:
		return k.rig.failure()
	case <-end.C:
		return errMaxDuration
	}
}

// answer carries out one request.
func (k *kernelRun) answer(q request) (Report, error) {
	switch q.Op {
	case opStats:
	case opSet:
		if q.Percent == nil || !(*q.Percent >= 0 && *q.Percent <= 100) {
			return Report{}, errors.New("set needs a percent from 0 to 100")
		}
		k.set(*q.Percent)
	case opPause:
		k.rig.pause(true)
	case opResume:
		k.rig.pause(false)
	case opRamp:
		return k.climb(q.RampDuration)
	case opStop:
		defer k.stop(errStopped)
	default:
		return Report{}, fmt.Errorf("unknown request %q; known: set, stats, pause, resume, ramp, stop", q.Op)
	}
	return k.report(), nil
}

// set changes the intensity: the calibrated curve says which knob has that
// impact.
func (k *kernelRun) set(percent float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.percent = percent
	k.rig.set(k.curve.Knob(percent) / 100)
}

// climb runs a ramp and reports it. The intensity before counts again after.
func (k *kernelRun) climb(total time.Duration) (Report, error) {
	levels, err := k.rig.climb(context.Background(), total, k.curve.Knob)
	if err != nil {
		return Report{}, err
	}
	r := k.report()
	r.Ramp = levels
	return r, nil
}

func (k *kernelRun) report() Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.rig.read().minus(k.base)
	threads := k.rig.load.Threads
	r := Report{
		KernelStats: profiler.KernelStats{
			At: time.Now(), IntensityPct: k.percent, Unit: k.descriptor.Unit,
			Ops: t.ops, DemandOps: t.demandOps,
			BusyNanoseconds: float64(t.busy.Nanoseconds()), WallNanoseconds: float64(t.wall.Nanoseconds()),
		},
		Source: string(k.descriptor.Source), Placement: placement(k.spec.Same), Threads: threads,
		Paused: k.rig.paused.Load(), ResidentBytes: k.rig.load.ResidentBytes(),
		CPUNanoseconds:  cpuTime().Nanoseconds(),
		PeakOpsPerSec:   k.rig.peakPerThread() * float64(threads),
		RemainingSecond: time.Until(k.ends).Seconds(),
		Notes:           k.notes,
	}
	if alerts := k.rig.load.Alerts; alerts != nil {
		r.Alerts = alerts()
	}
	if measures := k.rig.load.Measures; measures != nil {
		r.Measures = measures()
	}
	return r
}

// cpuTime is the CPU time this process used. Asking for oneself cannot fail
// (getrusage(2)).
func cpuTime() time.Duration {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
