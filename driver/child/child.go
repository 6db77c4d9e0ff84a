// Package child starts processes of this program that work for this one: a kernel, or a
// workload of the validation. A child gets its order as one argument of JSON. It
// waits at a gate until its parent has put it into its control groups, says when it is
// ready, and dies with its parent, however that ends.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The files of a child. Those of its parent's ExtraFiles follow, from FirstFile on.
const (
	gateFile  = 3
	readyFile = 4
	FirstFile = 5
)

// gateOpen is what the parent writes into the gate. It stays open as long as the parent
// lives, or wants the child to.
const gateOpen = 'g'

// readiness is the one line that a child writes.
type readiness struct {
	Error string `json:"error,omitempty"`
}

// Command is the command line of a child: the program, or this one where it is empty,
// some words, and the order. asyncpreemptoff keeps the Go runtime's signals out of
// measured loops.
func Command(executable string, words []string, order any) (*exec.Cmd, error) {
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("encode the order: %w", err)
	}
	cmd := exec.Command(executable, append(slices.Clone(words), string(text))...)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, nil
}

// Run starts a command. The channel is closed when it has ended; then its ProcessState
// says how. The parent of Pdeathsig is a thread, not a process: so one thread is kept
// for the child's whole life.
func Run(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	started, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in ProcessState
		}
	}()
	return over, <-started
}

// Process is a child that is ready.
type Process struct {
	Ended <-chan struct{} // closed when it has
	cmd   *exec.Cmd
	gate  *os.File
}

// Start starts a child and returns when it says that it is ready; its own reason is the
// error where it is not. join, if given, puts it into its control groups. ctx bounds
// the start.
func Start(ctx context.Context, cmd *exec.Cmd, join func(pid int) error) (*Process, error) {
	gateRead, gate, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, gateRead.Close(), gate.Close())
	}
	defer ready.Close()
	cmd.ExtraFiles = append([]*os.File{gateRead, readyWrite}, cmd.ExtraFiles...)
	ended, err := Run(cmd)
	err = errors.Join(err, gateRead.Close(), readyWrite.Close())
	if err != nil {
		return nil, errors.Join(err, gate.Close())
	}
	p := &Process{Ended: ended, cmd: cmd, gate: gate}
	if err := p.settle(ctx, join, ready); err != nil {
		err = errors.Join(err, p.Kill())
		<-ended
		return nil, errors.Join(err, p.Leave())
	}
	go func() {
		<-ended
		_ = p.Leave() // nothing reads it any more
	}()
	return p, nil
}

// settle puts the child into its control groups, lets it begin, and waits until it is
// ready.
func (p *Process) settle(ctx context.Context, join func(pid int) error, ready *os.File) error {
	if join != nil {
		if err := join(p.PID()); err != nil {
			return fmt.Errorf("join cgroups: %w", err)
		}
	}
	if _, err := p.gate.Write([]byte{gateOpen}); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	if ctx.Err() != nil {
		return fmt.Errorf("waiting until it is ready: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("it ended before it was ready: %w", err)
	}
	var r readiness
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("what it says of its readiness: %w", err)
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	return nil
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// State is how the child ended, once it has.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Kill ends the child at once. One that has ended already is no error.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", p.PID(), err)
	}
	return nil
}

// Leave closes the gate, which tells a child that looks at it to end.
func (p *Process) Leave() error {
	if err := p.gate.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close the gate: %w", err)
	}
	return nil
}

// ReadOrder reads a child's arguments.
func ReadOrder(args []string, order any) error {
	in := json.NewDecoder(strings.NewReader(strings.Join(args, " ")))
	in.DisallowUnknownFields()
	if err := in.Decode(order); err != nil {
		return fmt.Errorf("this is started by a program, not by people: %w", err)
	}
	return nil
}

// Parent is what a child knows of its parent.
type Parent struct{ gate, ready *os.File }

// PassGate waits in a child until it may begin. Before that it must allocate nothing.
func PassGate() (Parent, error) {
	p := Parent{gate: os.NewFile(gateFile, "gate"), ready: os.NewFile(readyFile, "ready")}
	if n, err := p.gate.Read(make([]byte, 1)); n != 1 {
		return p, fmt.Errorf("the parent ended before the start: %w", err)
	}
	return p, nil
}

// Await returns when the parent has ended or has left.
func (p Parent) Await() { _, _ = p.gate.Read(make([]byte, 1)) } // nothing is sent

// Tell says that the child is ready, or why it is not. Only the first time counts.
func (p Parent) Tell(failure error) {
	var r readiness
	if failure != nil {
		r.Error = failure.Error()
	}
	_ = json.NewEncoder(p.ready).Encode(r) // a parent that is gone does not care
	_ = p.ready.Close()                    // it was written, or not
}
