package profiler_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// turns is a clock that goes on by what is slept.
type turns struct{ now time.Time }

func (c *turns) Now() time.Time { return c.now }

func (c *turns) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return ctx.Err()
}

// steady is a kernel of one speed, but for a window.
type steady struct {
	clock   *turns
	speed   float64
	odd     int // the window in which it is ten times as fast; 0: none
	windows int
	level   float64
	closed  bool
	stuck   error // where it does not end
}

func (k *steady) Set(_ context.Context, percent float64) error { k.level = percent; return nil }

func (k *steady) Stats(context.Context) (profiler.KernelStats, error) {
	return profiler.KernelStats{At: k.clock.now}, nil
}

func (k *steady) Speed(_, _ profiler.KernelStats) float64 {
	k.windows++
	if k.windows == k.odd {
		return 10 * k.speed
	}
	return k.speed
}
func (k *steady) Placement() string { return "beside" }
func (k *steady) Close() error      { k.closed = true; return k.stuck }

type shelf map[interference.Source]*steady

func (s shelf) Kernel(_ context.Context, source interference.Source) (profiler.Kernel, error) {
	if k := s[source]; k != nil {
		return k, nil
	}
	return nil, errors.New("there is none here")
}

func TestSpeedsOfKernelsByThemselves(t *testing.T) {
	t.Parallel()
	clock := &turns{now: time.Unix(1000, 0)}
	kernels := shelf{interference.Integer: {clock: clock, speed: 5, odd: 2}, interference.MemoryBandwidth: {clock: clock, speed: 7}, interference.FloatingPoint: {clock: clock}}
	request := profiler.Request{NodeID: "n", Seconds: 8, Sources: []interference.Source{interference.Integer, interference.LLCCapacity, interference.MemoryBandwidth, interference.FloatingPoint}}
	got, err := profiler.MeasureSpeeds(t.Context(), request, kernels, clock)
	if err != nil || got.Check() != nil || got.NodeID != "n" {
		t.Fatalf("%+v, %v, %v", got, err, got.Check())
	}
	for i, want := range []struct {
		speed float64
		why   string
	}{{5, ""}, {0, "there is none here"}, {7, ""}, {0, "did nothing"}} {
		if k := got.Kernels[i]; k.OpsPerSec != want.speed || (k.Unknown == "") != (want.why == "") || !strings.Contains(k.Unknown, want.why) {
			t.Errorf("%+v, want %+v", k, want)
		}
	}
	for s, k := range kernels {
		if !k.closed || k.level != 100 {
			t.Errorf("%s: closed %v, at %g %%", s, k.closed, k.level)
		}
	}
	if took := clock.now.Sub(got.Taken); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
}

// What was measured counts, and nothing is measured next to a kernel that does not end.
func TestAKernelThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	clock := &turns{now: time.Unix(1000, 0)}
	kernels := shelf{interference.Integer: {clock: clock, speed: 5, stuck: errors.New("it does not end")}, interference.MemoryBandwidth: {clock: clock, speed: 7}}
	request := profiler.Request{NodeID: "n", Seconds: 8, Sources: []interference.Source{interference.Integer, interference.MemoryBandwidth}}
	got, err := profiler.MeasureSpeeds(t.Context(), request, kernels, clock)
	if err != nil || got.Kernels[0].OpsPerSec != 5 || got.Kernels[0].Unknown != "" || got.Kernels[1].OpsPerSec != 0 || got.Kernels[1].Unknown != "it does not end" {
		t.Errorf("%+v, %v", got, err)
	}
	if kernels[interference.MemoryBandwidth].windows != 0 {
		t.Error("another was measured next to it")
	}
}

func TestSpeedsAreCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	clock := &turns{now: time.Unix(1000, 0)}
	kernel := &steady{clock: clock, speed: 1}
	cancel()
	got, err := profiler.MeasureSpeeds(ctx, profiler.Request{Seconds: 1, Sources: []interference.Source{interference.Integer}}, shelf{interference.Integer: kernel}, clock)
	if !errors.Is(err, context.Canceled) || len(got.Kernels) != 0 || !kernel.closed {
		t.Errorf("%+v, %v, closed %v", got, err, kernel.closed)
	}
}

func TestSpeedsThatNobodyMeasured(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]profiler.Speeds{
		"another format": {Format: 1},
		"no source":      {Format: profiler.RequestFormat, Kernels: []profiler.KernelSpeed{{Source: "gpu", OpsPerSec: 1}}},
		"infinite":       {Format: profiler.RequestFormat, Kernels: []profiler.KernelSpeed{{Source: interference.Integer, OpsPerSec: math.Inf(1)}}},
		"negative":       {Format: profiler.RequestFormat, Kernels: []profiler.KernelSpeed{{Source: interference.Integer, OpsPerSec: -1}}},
	} {
		if s.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
