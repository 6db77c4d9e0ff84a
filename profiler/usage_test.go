package profiler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// counting is a workload whose CPU time can be read at any moment.
type counting struct {
	*machine
	err error
}

func (c counting) Usage() (time.Duration, error) {
	return time.Duration(c.used * float64(time.Second)), c.err
}

// A kernel on the workload's own CPU takes half of its time, which varies from window to
// window, and costs it a tenth of what it does with the other half: the profile has both
// numbers, and the second one is the surer.
func TestContentionApartFromTimeSharing(t *testing.T) {
	t.Parallel()
	contention := func(x float64) float64 { return 1 - x/1000 }
	held, points := 0, 0
	for seed := range uint64(10) {
		m := newMachine(seed)
		m.noise, m.workload = 0.005, contention
		m.cpus = func(x float64) float64 { return 1 - x/200 }
		r := request(interference.Integer)
		r.Method, r.Seed = profiler.MethodSweep, seed
		p, err := profiler.Measure(t.Context(), r, counting{machine: m}, m, options(m))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		for _, at := range p.Ramp {
			want := contention(at.IntensityPercent)
			points++
			if *at.PerCPULow <= want && want <= *at.PerCPUHigh {
				held++
			}
			if *at.PerCPUHigh-*at.PerCPULow >= *at.WorkloadHigh-*at.WorkloadLow {
				t.Errorf("seed %d, at %v %%: the interval of contention is wider than that of the speed", seed, at.IntensityPercent)
			}
		}
	}
	if share := float64(held) / float64(points); points < 50 || share < 0.88 {
		t.Errorf("%.2f of %d intervals hold the contention", share, points)
	}
}

// Where the CPU time cannot be read, all else is as before, and it is unknown.
func TestCPUTimeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	m := newMachine(3)
	p, err := profiler.Measure(t.Context(), request(interference.Integer), counting{m, errors.New("gone")}, m, options(m))
	if err != nil || len(p.Ramp) == 0 {
		t.Fatal(err)
	}
	for _, point := range p.Ramp {
		if point.PerCPURatio != nil {
			t.Errorf("%+v", point)
		}
	}
}
