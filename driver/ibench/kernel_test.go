package ibench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The list is sorted, free of duplicates and complete in every field.
func TestKernelList(t *testing.T) {
	t.Parallel()
	list := Kernels()
	if !slices.IsSortedFunc(list, func(a, b Descriptor) int {
		if a.Source < b.Source {
			return -1
		}
		return 1
	}) {
		t.Error("the list is not sorted, or holds a source twice")
	}
	for _, d := range list {
		if _, ok := interference.Info(d.Source); !ok {
			t.Errorf("%s is no source", d.Source)
		}
		if d.Means == "" || d.Loads == "" || d.Spares == "" || d.Unit == "" || d.Dwell <= 0 || d.Supported == nil || d.New == nil {
			t.Errorf("%s: an empty field in %+v", d.Source, d)
		}
		if d.Knob != Footprint && d.Knob != Rate && d.Knob != Duty {
			t.Errorf("%s: knob %q", d.Source, d.Knob)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	if d, err := Describe(interference.MemoryBandwidth); err != nil || d.Knob != Rate {
		t.Errorf("%+v, %v", d, err)
	}
	for _, info := range interference.Sources() {
		if _, err := Describe(info.Source); err != nil {
			t.Errorf("every source has a kernel, but: %v", err)
		}
	}
	if _, err := Describe("gpu"); err == nil || errors.Is(err, ErrNoKernel) {
		t.Errorf("no source at all: %v", err)
	}
}

// A walk of n lines visits exactly the first n lines of the order, whatever
// the footprints before were.
func TestRingVisitsItsFootprint(t *testing.T) {
	t.Parallel()
	const line, lines, sets = 64, 640, 64
	r, err := newRing(line*lines, line, sets, false, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(r)
	for _, n := range []int{640, 8, 100, 99, 640, 9, 320} {
		r.resize(n)
		want := map[uint64]bool{}
		for _, l := range r.order[:n] {
			want[uint64(l)*line] = true
		}
		c := r.spread()
		at := cursors{c[0], c[0], c[0], c[0], c[0], c[0], c[0], c[0]}
		for range n {
			delete(want, at[0])
			r.walk(&at, 1)
		}
		if len(want) > 0 || at[0] != c[0] {
			t.Errorf("footprint %d: %d lines not visited, back at the start: %v", n, len(want), at[0] == c[0])
		}
	}
}

// Any footprint is spread evenly over the cache's sets: their numbers of lines
// differ by one at most (Delimitrou 2015, §5.3, SoI6).
func TestRingIsEvenOverSets(t *testing.T) {
	t.Parallel()
	const line, ways, sets = 64, 8, 32
	r, err := newRing(line*ways*sets, line, sets, false, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(r)
	for n := 1; n <= ways*sets; n++ {
		var held [sets]int
		for _, l := range r.order[:n] {
			held[l%sets]++
		}
		if slices.Max(held[:])-slices.Min(held[:]) > 1 {
			t.Fatalf("%d lines hold %v per set", n, held)
		}
	}
}

func TestStreamReadsEveryLine(t *testing.T) {
	t.Parallel()
	r, err := newRegion(streamChunkBytes, false)
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(r)
	for i := 0; i < len(r.data); i += 64 {
		r.data[i] = 1
	}
	if got := stream(r.base(), streamChunkBytes, 64); got != streamChunkBytes/64 {
		t.Errorf("sum %d, want one of each of %d lines", got, streamChunkBytes/64)
	}
}

func TestFloatChainsStayOrdinary(t *testing.T) {
	t.Parallel()
	w := newFloatWorker()
	for range 50 {
		if _, err := w.Work(0); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range w.chain {
		if !(v >= 1 && v < 2) {
			t.Errorf("chain %d is %v", i, v)
		}
	}
}

func TestIntegerChainsDoNotDie(t *testing.T) {
	t.Parallel()
	w := newIntegerWorker()
	before := w.chain
	for range 50 {
		if _, err := w.Work(0); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range w.chain {
		if v == 0 || v == before[i] {
			t.Errorf("chain %d is %d", i, v)
		}
	}
}

func TestPaces(t *testing.T) {
	t.Parallel()
	if p := ratePace(0.4, 100); p.OpsPerSecond != 40 || p.Busy != 1 || p.DemandPerSec != 40 {
		t.Errorf("rate: %+v", p)
	}
	if p := ratePace(1, 100); !math.IsInf(p.OpsPerSecond, 1) || p.DemandPerSec != 100 {
		t.Errorf("rate at the top has a limiter: %+v", p)
	}
	if p := dutyPace(0.4, 100); !math.IsInf(p.OpsPerSecond, 1) || p.Busy != 0.4 || p.DemandPerSec != 40 {
		t.Errorf("duty: %+v", p)
	}
	if !ratePace(0, 100).idle() || !dutyPace(0, 100).idle() || dutyPace(0.01, 0).idle() {
		t.Error("idle is intensity 0 and nothing else")
	}
}

func TestSpeed(t *testing.T) {
	t.Parallel()
	a := profiler.KernelStats{Ops: 100, BusyNanoseconds: 1e9, WallNanoseconds: 2e9}
	b := profiler.KernelStats{Ops: 300, BusyNanoseconds: 1.5e9, WallNanoseconds: 4e9}
	const busy, wall = 400, 100 // ops/s
	for _, c := range []struct {
		knob Knob
		same bool
		want float64
	}{
		{Rate, false, busy},
		{Rate, true, wall},
		{Duty, false, wall},
		{Duty, true, wall},
		{Footprint, false, busy},
		{Footprint, true, busy},
	} {
		if got := speed(c.knob, c.same, a, b); got != c.want {
			t.Errorf("%s, same %v: %v, want %v", c.knob, c.same, got, c.want)
		}
	}
	if got := speed(Rate, false, a, a); !math.IsNaN(got) {
		t.Errorf("nothing done is a speed of %v", got)
	}
}

// testPeer accepts one connection and drops what it reads, until stalled.
type testPeer struct {
	address  string
	received atomic.Int64
	stalled  atomic.Bool
}

func newPeer(t *testing.T) *testPeer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &testPeer{address: listener.Addr().String()}
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { conn.Close() })
		buffer := make([]byte, 1<<16)
		for err == nil && !p.stalled.Load() {
			var n int
			n, err = conn.Read(buffer)
			p.received.Add(int64(n))
		}
	}()
	return p
}

func TestNetworkSendsToItsPeer(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.NetworkBandwidth)
	peer := newPeer(t)
	spec.Peer = peer.address
	spec.IntensityPercent = 20
	p := start(t, spec)
	eventually(t, "bytes sent and received", func() bool {
		s, err := p.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Ops > 0 && peer.received.Load() > 0
	})
}

// A peer that reads nothing any more stalls the kernel, but not its control.
func TestStalledPeerDoesNotStallControl(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.NetworkBandwidth)
	peer := newPeer(t)
	spec.Peer, spec.IntensityPercent = peer.address, 100
	p := start(t, spec)
	peer.stalled.Store(true)
	statsOver(t, p, 100*time.Millisecond) // the socket's buffers fill
	if err := p.Set(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != ExitStopped || exit.Signal != 0 {
		t.Errorf("exit %v, %v", exit, err)
	}
}

// On the workload's own CPUs every kernel runs too.
func TestKernelsOnTheWorkloadsCPUs(t *testing.T) {
	t.Parallel()
	for _, source := range []interference.Source{
		interference.Integer, interference.FloatingPoint, interference.Prefetcher, interference.Vector,
		interference.L1Data, interference.L1Instruction, interference.TLB, interference.LLCCapacity,
	} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			spec := testSpec(t, source)
			if m, err := ReadMachine("/"); err != nil || Supported(m, source) != nil {
				t.Skipf("this machine cannot run it: %v, %v", err, Supported(m, source))
			}
			cpus, err := AllowedCPUs()
			if err != nil {
				t.Fatal(err)
			}
			spec.CPUs, spec.Same, spec.IntensityPercent = cpus[:1], true, 50
			p := start(t, spec)
			if p.Placement() != "same" {
				t.Errorf("placement %q", p.Placement())
			}
			eventually(t, "work", func() bool {
				a, b := statsOver(t, p, 100*time.Millisecond)
				return b.Ops > a.Ops
			})
		})
	}
}

// stub is a worker that counts calls and can fail.
type stub struct {
	calls int
	fails bool
}

func (s *stub) Tune(u, peak float64) Pace { return ratePace(u, max(peak, 1)) }

func (s *stub) Work(float64) (float64, error) {
	s.calls++
	if s.fails {
		return 0, errors.New("broken")
	}
	time.Sleep(10 * time.Microsecond)
	return 1, nil
}

func (s *stub) Close() error { return nil }

func TestRigReportsAFailingWorker(t *testing.T) {
	t.Parallel()
	load := &Load{Threads: 1, Worker: func(int) (Worker, error) { return &stub{fails: true}, nil }}
	r, err := startRig(t.Context(), load, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	r.set(1)
	<-r.failed
	if err := r.end(); err == nil || err.Error() != "broken" {
		t.Errorf("ended with %v", err)
	}
}

func TestRigPassesOnAWorkerThatCannotBeMade(t *testing.T) {
	t.Parallel()
	load := &Load{Threads: 2, Worker: func(thread int) (Worker, error) {
		if thread == 1 {
			return nil, errors.New("no room")
		}
		return &stub{}, nil
	}}
	if _, err := startRig(t.Context(), load, nil, false); err == nil {
		t.Error("it started")
	}
}

func TestRigStopsMeasuringWithItsContext(t *testing.T) {
	t.Parallel()
	load := &Load{Threads: 1, Worker: func(int) (Worker, error) { return &stub{}, nil }}
	r, err := startRig(t.Context(), load, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.measure(ctx, 1, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("measure: %v", err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// BenchmarkSet is the time until a running kernel works with a new
// intensity; the target is 5 ms.
func BenchmarkSet(b *testing.B) {
	benchmarkSet(b, Spec{Source: interference.MemoryBandwidth, IntensityPercent: 90})
}

// BenchmarkSetOnOneCPU is the same of a kernel that leaves its CPU no time, and
// shares it with what answers requests.
func BenchmarkSetOnOneCPU(b *testing.B) {
	cpus, err := AllowedCPUs()
	if err != nil {
		b.Fatal(err)
	}
	benchmarkSet(b, Spec{Source: interference.Integer, IntensityPercent: 100, CPUs: cpus[:1], Same: true})
}

func benchmarkSet(b *testing.B, spec Spec) {
	p := benchmarkKernel(b, spec)
	level := 0.0
	for b.Loop() {
		level = spec.IntensityPercent - level // a level never repeats itself
		if err := p.Set(b.Context(), level); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle is the CPU a kernel takes at intensity 0; the target is 1 %.
func BenchmarkIdle(b *testing.B) {
	p := benchmarkKernel(b, Spec{Source: interference.MemoryBandwidth})
	before, err := p.Report(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		time.Sleep(100 * time.Millisecond)
	}
	after, err := p.Report(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	cpu := float64(after.CPUNanoseconds - before.CPUNanoseconds)
	b.ReportMetric(100*cpu/float64(after.At.Sub(before.At).Nanoseconds()), "%cpu")
}

func benchmarkKernel(b *testing.B, spec Spec) *Process {
	b.Helper()
	spec.MaxDuration, spec.MaxBytes = time.Minute, testBytes
	spec.Socket = b.TempDir() + "/kernel.sock"
	p, err := Start(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	return p
}

// BenchmarkKernels is the speed of each kernel at intensity 100, in its unit.
func BenchmarkKernels(b *testing.B) {
	m, err := ReadMachine("/")
	if err != nil {
		b.Fatal(err)
	}
	cpus, err := AllowedCPUs()
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range Kernels() {
		for _, variant := range append(d.Variants[min(1, len(d.Variants)):], "") {
			b.Run(strings.Trim(string(d.Source)+"/"+variant, "/"), func(b *testing.B) { benchmarkPeak(b, d, m, cpus, variant) })
		}
	}
}

func benchmarkPeak(b *testing.B, d Descriptor, m Machine, cpus []int, name string) {
	variant, err := d.variant(name)
	if err == nil {
		err = d.Supported(m)
	}
	if err != nil {
		b.Skipf("this machine cannot run it: %v", err)
	}
	r, err := openRig(b.Context(), d, Setup{
		Machine: m, CPUs: cpus, Path: b.TempDir(), MaxBytes: testBytes, Variant: variant, Seed: 1,
	})
	if err != nil {
		b.Skipf("this machine cannot run it: %v", err)
	}
	ops, wall := 0.0, time.Duration(0)
	for b.Loop() {
		done, err := r.measure(b.Context(), 1, levelDwell)
		if err != nil {
			b.Fatal(err)
		}
		ops, wall = ops+done.ops, wall+done.wall
	}
	if err := r.end(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(ops/wall.Seconds()*float64(r.load.Threads), d.Unit+"/s")
}
