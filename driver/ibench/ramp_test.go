package ibench

import (
	"errors"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// A ramp comes through every level once, works at all but the lowest, and
// gives the level before it back.
func TestRampClimbs(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.Integer)
	spec.IntensityPercent = 30
	p := start(t, spec)
	levels, err := p.Ramp(t.Context(), time.Second) // long enough to get a CPU at some level
	if err != nil {
		t.Fatal(err)
	}
	if len(levels) != rampLevels {
		t.Fatalf("%d levels", len(levels))
	}
	worked := 0
	for i, l := range levels {
		if l.IntensityPercent != float64(i) || !(l.WallNanoseconds > 0) || l.Ops < 0 || l.BusyNanoseconds < 0 {
			t.Errorf("level %d: %+v", i, l)
		}
		if l.Ops > 0 {
			worked++
		}
		if percent, ok := l.AchievedPercent(); ok != (i > 0) || percent > l.IntensityPercent {
			t.Errorf("level %d: achieved %v, %v", i, percent, ok)
		}
	}
	if worked == 0 || levels[0].Ops != 0 {
		t.Errorf("worked at %d levels, %v operations at level 0", worked, levels[0].Ops)
	}
	eventually(t, "the level before the ramp", func() bool {
		a, b := statsOver(t, p, 50*time.Millisecond)
		return b.IntensityPct == 30 && b.Ops > a.Ops
	})
}

func TestRampOnOneThread(t *testing.T) {
	t.Parallel()
	worker := &stub{}
	r, err := startRig(t.Context(), &Load{Threads: 1, Worker: func(int) (Worker, error) { return worker, nil }}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	r.setPeak(1000)
	same := func(x float64) float64 { return x }
	levels, err := r.climb(t.Context(), 101*time.Millisecond, same)
	if err != nil {
		t.Fatal(err)
	}
	if levels[50].DemandOps != 0.5 || levels[0].DemandOps != 0 || time.Duration(levels[50].WallNanoseconds) != time.Millisecond {
		t.Errorf("half of 1000/s for a millisecond: %+v", levels[50])
	}
	for _, total := range []time.Duration{0, rampMin - 1, rampMax + 1} {
		if _, err := r.climb(t.Context(), total, same); err == nil {
			t.Errorf("a ramp of %v", total)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestRampOfAFailingWorker(t *testing.T) {
	t.Parallel()
	r, err := startRig(t.Context(), &Load{Threads: 1, Worker: func(int) (Worker, error) { return &stub{fails: true}, nil }}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	// It fails as soon as it works. In a short ramp it may not get a CPU at any level.
	if _, err := r.climb(t.Context(), rampMax, func(x float64) float64 { return x }); err == nil {
		t.Error("it climbed")
	}
	if err := r.end(); err == nil || errors.Is(err, errStopped) {
		t.Errorf("ended with %v", err)
	}
}

// An idle thread's wall time goes by without it.
func TestMeterRests(t *testing.T) {
	t.Parallel()
	var m meter
	m.add(totals{ops: 1, wall: time.Second})
	m.rest(time.Second)
	if got := m.read(5 * time.Second); got.wall != 5*time.Second || got.ops != 1 {
		t.Errorf("while resting: %+v", got)
	}
	m.add(totals{wall: 5 * time.Second})
	if got := m.read(time.Hour); got.wall != 6*time.Second {
		t.Errorf("after the rest: %+v", got)
	}
}
