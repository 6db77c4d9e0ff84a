package performance_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func TestMet(t *testing.T) {
	t.Parallel()
	service := performance.Target{Kind: performance.QPS, QPS: 1000, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}
	rate := performance.Target{Kind: performance.Rate, Rate: 50}
	batch := performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	for _, x := range []struct {
		name   string
		target performance.Target
		value  float64
		tail   time.Duration
		want   bool
	}{
		{"at its target", service, 1000, 5 * time.Millisecond, true},
		{"edges of the window", service, 981, time.Millisecond, true},
		{"96 %", service, 960, time.Millisecond, false},
		{"tail above the bound by a little", service, 1000, 5*time.Millisecond + 1, false},
		{"tail not known", service, 1000, 0, false},
		{"rate, 96 %", rate, 48, 0, false},
		{"rate, 98 %", rate, 49, 0, true},
		{"in time", batch, 60, 0, true},
		{"late by a little", batch, 60.1, 0, false},
		{"finish time not known", batch, 0, 0, false},
		{"best effort", performance.Target{Kind: performance.BestEffort}, 10, 0, false},
	} {
		if got := x.target.Met(x.value, x.tail); got != x.want {
			t.Errorf("%s: met %v, want %v", x.name, got, x.want)
		}
	}
}

func TestRequiredFraction(t *testing.T) {
	t.Parallel()
	spec := performance.Spec{Target: performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Second}}
	if got := spec.RequiredFraction(1, 100); got != nil {
		t.Errorf("without the amount of work: %v, want unknown", *got)
	}
	spec.Probe = &performance.ProbeSpec{Work: 500}
	for count, want := range map[int]float64{1: 0.5, 2: 0.25} {
		if got := spec.RequiredFraction(count, 100); got == nil || *got != want {
			t.Errorf("%d allocations: %v, want %v", count, got, want)
		}
	}
	if got := spec.RequiredFraction(1, 10); got == nil || *got != 1 {
		t.Errorf("too slow: %v, want all", got)
	}
	if got := spec.RequiredFraction(1, 0); got != nil {
		t.Errorf("speed not known: %v, want unknown", *got)
	}
	best := performance.Spec{Target: performance.Target{Kind: performance.BestEffort}}
	if got := best.RequiredFraction(1, 0); got == nil || *got != 0 {
		t.Errorf("best effort: %v, want 0", got)
	}
}
