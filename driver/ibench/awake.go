package ibench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A kernel that works in short bursts leaves its CPU idle between them. Alone it
// then finds the CPU asleep, with its caches cold and, on a virtual machine, handed
// to another guest; next to a workload it finds it awake. Comparing the two would
// say that the workload makes the kernel faster: on a virtual machine the
// instruction cache's kernel was by half, that of the data cache by 3 to 7 %. So
// while such a kernel's own speed is measured its CPUs are kept awake, by threads
// that get only the time no other thread wants.

// Awake is a process that keeps CPUs from idling.
type Awake struct {
	cmd  *exec.Cmd
	stop io.Closer
}

var _ io.Closer = (*Awake)(nil)

// KeepAwake starts one for the CPUs. join, if given, puts it into its control
// groups. It dies with this process.
func KeepAwake(cpus []int, join func(pid int) error) (*Awake, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(executable, "awake", FormatCPUList(cpus))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stop, err := cmd.StdinPipe() // ends with us, however we end
	if err != nil {
		return nil, fmt.Errorf("keep CPUs awake: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("keep CPUs awake: %w", err)
	}
	a := &Awake{cmd: cmd, stop: stop}
	if join != nil {
		if err := join(cmd.Process.Pid); err != nil {
			return nil, errors.Join(fmt.Errorf("keep CPUs awake: %w", err), a.Close())
		}
	}
	return a, nil
}

// Close lets the CPUs idle again.
func (a *Awake) Close() error {
	err := a.stop.Close()
	// Its threads may not get a CPU to notice.
	if killed := a.cmd.Process.Kill(); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
		err = errors.Join(err, killed)
	}
	_ = a.cmd.Wait() // it was killed: that is its end
	return err
}

// awakeRounds is how much a thread does between two looks at nothing: some
// microseconds in registers.
const awakeRounds = 1 << 12

// AwakeMain is the main function of the process: its argument is the list of CPUs.
// It ends with its standard input.
func AwakeMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "awake: give a list of CPUs")
		return ExitUsage
	}
	cpus, err := ParseCPUList(args[0])
	if err != nil || len(cpus) == 0 {
		fmt.Fprintf(os.Stderr, "awake: CPUs %q: %v\n", args[0], err)
		return ExitUsage
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(len(cpus) + 1)
	var made sync.WaitGroup
	failed := make(chan error, len(cpus))
	for _, cpu := range cpus {
		made.Add(1)
		go stayAwake(cpu, &made, failed)
	}
	made.Wait()
	select {
	case err := <-failed:
		fmt.Fprintln(os.Stderr, "awake:", err)
		return ExitFailed
	default:
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends it
	return ExitStopped
}

// stayAwake never returns, unless it cannot give way to everybody else.
func stayAwake(cpu int, made *sync.WaitGroup, failed chan<- error) {
	runtime.LockOSThread()
	err := pinThread(0, []int{cpu})
	if err == nil {
		err = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
	}
	if err != nil {
		failed <- fmt.Errorf("CPU %d: %w", cpu, err)
	}
	made.Done()
	if err != nil {
		return
	}
	chain := [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}
	for {
		integerRounds(&chain, awakeRounds)
	}
}
