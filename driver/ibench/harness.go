package ibench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The windows within which a pace is kept, chosen by us with the pilot runs of
// the design: a sleep overshoots by 60 to 90 microseconds on a virtual
// machine, 4 % of 2 ms; on shared CPUs a window must hold several time slices
// of the scheduler.
const (
	windowBeside = 2 * time.Millisecond
	windowSame   = interference.KernelPeriod
)

// A kernel without a calibrated peak runs for some moments to find one. Their
// median counts: the first may only fill buffers, and others may get in the way
// of some. Where it did nothing, having got no CPU or no answer, there are more.
const (
	warmUp        = 10 * time.Millisecond
	warmUpRuns    = 5
	warmUpRunsMax = 50
)

// rig runs the workers of a load, each on a thread of its own.
type rig struct {
	load   *Load
	meters []meter
	same   bool
	start  time.Time
	// threads are those of the workers, valid once startRig has returned.
	threads []pinnedThread

	knob   atomic.Uint64 // math.Float64bits of 0..1
	peak   atomic.Uint64 // math.Float64bits of operations per second and thread; 0 is not known yet
	change atomic.Uint32 // counts changes of knob, peak, pause and ending; threads sleep on it
	paused atomic.Bool
	ramp   atomic.Pointer[ramp] // under way; nil most of the time
	ending atomic.Bool

	workers sync.WaitGroup
	mu      sync.Mutex
	err     error // of the first worker that failed
	failed  chan struct{}
}

// startRig starts the workers at knob 0 and returns when every one is made.
func startRig(ctx context.Context, load *Load, cpus []int, same bool) (*rig, error) {
	r := &rig{load: load, meters: make([]meter, load.Threads), same: same, start: time.Now(), failed: make(chan struct{}), threads: make([]pinnedThread, load.Threads)}
	made := make(chan error, load.Threads)
	for i := range load.Threads {
		r.workers.Add(1)
		go func() {
			defer r.workers.Done()
			r.runThread(i, threadCPUs(i, load.Threads, cpus), made)
		}()
	}
	var errs []error
	for range load.Threads {
		select {
		case err := <-made:
			errs = append(errs, err)
		case <-ctx.Done():
			errs = append(errs, ctx.Err())
		}
	}
	if err := errors.Join(errs...); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// threadCPUs gives each thread one CPU of its own where there are enough, and
// the whole set otherwise.
func threadCPUs(i, threads int, cpus []int) []int {
	if threads <= len(cpus) && threads > 1 || len(cpus) == 1 {
		return cpus[i%len(cpus) : i%len(cpus)+1]
	}
	return cpus
}

// runThread makes and runs one worker. The thread is never given back to the
// Go runtime: it ends with the goroutine, and its settings with it.
func (r *rig) runThread(i int, cpus []int, made chan<- error) {
	runtime.LockOSThread()
	if err := prepareThread(cpus, r.same); err != nil {
		made <- err
		return
	}
	r.threads[i] = pinnedThread{tid: unix.Gettid(), cpus: cpus}
	w, err := r.load.Worker(i)
	made <- err
	if err != nil {
		return
	}
	err = r.run(w, &r.meters[i])
	if err = errors.Join(err, w.Close()); err != nil {
		r.fail(err)
	}
}

func (r *rig) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		close(r.failed)
	}
}

// prepareThread pins the calling thread and makes its sleeps exact. On the
// workload's own CPUs it also takes the highest priority it can get: with
// equal weights a kernel at 100 would take half a CPU only.
func prepareThread(cpus []int, same bool) error {
	if len(cpus) > 0 {
		if err := pinThread(0, cpus); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	if same {
		// Best effort: without the privilege the cgroup's weight decides alone.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceSame)
	}
	return nil
}

// niceSame is the priority of a worker on the workload's CPUs.
const niceSame = niceControl + 1

// pinThread restricts a thread (0 is the calling one) to cpus.
func pinThread(tid int, cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("run on CPUs %s: %w", FormatCPUList(cpus), err)
	}
	return nil
}

// run keeps the pace of the knob until the rig ends. Windows follow each other
// on absolute deadlines, so that errors do not add up; a worker that was
// starved for longer than a window starts anew instead of catching up.
func (r *rig) run(w Worker, m *meter) error {
	b := beat{rig: r, worker: w, meter: m, change: r.change.Load() - 1}
	b.marked = r.now()
	b.next = b.marked
	for !r.ending.Load() {
		b.retune()
		if p := r.ramp.Load(); p != nil && p != b.climbed {
			b.climbed = p
			if err := b.climb(p); err != nil {
				return err
			}
			b.change-- // the level before the ramp is to be taken over again
			continue
		}
		if b.paused || b.pace.idle() {
			b.idle()
			continue
		}
		if err := b.window(); err != nil {
			return err
		}
	}
	b.account(0, 0)
	return nil
}

// now is the time since the rig started.
func (r *rig) now() time.Duration { return time.Since(r.start) }

// beat is the state of one worker's loop.
type beat struct {
	rig    *rig
	worker Worker
	meter  *meter

	change uint32 // the change the pace was made for
	paused bool
	pace   Pace
	length time.Duration // of a window
	tokens float64       // operations that may start now; negative is a debt
	next   time.Duration // start of the next window
	marked time.Duration // wall time is accounted up to here

	climbed *ramp // the last one
}

// changed reports whether there is a new level.
func (b *beat) changed() bool { return b.rig.change.Load() != b.change }

// retune takes over a new level.
func (b *beat) retune() {
	change := b.rig.change.Load()
	if change == b.change {
		return
	}
	b.account(0, 0)
	b.change = change
	b.paused = b.rig.paused.Load()
	b.pace = b.worker.Tune(math.Float64frombits(b.rig.knob.Load()), math.Float64frombits(b.rig.peak.Load()))
	b.length = b.pace.Window
	if b.length == 0 && b.rig.same {
		b.length = windowSame
	} else if b.length == 0 {
		b.length = windowBeside
	}
	b.tokens = 0
	b.next = b.windowStart()
	b.meter.taken.Store(change)
}

// windowStart is where a window begins that begins now.
func (b *beat) windowStart() time.Duration {
	now := b.rig.now()
	if b.pace.Aligned {
		return now.Truncate(b.length)
	}
	return now
}

// window works for one window and sleeps for the rest of it.
func (b *beat) window() error {
	r := b.rig
	quota := b.pace.OpsPerSecond * b.length.Seconds()
	b.tokens = min(b.tokens+quota, quota)
	busyEnd := b.next + time.Duration(b.pace.Busy*float64(b.length))
	ops, busy, now := 0.0, time.Duration(0), r.now()
	for b.tokens > 0 && now < busyEnd && !b.changed() && !r.ending.Load() {
		n, err := b.worker.Work(b.tokens)
		ops += n
		b.tokens -= n
		last := now
		now = r.now()
		busy += b.took(now - last)
		if err != nil {
			b.account(ops, busy)
			return err
		}
		if n == 0 && !b.pace.Aligned {
			break // nothing to do before the next window
		}
		if n == 0 { // the others are late
			b.rest(min(now+alignedPause, busyEnd))
			now = r.now()
		}
	}
	b.next += b.length
	b.rest(b.next)
	// Once per window and not when the work ends: totals read at any moment are
	// those of whole windows.
	b.account(ops, busy)
	if late := r.now() - b.next; late > b.length {
		b.next = b.windowStart()
	}
	return nil
}

// alignedPause is how long a worker that needs others sleeps when they do not
// come: they may have lost their CPU for a moment, to a process or to the host of
// a virtual machine, and are back long before the next window.
const alignedPause = 50 * time.Microsecond

// idle sleeps until there is a new level. It wakes for nothing else: an idle
// kernel costs no CPU time.
func (b *beat) idle() {
	if !b.paused {
		b.meter.rest(b.marked)
	}
	for !b.changed() && !b.rig.ending.Load() {
		awaitChange(&b.rig.change, b.change)
	}
	b.account(0, 0)
}

// took is how long the last quantum was busy: by the worker's own watch where
// it has one, else as seen from here.
func (b *beat) took(seen time.Duration) time.Duration {
	if timed, ok := b.worker.(timedWorker); ok {
		return timed.Took()
	}
	return seen
}

// rest sleeps until the deadline, or until there is a new level.
func (b *beat) rest(until time.Duration) {
	for !b.changed() && !b.rig.ending.Load() {
		left := until - b.rig.now()
		if left <= 0 {
			break
		}
		waitChange(&b.rig.change, b.change, left)
	}
}

// account adds work, and the wall time since the last account, unless paused.
func (b *beat) account(ops float64, busy time.Duration) {
	now := b.rig.now()
	wall := now - b.marked
	b.marked = now
	if b.paused {
		return
	}
	demand := b.pace.DemandPerSec * wall.Seconds()
	if math.IsInf(b.pace.DemandPerSec, 1) {
		demand = ops
	}
	b.meter.add(totals{ops: ops, demandOps: demand, busy: busy, wall: wall})
}

// settleTimeout bounds the wait for workers to take over a change: one may be
// in the middle of a slow disk request, or not get a CPU.
const settleTimeout = 100 * time.Millisecond

// settle waits until every worker has taken over the last change, so that
// what is counted from then on belongs to the new level.
func (r *rig) settle() {
	change := r.announce()
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline) && !r.taken(change); {
		waitChange(&r.change, change, settlePoll)
	}
}

// settlePoll is how often settle looks.
const settlePoll = 100 * time.Microsecond

// announce wakes the workers for a change and returns its number.
func (r *rig) announce() uint32 {
	change := r.change.Add(1)
	wakeAll(&r.change)
	return change
}

// taken reports whether every worker has taken over the change or a later one.
// Differences are signed, so that the count may wrap around.
func (r *rig) taken(change uint32) bool {
	for i := range r.meters {
		if int32(r.meters[i].taken.Load()-change) < 0 {
			return false
		}
	}
	return true
}

// set changes the knob, 0..1.
func (r *rig) set(knob float64) {
	r.knob.Store(math.Float64bits(knob))
	r.settle()
}

// setPeak makes the peak of one thread known to the workers.
func (r *rig) setPeak(opsPerSec float64) {
	r.peak.Store(math.Float64bits(opsPerSec))
	r.settle()
}

func (r *rig) peakPerThread() float64 { return math.Float64frombits(r.peak.Load()) }

func (r *rig) pause(paused bool) {
	r.paused.Store(paused)
	r.settle()
}

// read returns the totals over all threads.
func (r *rig) read() totals {
	var sum totals
	now := r.now()
	for i := range r.meters {
		sum = sum.plus(r.meters[i].read(now))
	}
	return sum
}

// settleDwell is how long a level runs before it is measured.
const settleDwell = 2 * windowBeside

// measure runs at a knob for the dwell and returns what was done meanwhile,
// after a settling window.
func (r *rig) measure(ctx context.Context, knob float64, dwell time.Duration) (totals, error) {
	r.set(knob)
	if err := r.wait(ctx, settleDwell); err != nil {
		return totals{}, err
	}
	before := r.read()
	if err := r.wait(ctx, dwell); err != nil {
		return totals{}, err
	}
	return r.read().minus(before), nil
}

// wait lets the workers work.
func (r *rig) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.failed:
		return r.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prime finds the peak by running at the top for some moments.
func (r *rig) prime(ctx context.Context) error {
	var peaks []float64
	for run := 0; run < warmUpRuns || len(peaks) == 0 && run < warmUpRunsMax; run++ {
		done, err := r.measure(ctx, 1, warmUp)
		if err != nil {
			return err
		}
		if done.ops > 0 && done.busy > 0 {
			peaks = append(peaks, done.ops/done.busy.Seconds())
		}
	}
	r.set(0)
	if len(peaks) == 0 {
		return errors.New("the kernel did nothing in its first run")
	}
	r.setPeak(median(peaks))
	return nil
}

func (r *rig) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// stop tells the workers to end.
func (r *rig) stop() {
	r.ending.Store(true)
	r.announce()
}

// end stops the workers and waits for them.
func (r *rig) end() error {
	r.stop()
	r.workers.Wait()
	err := r.failure()
	if r.load.Close != nil {
		err = errors.Join(err, r.load.Close())
	}
	return err
}
