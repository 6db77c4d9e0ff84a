package ibench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Spec says which kernel to start, and how.
type Spec struct {
	Executable string   // a program that calls KernelMain; empty is this one
	Arguments  []string // its arguments before the kernel's options; nil is {"kernel"}

	Source           interference.Source
	IntensityPercent float64
	CPUs             []int // empty is every CPU this process may use
	Same             bool  // the CPUs are the workload's own

	MaxDuration time.Duration // the kernel ends by itself after this; required
	// Lease ends the kernel when no request came for this long; 0 asks for none.
	Lease time.Duration
	// DieWithParent kills the kernel with this process. Without it the kernel
	// outlives its parent, to be found again by Attach.
	DieWithParent bool

	Socket          string // path of the control socket; required
	Path            string // storage: directory on the disk to put load on
	MaxBytes        int64  // bound of memory or disk space; 0 is the kernel's default
	Peer            string // network: host:port to send to; empty is the kernel's own sink
	Variant         string // one of the kernel's variants; empty is its first
	CalibrationFile string
	Seed            uint64

	// Stdout and Stderr get the child's output; nil discards it. An *os.File is
	// handed to the child, so the output goes on when this process ends.
	Stdout, Stderr io.Writer
	// Join is called with the child's pid before it allocates or works, to put
	// it into its cgroups.
	Join func(pid int) error
}

func (s Spec) check() error {
	d, err := Describe(s.Source)
	if err != nil {
		return err
	}
	if _, err := d.variant(s.Variant); err != nil {
		return err
	}
	switch {
	case !(s.IntensityPercent >= 0 && s.IntensityPercent <= 100):
		return fmt.Errorf("intensity %v is outside 0 to 100 percent", s.IntensityPercent)
	case s.MaxDuration <= 0:
		return errors.New("a kernel needs a max duration")
	case s.Socket == "":
		return errors.New("a kernel needs a control socket")
	case s.Lease < 0:
		return fmt.Errorf("lease %v is negative", s.Lease)
	}
	return nil
}

// options are the flags of KernelMain that say the same as the spec.
func (s Spec) options() []string {
	return []string{
		"-source=" + string(s.Source),
		"-intensity=" + strconv.FormatFloat(s.IntensityPercent, 'g', -1, 64),
		"-cpus=" + FormatCPUList(s.CPUs),
		"-same=" + strconv.FormatBool(s.Same),
		"-max-duration=" + s.MaxDuration.String(),
		"-lease=" + s.Lease.String(),
		"-die-with-parent=" + strconv.FormatBool(s.DieWithParent),
		"-socket=" + s.Socket,
		"-path=" + s.Path,
		"-max-bytes=" + strconv.FormatInt(s.MaxBytes, 10),
		"-peer=" + s.Peer,
		"-variant=" + s.Variant,
		"-calibration=" + s.CalibrationFile,
		"-seed=" + strconv.FormatUint(s.Seed, 10),
	}
}

// Start starts a kernel and returns when it presses. It fails with the
// kernel's own reason when that cannot run: no such cache, a full disk, an
// unreachable peer. ctx bounds the start, not the life of the kernel.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	cmd, err := command(spec, "-handshake")
	if err != nil {
		return nil, err
	}
	gateRead, gate, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start kernel %s: %w", spec.Source, err)
	}
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start kernel %s: %w", spec.Source, err), gateRead.Close(), gate.Close())
	}
	cmd.ExtraFiles = []*os.File{gateRead, readyWrite} // gateFD and readyFD in the child
	exited := make(chan Exit, 1)
	err = startAndReap(cmd, exited)
	gateRead.Close()
	readyWrite.Close()
	if err != nil {
		gate.Close()
		ready.Close()
		return nil, fmt.Errorf("start kernel %s: %w", spec.Source, err)
	}
	p, err := settle(ctx, spec, cmd.Process.Pid, gate, ready)
	if err != nil {
		gate.Close()
		_ = cmd.Process.Kill() // it may have ended by itself
		<-exited
		return nil, fmt.Errorf("start kernel %s: %w", spec.Source, err)
	}
	go func() {
		p.exit = <-exited
		gate.Close()
		close(p.done)
	}()
	return p, nil
}

// command prepares the child's command line. asyncpreemptoff keeps the Go
// runtime's signals out of the measured loops.
func command(spec Spec, more ...string) (*exec.Cmd, error) {
	executable := spec.Executable
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	arguments := spec.Arguments
	if arguments == nil {
		arguments = []string{"kernel"}
	}
	cmd := exec.Command(executable, slices.Concat(arguments, spec.options(), more)...)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.Stdout, cmd.Stderr = spec.Stdout, spec.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if spec.DieWithParent {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	return cmd, nil
}

// startAndReap starts cmd and sends how it ended. The parent of PDEATHSIG is a
// thread, not a process: so one thread is kept for the child's whole life.
func startAndReap(cmd *exec.Cmd, exited chan<- Exit) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- exitOf(cmd.Wait(), cmd.ProcessState)
		}
	}()
	return <-started
}

func exitOf(err error, state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Known: false}
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Known: true, Code: -1, Signal: int(ws.Signal())}
	}
	_ = err // what it says of the exit is in the state
	return Exit{Known: true, Code: state.ExitCode()}
}

// settle puts the child into its cgroups, lets it begin, and waits until it
// says that it presses.
func settle(ctx context.Context, spec Spec, pid int, gate, ready *os.File) (*Process, error) {
	defer ready.Close()
	state, err := stateOf(pid, spec)
	if err != nil {
		return nil, err
	}
	if spec.Join != nil {
		if err := spec.Join(pid); err != nil {
			return nil, fmt.Errorf("join cgroups: %w", err)
		}
	}
	if _, err := gate.Write([]byte{gateOpen}); err != nil {
		return nil, fmt.Errorf("open the gate: %w", err)
	}
	if err := awaitReady(ctx, ready); err != nil {
		return nil, err
	}
	return newProcess(state)
}

// awaitReady reads the child's one line of readiness.
func awaitReady(ctx context.Context, ready *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the kernel: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("the kernel ended before it was ready: %w", err)
	}
	var r readiness
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("the kernel's readiness: %w", err)
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	return nil
}

func stateOf(pid int, spec Spec) (State, error) {
	ticks, err := startTicks("/", pid)
	if err != nil {
		return State{}, err
	}
	boot, err := bootID("/")
	if err != nil {
		return State{}, err
	}
	return State{
		Format: StateFormat, PID: pid, StartTicks: ticks, BootID: boot,
		Socket: spec.Socket, Source: spec.Source, Same: spec.Same,
	}, nil
}
