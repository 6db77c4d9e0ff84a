package wording_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func observed(allocation string, second int, rate float64) cluster.Observation {
	return cluster.Observation{Allocation: allocation, At: began.Add(time.Duration(second) * time.Second), Window: 10 * time.Second,
		Measure: performance.Measure{RatePerSec: rate, Goodput: rate}}
}

func TestWindowsSumTheirAllocations(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.Rate, Rate: 100}
	gap := observed("a", 30, 0)
	gap.Unavailable = "the probe did not answer"
	h := wording.Over(target, []cluster.Observation{
		observed("b", 11, 40), observed("a", 0, 60), observed("b", 1, 50), observed("a", 10, 40), gap, observed("a", 50, 99),
	})
	if len(h.Windows) != 4 || h.Windows[0].Value != 110 || h.Windows[1].Value != 80 || h.Windows[2].Measured.Known {
		t.Fatalf("windows %+v", h.Windows)
	}
	if h.Met != 2 || h.Judged != 3 {
		t.Errorf("%d of %d windows met the target, want 2 of 3: 99 is within the bound of 5 %%", h.Met, h.Judged)
	}
	if low, high, n := h.Spread(); low != 80 || high != 110 || n != 3 {
		t.Errorf("spread %v to %v over %d windows", low, high, n)
	}
}

func TestNothingJudgedIsUnknown(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]wording.History{
		"nothing measured": wording.Over(performance.Target{Kind: performance.Rate, Rate: 1}, nil),
		"no target":        wording.Over(performance.Target{Kind: performance.BestEffort}, []cluster.Observation{observed("a", 0, 5)}),
	} {
		if _, ok := h.MetShare(); ok {
			t.Errorf("%s: a share of the time is known", name)
		}
	}
}

func TestRunsAreJudgedByTheirTime(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	run := func(name string, second int, took time.Duration) cluster.Observation {
		o := observed(name, second, 0)
		o.FinishedIn = took
		return o
	}
	h := wording.Over(target, []cluster.Observation{run("a", 0, 50*time.Second), run("b", 100, 70*time.Second), observed("c", 200, 3)})
	if share, ok := h.MetShare(); !ok || share != 0.5 {
		t.Errorf("share %v, %v; want one of two runs, and nothing said of the one under way", share, ok)
	}
}
