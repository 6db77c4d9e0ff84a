package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// Spec says which worker to start, and how.
type Spec struct {
	Executable string   // a program that calls Main; empty is this one
	Arguments  []string // its arguments before the worker's own

	Kind      string
	CPUs      []int // each thread gets one of them
	Bytes     int64
	Stride    int
	Idle      time.Duration
	EvictSelf bool
	Turns     bool // a probe shares its CPU with the kernel
	Dir       string
	Seed      uint64
	// Join is called with the worker's pid before it allocates, to put it into
	// a cgroup.
	Join func(pid int) error
}

func (s Spec) flags() []string {
	return []string{
		"-kind=" + s.Kind, "-cpus=" + ibench.FormatCPUList(s.CPUs),
		"-bytes=" + strconv.FormatInt(s.Bytes, 10), "-stride=" + strconv.Itoa(s.Stride),
		"-idle=" + s.Idle.String(), "-evict-self=" + strconv.FormatBool(s.EvictSelf), "-turns=" + strconv.FormatBool(s.Turns),
		"-dir=" + s.Dir, "-seed=" + strconv.FormatUint(s.Seed, 10),
	}
}

// Process is a running worker, seen from outside.
type Process struct {
	kind   Kind
	page   *page
	gate   io.Closer // its closing ends the worker
	exited chan error
}

// Reading is a worker's counters at one moment.
type Reading struct {
	At          time.Time
	Ops         float64
	Nanoseconds float64 // that probes took
}

// Start starts a worker; it waits for Run. ctx bounds the start.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	kind, err := kindOf(spec.Kind)
	if err != nil {
		return nil, err
	}
	file, page, err := newPage()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Process{kind: kind, page: page, exited: make(chan error, 1)}
	if err := p.launch(ctx, spec, file); err != nil {
		return nil, errors.Join(fmt.Errorf("start worker %s: %w", spec.Kind, err), page.close())
	}
	return p, nil
}

// launch starts the child and waits until it is ready.
func (p *Process) launch(ctx context.Context, spec Spec, shared *os.File) error {
	executable := spec.Executable
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
	}
	gateRead, gate, err := os.Pipe()
	if err != nil {
		return err
	}
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, gateRead.Close(), gate.Close())
	}
	defer ready.Close()
	cmd := exec.Command(executable, append(append([]string(nil), spec.Arguments...), spec.flags()...)...)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles = []*os.File{shared, gateRead, readyWrite}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The parent of the death signal is a thread: it is kept for the
		// child's whole life.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.exited <- cmd.Wait()
		}
	}()
	err = <-started
	_ = gateRead.Close()
	_ = readyWrite.Close()
	if err != nil {
		return errors.Join(err, gate.Close())
	}
	p.gate = gate
	if err := open(ctx, spec, cmd.Process.Pid, gate, ready); err != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-p.exited             //nolint:errcheck // it was killed: that is its end
		return errors.Join(err, gate.Close())
	}
	return nil
}

// open lets the child begin and waits for its one line.
func open(ctx context.Context, spec Spec, pid int, gate, ready *os.File) error {
	if spec.Join != nil {
		if err := spec.Join(pid); err != nil {
			return fmt.Errorf("join cgroup: %w", err)
		}
	}
	if _, err := gate.Write([]byte{'g'}); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(ready).ReadString('\n')
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("it ended before it was ready: %w", err)
	case line != readyLine:
		return errors.New(strings.TrimSpace(line))
	}
	return nil
}

// readyLine is what a worker that is ready says; anything else is why not.
const readyLine = "ready\n"

// Run lets the worker work.
func (p *Process) Run() { p.page.command(commandRun) }

// Pause makes the worker sleep after the step it is in.
func (p *Process) Pause() { p.page.command(commandPause) }

// Read returns the counters; an error says that the worker has ended.
func (p *Process) Read() (Reading, error) {
	select {
	case err := <-p.exited:
		p.exited <- err
		return Reading{}, fmt.Errorf("worker %s ended by itself: %w", p.kind.Name, err)
	default:
	}
	t := p.page.total()
	return Reading{At: time.Now(), Ops: float64(t.ops), Nanoseconds: float64(t.nanoseconds)}, nil
}

// Unit is that of one op.
func (p *Process) Unit() string { return p.kind.Unit }

// Close ends the worker.
func (p *Process) Close() error {
	err := p.gate.Close()
	p.Run() // a paused one would notice late
	select {
	case <-p.exited: //nolint:errcheck // how it ends says nothing here
	case <-time.After(closeGrace):
		err = errors.Join(err, fmt.Errorf("worker %s does not end", p.kind.Name))
		return err // its page stays mapped: it may still write
	}
	return errors.Join(err, p.page.close())
}

// closeGrace is how long a worker may take to end: a disk may be slow.
const closeGrace = 10 * time.Second
