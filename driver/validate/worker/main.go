package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// The files a worker is given by its parent.
const (
	pageFD  = 3
	gateFD  = 4
	readyFD = 5
)

// pauseSleep bounds one sleep of a paused thread.
const pauseSleep = 100 * time.Millisecond

// Main is the main function of a worker's process; it returns the exit code.
func Main(args []string, stderr io.Writer) int {
	ready := os.NewFile(readyFD, "ready")
	if ready == nil {
		fmt.Fprintln(stderr, "worker: this is started by the validation, not by people")
		return 2
	}
	if err := run(args, stderr, ready); err != nil {
		fmt.Fprintln(stderr, "worker:", err)
		return 1
	}
	return 0
}

// run does what the arguments say until the parent closes the gate.
func run(args []string, stderr io.Writer, ready *os.File) error {
	defer ready.Close()
	var o options
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("kind", "", "what to do")
	list := flags.String("cpus", "", "CPUs, one thread each")
	flags.Int64Var(&o.Bytes, "bytes", 0, "working set")
	flags.IntVar(&o.Stride, "stride", 0, "bytes between two places")
	flags.DurationVar(&o.Idle, "idle", 0, "of a probe")
	flags.BoolVar(&o.EvictSelf, "evict-self", false, "of a probe: displace everything")
	flags.BoolVar(&o.Turns, "turns", false, "of a probe: the kernel shares its CPU")
	flags.StringVar(&o.Dir, "dir", "", "directory on a disk")
	flags.Uint64Var(&o.Seed, "seed", 1, "of everything random")
	if err := flags.Parse(args); err != nil {
		return err
	}
	gate := os.NewFile(gateFD, "gate")
	if n, err := gate.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("the parent ended before the start: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = gate.Read(make([]byte, 1)) // nothing is sent: this returns at its end
		cancel()
	}()
	err := work(ctx, *name, *list, o, ready)
	if err != nil {
		fmt.Fprintln(ready, err) // a parent that is past the start does not read it
	}
	return err
}

// work runs the threads of a worker.
func work(ctx context.Context, name, list string, o options, ready io.Writer) error {
	kind, err := kindOf(name)
	if err != nil {
		return err
	}
	cpus, err := ibench.ParseCPUList(list)
	if err != nil {
		return err
	}
	if len(cpus) == 0 {
		return errors.New("a worker needs a CPU")
	}
	shared, err := mapPage(os.NewFile(pageFD, "page"))
	if err != nil {
		return err
	}
	threads := kind.Threads
	if threads == 0 {
		threads = min(len(cpus), threadsMax)
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(threads + 2) // the gate's reader, and one to spare
	return crew{kind: kind, options: o, cpus: cpus, page: shared}.run(ctx, threads, func() {
		fmt.Fprint(ready, readyLine)
	})
}

// crew is the threads of one worker.
type crew struct {
	kind    Kind
	options options
	cpus    []int
	page    *page
}

// run prepares the threads, says so, and waits until all have ended; one that
// fails ends them all.
func (c crew) run(ctx context.Context, threads int, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var shared commons
	opened := make(chan error, threads)
	errs := make([]error, threads)
	var wait sync.WaitGroup
	for i := range threads {
		wait.Go(func() {
			if errs[i] = c.thread(ctx, i, &shared, opened); errs[i] != nil {
				cancel()
			}
		})
	}
	var failed []error
	for range threads {
		failed = append(failed, <-opened)
	}
	if err := errors.Join(failed...); err != nil {
		cancel()
		wait.Wait()
		return err
	}
	ready()
	// The two sides of a mailbox wait for each other: its end must reach both.
	defer context.AfterFunc(ctx, func() { shared.mailbox.closed.Store(true) })()
	wait.Wait()
	return errors.Join(errs...)
}

// thread opens and runs one loop on a thread of its own, which ends with it.
func (c crew) thread(ctx context.Context, i int, shared *commons, opened chan<- error) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(c.cpus[i%len(c.cpus)])
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		opened <- fmt.Errorf("run on CPU %d: %w", c.cpus[i%len(c.cpus)], err)
		return nil
	}
	l, err := c.kind.open(c.options, i, shared)
	opened <- err
	if err != nil {
		return nil
	}
	return errors.Join(runLoop(ctx, l, i, c.page), l.close())
}
