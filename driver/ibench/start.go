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
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Spec says which kernel to start, and how. Its JSON is what the kernel's
// process is told.
type Spec struct {
	Executable string   `json:"-"` // a program that calls KernelMain; empty is this one
	Arguments  []string `json:"-"` // its arguments before the kernel's own; nil is {"kernel"}

	Source           interference.Source `json:"source"`
	IntensityPercent float64             `json:"intensity_percent"`
	CPUs             []int               `json:"cpus,omitempty"` // empty is every CPU this process may use
	Same             bool                `json:"same,omitempty"` // the CPUs are the workload's own

	MaxDuration time.Duration `json:"max_duration"` // the kernel ends by itself after this; required

	Socket          string `json:"socket"`              // path of the control socket; required
	Path            string `json:"path,omitempty"`      // storage: directory on the disk to put load on
	MaxBytes        int64  `json:"max_bytes,omitempty"` // bound of memory or disk space; 0 is the kernel's default
	Peer            string `json:"peer,omitempty"`      // network: host:port to send to; empty is the kernel's own sink
	Variant         string `json:"variant,omitempty"`   // one of the kernel's variants; empty is its first
	CalibrationFile string `json:"calibration_file,omitempty"`
	Seed            uint64 `json:"seed"`

	// Stdout and Stderr get the child's output; nil discards it. An *os.File is
	// handed to the child, so the output goes on when this process ends.
	Stdout io.Writer `json:"-"`
	Stderr io.Writer `json:"-"`
	// Join is called with the child's pid before it allocates or works, to put
	// it into its cgroups.
	Join func(pid int) error `json:"-"`
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
	}
	return nil
}

// Start starts a kernel and returns when it presses. It fails with the
// kernel's own reason when that cannot run: no such cache, a full disk, an
// unreachable peer. ctx bounds the start, not the life of the kernel, which dies
// with this process.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	cmd, err := command(spec, false)
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
	if err := settle(ctx, spec, cmd.Process.Pid, gate, ready); err != nil {
		gate.Close()
		_ = cmd.Process.Kill() // it may have ended by itself
		<-exited
		return nil, fmt.Errorf("start kernel %s: %w", spec.Source, err)
	}
	d, _ := Describe(spec.Source) // check has refused unknown ones
	p := &Process{source: spec.Source, knob: d.Knob, same: spec.Same, socket: spec.Socket, process: cmd.Process, done: make(chan struct{})}
	go func() {
		p.exit = <-exited
		gate.Close()
		close(p.done)
	}()
	return p, nil
}

// command prepares the command line of a child that dies with this process.
// asyncpreemptoff keeps the Go runtime's signals out of the measured loops.
func command(spec Spec, calibrate bool) (*exec.Cmd, error) {
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
	o, err := json.Marshal(order{spec, calibrate})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", spec.Source, err)
	}
	cmd := exec.Command(executable, append(slices.Clone(arguments), string(o))...)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.Stdout, cmd.Stderr = spec.Stdout, spec.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
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
func settle(ctx context.Context, spec Spec, pid int, gate, ready *os.File) error {
	defer ready.Close()
	if spec.Join != nil {
		if err := spec.Join(pid); err != nil {
			return fmt.Errorf("join cgroups: %w", err)
		}
	}
	if _, err := gate.Write([]byte{gateOpen}); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	return awaitReady(ctx, ready)
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
