package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Why a child ends by itself. All but the last are orderly.
var (
	errStopped    = errors.New("stopped")
	errTimeUp     = errors.New("max_duration is over")
	errAllocGone  = errors.New("the allocation's directory is gone")
	errDone       = errors.New("the duration of every kernel is over")
	errTargetGone = errors.New("the target task has ended")
	errKillSwitch = errors.New("the operator's kill switch is on")
)

// Main is the child process: nomad-driver-ibench task DIR. It returns the
// exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: nomad-driver-ibench task DIR (started by the driver)")
		return CodeFailed
	}
	// The log collector may go away before this process does.
	signal.Ignore(unix.SIGPIPE, unix.SIGHUP)
	ctx, stop := untilStopped(context.Background())
	defer stop()
	exit := run(ctx, args[0], stdout, stderr)
	if err := writeJSON(filepath.Join(args[0], ExitFile), exit); err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(stderr, "exit record:", err)
	}
	fmt.Fprintln(stderr, exit.Reason)
	return exit.Code
}

// untilStopped returns a context that ends with errStopped when the driver asks
// for it.
func untilStopped(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	go func() {
		select {
		case <-signals:
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// run does what the spec in dir says.
func run(ctx context.Context, dir string, stdout, stderr io.Writer) Exit {
	spec, err := readSpec(dir)
	if err != nil {
		return Exit{CodeFailed, err.Error()}
	}
	r := &room{
		spec: spec, dir: dir, stderr: stderr, now: time.Now, start: startProcess, awake: keepAwake,
		procs:   Proc{Root: "/proc", Self: os.Getpid()},
		journal: newJournal(stdout, time.Now),
	}
	if r.machine, err = ibench.ReadMachine("/"); err != nil {
		return Exit{CodeFailed, fmt.Sprintf("read the machine: %v", err)}
	}
	if r.claims, err = openClaims(dir); err != nil {
		return Exit{CodeFailed, err.Error()}
	}
	defer func() { _ = r.claims.close() }() // the lock goes with the process
	tree, err := cgroup.Detect("/proc/self/mountinfo")
	if err == nil {
		r.tree = &tree
	} else {
		r.journal.say("kernels get no control groups of their own, so no raised CPU weight: %v", err)
	}
	return exitOf(r.work(ctx))
}

// work runs the task until it is done, stopped, or has lost its lease.
func (r *room) work(ctx context.Context) error {
	listener, err := net.Listen("unix", filepath.Join(r.dir, SocketFile))
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go r.holdLease(ctx, cancel)
	if r.spec.Profile != nil {
		out, err := resultDir(r.spec.AllocDir)
		if err != nil {
			return err
		}
		s := &profileRun{journal: r.journal, room: r, shared: filepath.Join(r.spec.AllocDir, "alloc"), out: out}
		go r.answer(ctx, cancel, listener, s)
		if r.spec.Profile.Machine {
			return s.runMachine(ctx)
		}
		return s.runProfile(ctx, profiler.Measure)
	}
	if r.spec.Pairs != nil || r.spec.Calibrate != nil {
		return r.measureMore(ctx, cancel, listener)
	}
	if r.spec.Transfer != nil {
		l := &holder{journal: r.journal, room: r, patience: transferPatience, poll: lookPeriod}
		go r.answer(ctx, cancel, listener, l)
		return l.runTransfer(ctx)
	}
	if r.spec.Traffic != nil {
		t := &trafficRun{journal: r.journal, room: r}
		if err := t.prepare(ctx); err != nil {
			return err
		}
		go r.answer(ctx, cancel, listener, t)
		return t.runTraffic(ctx)
	}
	n := &kernelSet{journal: r.journal}
	go r.answer(ctx, cancel, listener, n)
	return runKernels(ctx, r, n)
}

// measureMore measures what is not one workload: pairs of them, or the kernels.
func (r *room) measureMore(ctx context.Context, cancel context.CancelCauseFunc, listener net.Listener) error {
	out, err := resultDir(r.spec.AllocDir)
	if err != nil {
		return err
	}
	s := &profileRun{journal: r.journal, room: r, shared: filepath.Join(r.spec.AllocDir, "alloc"), out: out}
	if r.spec.Calibrate != nil {
		c := &calibrateRun{s, ibench.Calibrate}
		go r.answer(ctx, cancel, listener, c)
		return c.runCalibrate(ctx)
	}
	c := &pairsRun{s}
	go r.answer(ctx, cancel, listener, c)
	return c.runPairs(ctx)
}

func (r *room) answer(ctx context.Context, cancel context.CancelCauseFunc, listener net.Listener, h handler) {
	if err := serve(ctx, listener, h); err != nil {
		cancel(err)
	}
}

// leasePoll is how often the lease is looked at: a kernel outlives what it
// depends on by no more.
const leasePoll = 500 * time.Millisecond

// holdLease ends the task when its time is up, its allocation is gone, or the
// kill switch is on.
func (r *room) holdLease(ctx context.Context, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(leasePoll)
	defer ticker.Stop()
	end := r.now().Add(r.spec.MaxDuration)
	for {
		if err := r.lease(end); err != nil {
			cancel(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *room) lease(end time.Time) error {
	// A transfer is without end, unless its task says otherwise: it exerts no pressure.
	endless := r.spec.Transfer != nil && r.spec.MaxDuration == 0
	if !endless && !r.now().Before(end) {
		return errTimeUp
	}
	if _, err := os.Stat(r.spec.AllocDir); errors.Is(err, fs.ErrNotExist) {
		return errAllocGone
	}
	if _, err := os.Stat(r.spec.KillSwitch); r.spec.KillSwitch != "" && err == nil {
		return fmt.Errorf("%w: %s exists", errKillSwitch, r.spec.KillSwitch)
	}
	return nil
}

// orderly reports whether a task that ended for that reason has not failed.
func orderly(err error) bool {
	return slices.ContainsFunc([]error{errStopped, errTimeUp, errAllocGone, errDone, errTargetGone, errRecipientGone},
		func(reason error) bool { return errors.Is(err, reason) })
}

// exitOf turns the end of a task into its exit record.
func exitOf(err error) Exit {
	switch {
	case err == nil:
		return Exit{CodeComplete, "complete"}
	case errors.Is(err, errPartial):
		return Exit{CodePartial, err.Error()}
	case errors.Is(err, errNothing):
		return Exit{CodeFailed, err.Error()}
	case orderly(err):
		return Exit{CodeComplete, err.Error()}
	default:
		return Exit{CodeFailed, err.Error()}
	}
}
