package ibench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/child"
)

// The exit codes of KernelMain.
const (
	ExitStopped = 0 // asked to end, or max duration reached
	ExitFailed  = 1
	ExitUsage   = 2
	ExitParent  = 3 // the parent is gone
	ExitMemory  = 4 // the machine is short of memory
	ExitCPUs    = 5 // its CPUs were taken away
)

func exitText(code int) string {
	switch code {
	case ExitStopped:
		return "stopped"
	case ExitUsage:
		return "refused its arguments"
	case ExitParent:
		return "ended with its parent"
	case ExitMemory:
		return "ended because the machine is short of memory"
	case ExitCPUs:
		return "ended because its CPUs are no longer available"
	}
	return "failed with exit code " + strconv.Itoa(code)
}

// childMemoryLimit lets the garbage collector, switched off otherwise, run
// when the answers to requests have piled up. Working sets do not count: they
// are outside the Go heap.
const childMemoryLimit = 64 << 20

// KernelMain is the main function of a kernel's process. It runs one kernel
// and returns the process's exit code.
func KernelMain(args []string) int {
	o, err := readOrder(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		return ExitUsage
	}
	if o.Calibrate {
		return calibrateMain(o.Spec, os.Stdout)
	}
	parent, err := child.PassGate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		return ExitParent
	}
	return runKernel(o.Spec, parent)
}

// untilSignalled ends when the process is asked to end.
func untilSignalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
}

// oomScoreFirst makes a process the first that is killed for lack of memory
// (proc_pid_oom_score_adj(5)).
const oomScoreFirst = "1000"

// prepareProcess makes the Go runtime quiet and puts every thread on the
// kernel's CPUs. There is one processor of the runtime per worker and some for
// the control socket, so that workers never wait for one.
func prepareProcess(spec Spec) error {
	const processorsForControl = 3
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(childMemoryLimit)
	runtime.GOMAXPROCS(max(len(spec.CPUs), storageThreadsMax) + processorsForControl)
	// Best effort: where memory runs out all the same, this process goes first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(oomScoreFirst), 0)
	if err := checkOnline("/", spec.CPUs); err != nil {
		return err
	}
	if spec.Same {
		if err := raiseThreads(); err != nil {
			return err
		}
	}
	return pinProcess(spec.CPUs)
}

// niceControl is the priority, on the workload's CPUs, of the threads that answer
// requests: above that of the workers, which leave them no time at 100 %. They
// need some microseconds a second.
const niceControl = -20

// raiseThreads gives every thread of this process that priority, and so those
// that they will start. Workers take their own. Best effort: it needs a
// privilege.
func raiseThreads() error {
	return eachThread(func(tid int) error {
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, niceControl)
		return nil
	})
}

// pinProcess puts every thread of this process on cpus.
func pinProcess(cpus []int) error {
	return eachThread(func(tid int) error { return pinThread(tid, cpus) })
}

// eachThread calls f for every thread of this process. One that is gone by then
// is no error.
func eachThread(f func(tid int) error) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("own threads: %w", err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// setupOf reads the machine and the calibration for a kernel.
func setupOf(spec Spec) (Setup, []string, error) {
	m, err := ReadMachine("/")
	if err != nil {
		return Setup{}, nil, err
	}
	d, err := Describe(spec.Source)
	if err != nil {
		return Setup{}, nil, err
	}
	variant, err := d.variant(spec.Variant)
	if err != nil {
		return Setup{}, nil, err
	}
	s := Setup{
		Machine: m, CPUs: spec.CPUs, Same: spec.Same, Path: spec.Path,
		MaxBytes: spec.MaxBytes, Peer: spec.Peer, Variant: variant, Seed: spec.Seed,
	}
	if len(d.Variants) > 0 && variant != d.Variants[0] {
		return s, []string{"not calibrated: only the variant " + d.Variants[0] + " is; the intensity is the share of a peak measured at the start"}, nil
	}
	if spec.CalibrationFile == "" {
		return s, []string{"not calibrated: the intensity is the share of a peak measured at the start"}, nil
	}
	c, err := readCalibration(spec.CalibrationFile)
	if err == nil {
		err = c.Key.fits(m)
	}
	if err != nil {
		return s, []string{"not calibrated: " + err.Error()}, nil
	}
	s.Calibration, _ = c.Source(spec.Source)
	return s, nil, nil
}

// The reasons a kernel ends for.
var (
	errStopped     = errors.New("asked to stop")
	errMaxDuration = errors.New("max duration reached")
	errParent      = errors.New("the parent is gone")
)

func runKernel(spec Spec, parent child.Parent) int {
	if err := prepareProcess(spec); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		parent.Tell(err)
		return ExitFailed
	}
	signals, cancel := untilSignalled()
	defer cancel()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	defer context.AfterFunc(signals, func() { stop(errStopped) })()
	go func() {
		parent.Await()
		stop(errParent)
	}()
	k, err := startKernel(ctx, spec, stop)
	if err == nil {
		var closeControl func()
		if closeControl, err = k.openControl(); err == nil {
			defer closeControl()
		}
	}
	parent.Tell(err)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		if errors.Is(context.Cause(ctx), errParent) {
			return ExitParent
		}
		return exitCode(err)
	}
	go newGuard("/", spec.CPUs, k.rig.threads, k.rig.load.Healthy).watch(ctx, stop)
	return k.live(ctx)
}
