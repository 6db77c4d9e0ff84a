package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/child"
)

// pauseSleep bounds one sleep of a paused thread.
const pauseSleep = 100 * time.Millisecond

// Main is the main function of a worker's process; it returns the exit code.
func Main(args []string, stderr io.Writer) int {
	var spec Spec
	if err := child.ReadOrder(args, &spec); err != nil {
		fmt.Fprintln(stderr, "worker:", err)
		return 2
	}
	parent, err := child.PassGate()
	if err == nil {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			parent.Await()
			cancel()
		}()
		if err = work(ctx, spec, parent); err != nil {
			parent.Tell(err) // one that is past the start does not hear it
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "worker:", err)
		return 1
	}
	return 0
}

// work runs the threads of a worker until ctx ends.
func work(ctx context.Context, spec Spec, parent child.Parent) error {
	kind, err := kindOf(spec.Kind)
	if err != nil {
		return err
	}
	if len(spec.CPUs) == 0 {
		return errors.New("a worker needs a CPU")
	}
	shared, err := mapPage(os.NewFile(child.FirstFile, "page"))
	if err != nil {
		return err
	}
	threads := kind.Threads
	if threads == 0 {
		threads = min(len(spec.CPUs), threadsMax)
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(threads + 2) // one for who waits at the gate, and one more
	return crew{kind: kind, spec: spec, page: shared}.run(ctx, threads, func() { parent.Tell(nil) })
}

// crew is the threads of one worker.
type crew struct {
	kind Kind
	spec Spec
	page *page
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
	set.Set(c.spec.CPUs[i%len(c.spec.CPUs)])
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		opened <- fmt.Errorf("run on CPU %d: %w", c.spec.CPUs[i%len(c.spec.CPUs)], err)
		return nil
	}
	l, err := c.kind.open(c.spec, i, shared)
	opened <- err
	if err != nil {
		return nil
	}
	return errors.Join(runLoop(ctx, l, i, c.page), l.close())
}
