package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopGrace is how long a child has to end before it is killed.
const stopGrace = 10 * time.Second

// child is a process of ours. It dies with us.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // read after done
}

// startChild starts a program with some more environment; in and out may be nil.
func startChild(name string, in *os.File, out io.Writer, log string, env []string, argv ...string) (*child, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer f.Close()
	c := &child{name: name, cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	c.cmd.Env = append(withoutNomad(os.Environ()), env...)
	c.cmd.Stdout, c.cmd.Stderr = out, f
	if in != nil {
		c.cmd.Stdin = in
	}
	if out == nil {
		c.cmd.Stdout = f
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The death signal comes when the thread that started the child ends.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			c.err = c.cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// stop ends the child and waits for it.
func (c *child) stop() error {
	if !c.running() {
		return nil
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", c.name, err)
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(stopGrace):
	}
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", c.name, err)
	}
	<-c.done
	return fmt.Errorf("%s did not end within %s and was killed", c.name, stopGrace)
}

func (c *child) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// withoutNomad is an environment without settings of a Nomad client.
func withoutNomad(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "NOMAD_") {
			out = append(out, v)
		}
	}
	return out
}

// usage is what a process has and used.
type usage struct {
	rssMiB     float64
	cpuSeconds float64 // since its start
}

// clockTicks is the kernel's unit of CPU time, 1/100 s on Linux.
const clockTicks = 100

func usageOf(pid int) (usage, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return usage{}, err
	}
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	if !found {
		return usage{}, fmt.Errorf("process %d has no memory", pid)
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		return usage{}, err
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return usage{}, err
	}
	// The second field, the name, may contain blanks and ends with the last ")".
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const user, system = 14 - 3, 15 - 3 // counted from the first field after the name
	if len(fields) <= system {
		return usage{}, fmt.Errorf("process %d: short stat", pid)
	}
	ticks := 0.0
	for _, f := range []string{fields[user], fields[system]} {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return usage{}, err
		}
		ticks += v
	}
	return usage{rssMiB: kib / 1024, cpuSeconds: ticks / clockTicks}, nil
}
