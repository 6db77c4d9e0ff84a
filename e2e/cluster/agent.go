package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tailBytes is how much of an agent's log an error shows.
const tailBytes = 2000

// stopGrace is how long an agent has to shut down before it is killed.
const stopGrace = 15 * time.Second

// agent is one Nomad agent: its files, its group, and its process if it runs.
type agent struct {
	name  string
	dir   string // config, data and log
	group string
	addr  string // http://127.0.0.1:port

	mu      sync.Mutex
	process *process
	ns      []*os.File // mount and cgroup namespace, once they exist
}

// process is a started agent.
type process struct {
	pid  int
	done chan struct{} // closed when it ended
	err  error         // why it ended; read after done
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// starter starts children from one thread that lives as long as the cluster:
// a child's death signal comes when the thread that started it ends.
type starter struct {
	commands chan func()
	closed   sync.Once
}

func newStarter() *starter {
	s := &starter{commands: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range s.commands {
			f()
		}
		// The goroutine ends locked, and takes its thread along.
	}()
	return s
}

func (s *starter) start(cmd *exec.Cmd) error {
	result := make(chan error)
	s.commands <- func() { result <- cmd.Start() }
	return <-result
}

func (s *starter) close() { s.closed.Do(func() { close(s.commands) }) }

// start runs the agent through the helper. restart says that its namespaces
// exist already.
func (a *agent) start(s *starter, h hierarchies, nomad string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process != nil && a.process.running() {
		return fmt.Errorf("agent %s is running already", a.name)
	}
	cmd, log, err := a.command(agentSpec{
		Hierarchies: h, Group: a.group, Rejoin: len(a.ns) > 0, Parent: os.Getpid(),
		Argv: a.argv(nomad),
	})
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.ExtraFiles = a.ns
	// An own process group keeps the terminal's Ctrl-C from the agents: the owner
	// stops them, in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.start(cmd); err != nil {
		return fmt.Errorf("start agent %s: %w", a.name, err)
	}
	a.process = watch(cmd)
	return nil
}

// argv is the command line of the agent.
func (a *agent) argv(nomad string) []string {
	return []string{nomad, "agent", "-config", filepath.Join(a.dir, "config")}
}

// command is the helper that becomes the agent. The log is the caller's to close once it is
// started.
func (a *agent) command(spec agentSpec) (*exec.Cmd, *os.File, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, nil, fmt.Errorf("agent %s: %w", a.name, err)
	}
	log, err := os.OpenFile(a.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("agent %s: %w", a.name, err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{agentHelper, string(text)}
	cmd.Env = agentEnv(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, log, nil
}

func watch(cmd *exec.Cmd) *process {
	p := &process{pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p
}

// keepNamespaces holds the agent's namespaces open, so that they, and the mounts
// of its tasks in them, outlive the agent until it is started again.
func (a *agent) keepNamespaces() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ns) > 0 {
		return nil
	}
	for _, name := range []string{"mnt", "cgroup"} { // in the order of mountNSFD, cgroupNSFD
		f, err := os.Open(filepath.Join("/proc", strconv.Itoa(a.process.pid), "ns", name))
		if err != nil {
			return fmt.Errorf("keep namespaces of %s: %w", a.name, err)
		}
		a.ns = append(a.ns, f)
	}
	return nil
}

func (a *agent) closeNamespaces() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.ns {
		// A file that was only held open has nothing to lose on close.
		_ = f.Close()
	}
	a.ns = nil
}

// signal ends the agent with a signal and waits until it is gone. An agent that
// does not run is gone.
func (a *agent) signal(ctx context.Context, sig syscall.Signal) error {
	p := a.current()
	if p == nil || !p.running() {
		return nil
	}
	if err := syscall.Kill(p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal agent %s: %w", a.name, err)
	}
	wait, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-wait.Done():
		return fmt.Errorf("agent %s did not end after %s: %w", a.name, sig, wait.Err())
	}
}

func (a *agent) current() *process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.process
}

// failed returns an error with the end of the log if the agent ended.
func (a *agent) failed() error {
	p := a.current()
	if p == nil || p.running() {
		return nil
	}
	why := "exit status 0"
	if p.err != nil {
		why = p.err.Error()
	}
	return fmt.Errorf("agent %s ended: %s; the end of its log:\n%s", a.name, why, a.logTail())
}

func (a *agent) logFile() string { return filepath.Join(a.dir, "agent.log") }

func (a *agent) logTail() string {
	text, err := os.ReadFile(a.logFile())
	if err != nil {
		return err.Error()
	}
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
	}
	return strings.TrimSpace(string(text))
}

// writeConfig makes the agent's folders and its config files, in the order in
// which Nomad merges them: by file name.
func (a *agent) writeConfig(texts ...string) error {
	dir := filepath.Join(a.dir, "config")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(a.dataDir(), 0o755)); err != nil {
		return fmt.Errorf("agent %s: %w", a.name, err)
	}
	for i, text := range texts {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.hcl", i)), []byte(text), 0o644); err != nil {
			return fmt.Errorf("agent %s: %w", a.name, err)
		}
	}
	return nil
}

func (a *agent) dataDir() string { return filepath.Join(a.dir, "data") }
