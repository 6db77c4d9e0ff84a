package validate

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// TestMain lets the test binary be its own kernels and workers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "kernel" {
		os.Exit(ibench.KernelMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "validate" {
		os.Exit(Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fakeBench is a machine on which kernels and workers do what a test says, in
// a time of its own.
type fakeBench struct {
	now     time.Duration
	kernels map[interference.Source]*fakeKernel
	open    int // kernels and workers
	// fillRate is what a kernel that fills something adds between two looks, in
	// bytes; 0 is a kernel that is at its level at once.
	fillRate float64
	// impact is the share of its peak that a kernel reaches at a percentage.
	impact func(s interference.Source, percent float64) float64
	// slow is the factor by which a worker or another kernel is slower now.
	slow func(b *fakeBench, who string) float64
}

func newFakeBench() *fakeBench {
	return &fakeBench{
		kernels: map[interference.Source]*fakeKernel{},
		impact:  func(_ interference.Source, percent float64) float64 { return percent / 100 },
		slow:    func(*fakeBench, string) float64 { return 1 },
	}
}

// percent is the intensity of a source's kernel; 0 where there is none.
func (b *fakeBench) percent(s interference.Source) float64 {
	if k := b.kernels[s]; k != nil {
		return k.percent
	}
	return 0
}

func (b *fakeBench) Sleep(ctx context.Context, d time.Duration) error {
	b.now += d
	return ctx.Err()
}

func (b *fakeBench) Tempo(time.Time, time.Time) float64 { return 1 }

const fakePeak = 1e9 // operations per second

// fakeKernel counts as its intensity was since the last look.
type fakeKernel struct {
	bench   *fakeBench
	source  interference.Source
	percent float64
	since   time.Duration
	stats   profiler.KernelStats
	held    float64 // bytes, of a kernel that fills something
}

func (b *fakeBench) Kernel(_ context.Context, s interference.Source, _ place) (kernel, error) {
	b.open++
	k := &fakeKernel{bench: b, source: s, since: b.now}
	b.kernels[s] = k
	return k, nil
}

func (k *fakeKernel) catchUp() {
	elapsed := float64(k.bench.now - k.since)
	k.since = k.bench.now
	speed := fakePeak * k.bench.impact(k.source, k.percent) * k.bench.slow(k.bench, string(k.source))
	k.stats.Ops += speed * elapsed / 1e9
	k.stats.DemandOps += fakePeak * k.percent / 100 * elapsed / 1e9
	k.stats.WallNanoseconds += elapsed
	k.stats.BusyNanoseconds += elapsed * k.percent / 100
}

func (k *fakeKernel) Set(_ context.Context, percent float64) error {
	k.catchUp()
	k.percent = percent
	return nil
}

func (k *fakeKernel) Report(context.Context) (ibench.Report, error) {
	k.catchUp()
	k.stats.At = time.Unix(0, 0).Add(k.bench.now)
	r := ibench.Report{KernelStats: k.stats, Source: string(k.source), Threads: 1, ResidentBytes: int64(k.percent) << 20}
	if rate := k.bench.fillRate; rate > 0 {
		goal := k.percent * (1 << 20)
		k.held = min(goal, k.held+rate)
		r.Measures = map[string]float64{ibench.MeasureGoal: goal, ibench.MeasureHeld: k.held}
	}
	return r, nil
}

func (k *fakeKernel) Speed(a, b profiler.KernelStats) float64 {
	return (b.Ops - a.Ops) / (b.BusyNanoseconds - a.BusyNanoseconds) * 1e9
}

func (k *fakeKernel) PID() int { return 1 }

func (k *fakeKernel) Close() error {
	k.bench.open--
	delete(k.bench.kernels, k.source)
	return nil
}

// fakeWorker does a billion ops per second at its best; a probe of it takes a
// nanosecond per op, times how slow it is.
type fakeWorker struct {
	bench   *fakeBench
	spec    worker.Spec
	running bool
	since   time.Duration
	reading worker.Reading
}

func (b *fakeBench) Worker(_ context.Context, spec worker.Spec) (subject, error) {
	b.open++
	return &fakeWorker{bench: b, spec: spec, since: b.now}, nil
}

func (w *fakeWorker) catchUp() {
	elapsed := float64(w.bench.now - w.since)
	w.since = w.bench.now
	if !w.running {
		return
	}
	slow := w.bench.slow(w.bench, w.spec.Kind)
	if w.spec.EvictSelf {
		slow = 1.0 / 3
	}
	ops := elapsed * slow
	w.reading.Ops += ops
	w.reading.Nanoseconds += ops / slow
}

func (w *fakeWorker) Run()   { w.catchUp(); w.running = true }
func (w *fakeWorker) Pause() { w.catchUp(); w.running = false }

func (w *fakeWorker) Read() (worker.Reading, error) {
	w.catchUp()
	w.reading.At = time.Unix(0, 0).Add(w.bench.now)
	return w.reading, nil
}

func (w *fakeWorker) Close() error {
	w.bench.open--
	return nil
}

func (b *fakeBench) MemoryGroup(int64) (join func(int) error, remove func() error, err error) {
	b.open++
	return func(int) error { return nil }, func() error { b.open--; return nil }, nil
}

var errFake = errors.New("not on this machine")

func (b *fakeBench) Anonymous(int) (int64, error) {
	return int64(b.percent(interference.MemoryCapacity)) << 20, nil
}

func (b *fakeBench) CPUTime(int) (time.Duration, error) { return b.now, nil }

func (b *fakeBench) DiskBytes(int) (int64, error) { return 0, errFake }

// fakeMachine has caches of the usual sizes and that many CPUs.
func fakeMachine(cpus int, siblings bool) ibench.Machine {
	m := ibench.Machine{
		CPUModel: "fake", KernelRelease: "1", MemoryTotalBytes: 8 << 30,
		Caches: []ibench.Cache{
			{Level: 1, Type: ibench.CacheData, SizeBytes: 32 << 10, LineBytes: 64},
			{Level: 2, Type: ibench.CacheUnified, SizeBytes: 1 << 20, LineBytes: 64},
			{Level: 3, Type: ibench.CacheUnified, SizeBytes: 32 << 20, LineBytes: 64},
		},
	}
	for i := range cpus {
		c := ibench.CPU{ID: i, Siblings: []int{i}}
		if siblings {
			c.Siblings = []int{i / 2 * 2, i/2*2 + 1}
		}
		m.CPUs = append(m.CPUs, c)
	}
	return m
}

func fakeLayout(cpus int, siblings bool) layout {
	m := fakeMachine(cpus, siblings)
	var allowed []int
	for i := range cpus {
		allowed = append(allowed, i)
	}
	return newLayout(m, allowed)
}

// fakeSession is on two CPUs without hardware threads.
func fakeSession(b *fakeBench, p pace) *session {
	return &session{bench: b, pace: p, machine: fakeMachine(2, false), layout: fakeLayout(2, false), cast: newCast(b)}
}
