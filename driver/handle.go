package driver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// handle is one task: its child process, and how it ended.
type handle struct {
	task  *protocol.TaskConfig
	state taskState
	tree  *cgroup.Tree // nil where the machine has no control groups
	procs executor.Proc

	done chan struct{} // closed when the child has ended and nothing of it is left

	mu        sync.Mutex
	exit      *protocol.ExitResult // set before done is closed
	reason    string
	completed time.Time
	cleanErr  error
}

// nameOf is a short name of a task, unique on the machine: task ids are too
// long for a socket path and hold slashes.
func nameOf(taskID string) string {
	sum := sha256.Sum256([]byte(taskID))
	return hex.EncodeToString(sum[:8])
}

// isName reports whether a name may be of nameOf: in a directory that others use, too, what has
// another is theirs.
func isName(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 8
}

func (h *handle) socket() string { return filepath.Join(h.state.Dir, executor.SocketFile) }

// startTimeout bounds the time until a child listens on its socket.
const startTimeout = 10 * time.Second

// start starts the child of a spec whose runtime directory is made.
func start(ctx context.Context, h *handle, executable string, weight int) error {
	// The group is there before the child, which sets its CPUs.
	join, err := h.makeGroup(weight)
	if err != nil {
		return err
	}
	stdout, err := openLog(ctx, h.task.GetStdoutPath())
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr, err := openLog(ctx, h.task.GetStderrPath())
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd := exec.Command(executable, "task", h.state.Dir)
	cmd.Env = environ(h.task.GetEnv())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// A session of its own: signals to the agent do not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the task's process: %w", err)
	}
	h.state.PID = cmd.Process.Pid
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(ended)
	}()
	go func() {
		<-ended
		h.finish(resultOf(cmd.ProcessState))
	}()
	if err := h.settle(ctx, join, ended); err != nil {
		_ = cmd.Process.Kill() // ended already, or ending
		<-h.done
		return err
	}
	return nil
}

// transferWeight is the CPU weight of a child that holds a transfer: it measures nothing, and
// starts on a CPU whose tasks are to be faster.
const transferWeight = cgroup.DefaultWeight / 10

// weightOf is the CPU weight of a task's child. One that measures, or keeps kernels at their
// intensity, must run when it wakes.
func weightOf(s executor.Spec) int {
	if s.Transfer != nil {
		return transferWeight
	}
	return cgroup.MaxWeight
}

// makeGroup makes the child's control group and returns how to join it.
func (h *handle) makeGroup(weight int) (join func(pid int) error, err error) {
	if h.tree == nil {
		return func(int) error { return nil }, nil
	}
	group, err := h.tree.Create(executor.GroupPrefix+h.state.Name, cgroup.Limits{Weight: weight})
	if err != nil {
		return nil, err
	}
	return group.Join, nil
}

// endingTime is how long a child that cannot be reached gets to turn out to have
// ended.
const endingTime = time.Second

// settle puts the child into its control group and waits for its socket.
func (h *handle) settle(ctx context.Context, join func(pid int) error, ended <-chan struct{}) error {
	var err error
	if h.state.StartTicks, err = h.procs.StartTicks(h.state.PID); err == nil {
		err = join(h.state.PID)
	}
	if err != nil {
		// A child that failed at once is gone, and perhaps its group already.
		select {
		case <-ended:
			return h.earlyEnd()
		case <-time.After(endingTime):
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if executor.Answers(h.state.Dir) {
			return nil
		}
		select {
		case <-ended:
			return h.earlyEnd()
		case <-ctx.Done():
			return fmt.Errorf("the task's process does not answer: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// earlyEnd is the error of a child that ended before it listened. One that was
// simply quick is no error.
func (h *handle) earlyEnd() error {
	exit, err := executor.ReadExit(h.state.Dir)
	if err != nil {
		return fmt.Errorf("the task's process ended at once: %w", err)
	}
	if exit.Code == executor.CodeFailed {
		return errors.New(exit.Reason)
	}
	return nil
}

// finish records the end of the child and clears what it may have left: a
// paused workload, a transfer and control groups.
func (h *handle) finish(result *protocol.ExitResult) {
	err := h.clean()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exit, h.completed, h.cleanErr = result, time.Now(), err
	if exit, err := executor.ReadExit(h.state.Dir); err == nil {
		h.reason = exit.Reason
	}
	close(h.done)
}

// cleanTimeout bounds the removal of control groups: kernels die with the
// child, but the kernel takes a moment to reap them.
const cleanTimeout = 10 * time.Second

func (h *handle) clean() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
	defer cancel()
	errs := []error{executor.Release(h.groupTree(), h.procs, filepath.Join(h.state.Dir, executor.PausedFile)), h.giveBack()}
	groups, err := h.groups()
	errs = append(errs, err)
	for _, g := range groups {
		errs = append(errs, g.Remove(ctx))
	}
	return errors.Join(errs...)
}

// giveBack puts back what the task has transferred and could not put back itself.
func (h *handle) giveBack() error {
	return executor.Return(h.groupTree(), filepath.Join(h.state.Dir, executor.TransferFile))
}

func (h *handle) groupTree() cgroup.Tree {
	if h.tree == nil {
		return cgroup.Tree{}
	}
	return *h.tree
}

// groups are the control groups of the task: its child's and its kernels'.
func (h *handle) groups() ([]cgroup.Group, error) {
	if h.tree == nil {
		return nil, nil
	}
	return h.tree.Named(executor.GroupPrefix + h.state.Name)
}

// resultOf turns the end of a process into Nomad's form.
func resultOf(state *os.ProcessState) *protocol.ExitResult {
	if state == nil {
		return &protocol.ExitResult{ExitCode: executor.CodeFailed}
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return &protocol.ExitResult{ExitCode: int32(128 + ws.Signal()), Signal: int32(ws.Signal())}
	}
	return &protocol.ExitResult{ExitCode: int32(state.ExitCode())}
}

// errGone means the child of a recovered task is not there and left no record.
var errGone = errors.New("the task's process is gone")

// attach finds the child of a recovered task. One that ended meanwhile and
// left a record of it is recovered as ended.
func attach(h *handle) error {
	pidfd, err := h.open()
	if err != nil {
		exit, readErr := executor.ReadExit(h.state.Dir)
		if readErr != nil {
			return errors.Join(fmt.Errorf("%w: %w", errGone, err), h.clean())
		}
		h.finish(&protocol.ExitResult{ExitCode: int32(exit.Code)})
		return nil
	}
	go func() {
		awaitExit(pidfd)
		exit, err := executor.ReadExit(h.state.Dir)
		if err != nil {
			// Only a parent learns how a process ended; without its record it
			// was killed.
			exit.Code = 128 + int(unix.SIGKILL)
		}
		h.finish(&protocol.ExitResult{ExitCode: int32(exit.Code)})
	}()
	return nil
}

// open opens the child, and refuses another process that has its id now.
func (h *handle) open() (pidfd int, err error) {
	if h.state.BootID != bootID() {
		return -1, errors.New("the machine was restarted")
	}
	pidfd, err = unix.PidfdOpen(h.state.PID, 0)
	if err != nil {
		return -1, fmt.Errorf("process %d: %w", h.state.PID, err)
	}
	ticks, err := h.procs.StartTicks(h.state.PID)
	if err == nil && ticks != h.state.StartTicks {
		err = fmt.Errorf("process %d is another one now", h.state.PID)
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(pidfd))
	}
	return pidfd, nil
}

// awaitExit waits until the process ends: its pidfd becomes readable.
func awaitExit(pidfd int) {
	defer unix.Close(pidfd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// bootID names this start of the machine; empty where the kernel does not say.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// stop asks the child to end, and kills it when it has not after the timeout.
func (h *handle) stop(ctx context.Context, s unix.Signal, timeout time.Duration) error {
	if err := h.signal(s); err != nil {
		return err
	}
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(timeout):
	}
	return h.kill(ctx)
}

// kill ends the child at once; its kernels die with it.
func (h *handle) kill(ctx context.Context) error {
	if err := h.signal(unix.SIGKILL); err != nil {
		return err
	}
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signal reaches the child and no other process; one that is gone is fine.
func (h *handle) signal(s unix.Signal) error {
	select {
	case <-h.done:
		return nil
	default:
	}
	pidfd, err := h.open()
	if err != nil {
		return nil // ended; done follows
	}
	defer unix.Close(pidfd)
	if err := unix.PidfdSendSignal(pidfd, s, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", h.state.PID, err)
	}
	return nil
}

func (h *handle) running() bool {
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

// openLog opens a log pipe of Nomad for writing. Opening waits for the reader,
// which the agent starts before the task; it must not wait for ever.
func openLog(ctx context.Context, path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			// The child writes to it as to any pipe: a full one makes it wait.
			if err := unix.SetNonblock(fd, false); err != nil {
				return nil, errors.Join(fmt.Errorf("log %s: %w", path, err), unix.Close(fd))
			}
			return os.NewFile(uintptr(fd), path), nil
		}
		if !errors.Is(err, unix.ENXIO) && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("log %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("log %s: no process reads it: %w", path, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func environ(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// removeDir removes the runtime directory of a task that has ended, except for the
// record of what it could not give back. While the kernel holds on to a control group of the
// task, it stays: by it the next sweep finds the group.
func (h *handle) removeDir() error {
	if groups, err := h.groups(); err == nil && len(groups) > 0 {
		return executor.MarkEnded(h.state.Dir)
	}
	if err := executor.RemoveDir(h.state.Dir); err != nil {
		return fmt.Errorf("runtime directory: %w", err)
	}
	return nil
}
