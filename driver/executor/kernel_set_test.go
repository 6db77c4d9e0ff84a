package executor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// fakeKernel is a kernel process that does what it is asked for, at once.
type fakeKernel struct {
	spec ibench.Spec

	mu     sync.Mutex
	levels []float64
	paused bool
	closed bool
	done   chan struct{}
	exit   ibench.Exit
}

func (k *fakeKernel) Set(_ context.Context, percent float64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.levels = append(k.levels, percent)
	return nil
}

func (k *fakeKernel) Stats(ctx context.Context) (profiler.KernelStats, error) {
	r, err := k.Report(ctx)
	return r.KernelStats, err
}

func (k *fakeKernel) Report(context.Context) (ibench.Report, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return ibench.Report{KernelStats: profiler.KernelStats{At: time.Now(), IntensityPct: k.levels[len(k.levels)-1]}, ResidentBytes: 7}, nil
}

func (k *fakeKernel) Pause(context.Context) error  { k.paused = true; return nil }
func (k *fakeKernel) Resume(context.Context) error { k.paused = false; return nil }

func (k *fakeKernel) Speed(profiler.KernelStats, profiler.KernelStats) float64 { return math.NaN() }
func (k *fakeKernel) Placement() string                                        { return "" }
func (k *fakeKernel) PID() int                                                 { return 1 }
func (k *fakeKernel) Done() <-chan struct{}                                    { return k.done }

func (k *fakeKernel) Wait(ctx context.Context) (ibench.Exit, error) {
	select {
	case <-k.done:
		return k.exit, nil
	case <-ctx.Done():
		return ibench.Exit{}, ctx.Err()
	}
}

// die ends the kernel as if it had failed, with its last words.
func (k *fakeKernel) die(words string) {
	_, _ = io.WriteString(k.spec.Stderr, words)
	k.exit = ibench.Exit{Known: true, Code: ibench.ExitFailed}
	close(k.done)
}

func (k *fakeKernel) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.New("closed twice")
	}
	k.closed = true
	select {
	case <-k.done:
	default:
		close(k.done)
	}
	return nil
}

// stage is a kernel task with fake kernels.
type stage struct {
	*kernelSet
	room    *room
	log     *syncBuffer
	kernels []*fakeKernel
	mu      sync.Mutex
	result  chan error
	cancel  context.CancelCauseFunc
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// perform runs a task of those kernels on a machine without control groups.
func perform(t *testing.T, change func(*Spec), specs ...KernelSpec) *stage {
	t.Helper()
	spec := Spec{Name: "x", AllocID: "stage-" + t.Name(), Task: "noise", Kernels: specs, Allowed: []int{0, 1}}
	spec.Storage.Root = t.TempDir()
	spec.Storage.Dir = spec.Storage.Root
	if change != nil {
		change(&spec)
	}
	dir := filepath.Join(t.TempDir(), "x")
	s := &stage{log: &syncBuffer{}, result: make(chan error, 1)}
	s.room = &room{
		spec: spec, dir: dir, procs: liveProc, now: time.Now, stderr: io.Discard,
		journal: newJournal(s.log, time.Now), claims: open(t, dir),
		start: func(_ context.Context, spec ibench.Spec) (unit, error) {
			k := &fakeKernel{spec: spec, levels: []float64{spec.IntensityPercent}, done: make(chan struct{})}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.kernels = append(s.kernels, k)
			return k, nil
		},
	}
	s.kernelSet = &kernelSet{journal: s.room.journal}
	ctx, cancel := context.WithCancelCause(t.Context())
	s.cancel = cancel
	go func() { s.result <- runKernels(ctx, s.room, s.kernelSet) }()
	t.Cleanup(func() { cancel(errStopped) })
	return s
}

// started waits until all kernels run.
func (s *stage) started(t *testing.T) {
	t.Helper()
	for len(s.handle(t.Context(), Request{Command: CommandStats}).Kernels) < len(s.room.spec.Kernels) {
		select {
		case err := <-s.result:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
}

// ended waits for the end and checks that every kernel was closed.
func (s *stage) ended(t *testing.T) error {
	t.Helper()
	err := <-s.result
	for i, k := range s.kernels {
		if !k.closed {
			t.Errorf("kernel %d runs on", i)
		}
	}
	if left := len(s.room.claims.held); left > 0 {
		t.Errorf("%d claims are left", left)
	}
	return err
}

func integer(percent float64) KernelSpec {
	return KernelSpec{Source: interference.Integer, IntensityPercent: percent}
}

func TestRampCommand(t *testing.T) {
	t.Parallel()
	s := perform(t, nil, integer(30))
	s.started(t)
	ramp := Ramp{FromPercent: 10, ToPercent: 20, StepPercent: 5, Dwell: time.Millisecond}
	if r := s.handle(t.Context(), Request{Command: CommandRamp, Ramp: &ramp}); r.Error != "" || !r.Kernels[0].Ramp {
		t.Fatalf("%+v", r)
	}
	for s.handle(t.Context(), Request{Command: CommandStats}).Kernels[0].Ramp {
		time.Sleep(time.Millisecond)
	}
	for _, bad := range []*Ramp{nil, {ToPercent: 10, StepPercent: 1}, {ToPercent: 120, StepPercent: 1, Dwell: 1}} {
		if r := s.handle(t.Context(), Request{Command: CommandRamp, Ramp: bad}); r.Error == "" {
			t.Errorf("%+v was walked", bad)
		}
	}
	// A command ends a ramp under way.
	slow := Ramp{ToPercent: 100, StepPercent: 1, Dwell: time.Hour}
	s.handle(t.Context(), Request{Command: CommandRamp, Ramp: &slow})
	if r := s.handle(t.Context(), Request{Command: CommandSet, Percent: 40}); r.Error != "" || r.Kernels[0].Ramp || r.Kernels[0].IntensityPct != 40 {
		t.Errorf("%+v", r)
	}
	s.cancel(errStopped)
	if err := s.ended(t); !errors.Is(err, errStopped) {
		t.Error(err)
	}
	want := []float64{30, 10, 15, 20, 0, 40}
	if got := s.kernels[0].levels; len(got) != len(want) || got[2] != want[2] || got[5] != want[5] {
		t.Errorf("levels %v, want %v", got, want)
	}
	for _, event := range []string{"ramp from 10 % to 20 % in steps of 5 %, 1ms each", "10 % → 15 %", "ramp done, stays at 20 %"} {
		if !strings.Contains(s.log.String(), event) {
			t.Errorf("no event %q in\n%s", event, s.log.String())
		}
	}
}

// Each kernel ends after its own duration, and the task with the last.
func TestDuration(t *testing.T) {
	t.Parallel()
	long, short := integer(1), KernelSpec{Source: interference.FloatingPoint, Duration: time.Millisecond}
	long.Duration = 50 * time.Millisecond
	s := perform(t, nil, long, short)
	if err := s.ended(t); !errors.Is(err, errDone) || exitOf(err).Code != CodeComplete {
		t.Error(err)
	}
	if !strings.Contains(s.log.String(), "fp: ended after its duration of 1ms") {
		t.Error(s.log.String())
	}
}

// What a kernel said last is why the task ends.
func TestKernelFails(t *testing.T) {
	t.Parallel()
	s := perform(t, nil, integer(1))
	s.started(t)
	s.kernels[0].die("a note\nkernel: memory is short\n")
	err := s.ended(t)
	if exit := exitOf(err); exit.Code != CodeFailed || exit.Reason != "kernel int failed with exit code 1: memory is short" {
		t.Errorf("%+v", exit)
	}
}

// A second kernel of one source is refused, also within a task, unless a pair is
// allowed.
func TestPair(t *testing.T) {
	t.Parallel()
	s := perform(t, nil, integer(1), integer(2))
	if err := s.ended(t); !errors.Is(err, ErrClaimed) {
		t.Error(err)
	}
	s = perform(t, func(spec *Spec) { spec.AllowPair = true }, integer(1), integer(2))
	s.started(t)
	s.cancel(errStopped)
	if err := s.ended(t); !errors.Is(err, errStopped) {
		t.Error(err)
	}
}

func TestNoCPULeft(t *testing.T) {
	t.Parallel()
	s := perform(t, func(spec *Spec) { spec.Allowed = nil }, integer(1))
	if err := s.ended(t); !errors.Is(err, ErrNoCPU) {
		t.Error(err)
	}
}

// The kernels end with their target, also half-way up a ramp.
func TestTargetEnds(t *testing.T) {
	t.Parallel()
	id := TaskID{AllocID: "target-" + strconv.Itoa(os.Getpid()), Task: "web"}
	pid := startTask(t, id, nil)
	ramp := KernelSpec{Source: interference.Integer, Ramp: &Ramp{ToPercent: 100, StepPercent: 1, Dwell: time.Hour}}
	s := perform(t, func(spec *Spec) { spec.AllocID, spec.TargetTask = id.AllocID, "web" }, ramp)
	s.started(t)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := s.ended(t)
	if exit := exitOf(err); exit.Code != CodeComplete || exit.Reason != "the target task has ended: web" {
		t.Errorf("%+v", exit)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		name string
		spec Spec
		k    KernelSpec
		want int64
	}{
		{"the task's memory", Spec{MaxBytes: 64 * mib}, KernelSpec{Source: interference.MemoryBandwidth}, 64 * mib},
		{"less", Spec{MaxBytes: 64 * mib}, KernelSpec{Source: interference.MemoryBandwidth, MaxBytes: mib}, mib},
		{"never more", Spec{MaxBytes: 64 * mib}, KernelSpec{Source: interference.MemoryBandwidth, MaxBytes: 65 * mib}, 64 * mib},
	} {
		r := room{spec: c.spec}
		if got := r.bound(c.k); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestLastWords(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &lastWords{out: &out}
	for _, text := range []string{"one\ntw", "o\n", "kernel: thr", "ee\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if w.String() != "three" || out.String() != "one\ntwo\nkernel: three\n" {
		t.Errorf("kept %q of %q", w, out.String())
	}
}

func TestGauge(t *testing.T) {
	t.Parallel()
	at := func(seconds, percent, ops, demand float64) profiler.KernelStats {
		return profiler.KernelStats{At: time.Unix(100, 0).Add(time.Duration(seconds * 1e9)), IntensityPct: percent, Ops: ops, DemandOps: demand}
	}
	perSecond := func(a, b profiler.KernelStats) float64 { return (b.Ops - a.Ops) / b.At.Sub(a.At).Seconds() }
	var g gauge
	g.read(at(0, 40, 0, 0), perSecond)
	if g.speed != nil || g.achieved != nil {
		t.Error("a speed without a time")
	}
	g.read(at(2, 40, 10, 20), perSecond)
	if g.speed == nil || *g.speed != 5 || *g.achieved != 20 {
		t.Errorf("speed %v, achieved %v", g.speed, g.achieved)
	}
	g.read(at(2.1, 40, 99, 99), perSecond) // too soon: nothing new
	if *g.speed != 5 {
		t.Errorf("speed %v", *g.speed)
	}
	g.read(at(3, 60, 100, 100), perSecond)
	if g.speed != nil || g.achieved != nil {
		t.Error("a speed of another level was kept")
	}
	g.read(at(4, 60, 100, 100), func(profiler.KernelStats, profiler.KernelStats) float64 { return math.NaN() })
	if g.speed != nil || g.achieved != nil {
		t.Error("nothing was done nor asked for at 60 %, and yet a number")
	}
}

// A kernel whose CPU Nomad has reserved for another allocation is started anew
// on those left, as it was.
func TestMove(t *testing.T) {
	t.Parallel()
	s := perform(t, nil, integer(30))
	s.started(t)
	for _, q := range []Request{{Command: CommandSet, Percent: 40}, {Command: CommandPause}} {
		if r := s.handle(t.Context(), q); r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	s.kernelSet.mu.Lock()
	err := s.move(s.kernelSet.kernels[0], []int{1})
	s.kernelSet.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	old, now := s.kernels[0], s.kernels[1]
	s.mu.Unlock()
	if !old.closed || len(now.spec.CPUs) != 1 || now.spec.IntensityPercent != 40 || !now.paused {
		t.Errorf("the kernel was %+v and is %+v", old, now)
	}
	if r := s.handle(t.Context(), Request{Command: CommandStats}); r.Error != "" || r.Kernels[0].CPUs.String() != "1" {
		t.Errorf("%+v", r)
	}
	s.cancel(errStopped)
	if err := s.ended(t); !errors.Is(err, errStopped) {
		t.Error(err)
	}
}
