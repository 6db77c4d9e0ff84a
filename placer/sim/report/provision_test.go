package report_test

import (
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

// provided is a run of two hours: a batch job that took twice as long as in isolation on owned
// nodes, a service whose tail was four times as long on a rented node that was there for an hour,
// and a job that never ended.
func provided() *sim.Result {
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	return &sim.Result{
		Records: []sim.Record{
			{Outcome: sim.Done, Started: 0, Ended: hours(1), Ideal: hours(0.5), Cores: 2},
			{Number: 1, Outcome: sim.Done, Shape: sim.Service, Started: hours(1), Arrived: hours(1), Ended: hours(2), Ideal: hours(1), Tail: 4, Cores: 4, Rented: true},
			{Number: 2, Outcome: sim.Unfinished, Started: sim.Never, Ended: sim.Never, Ideal: hours(1)},
		},
		Samples: []sim.Sample{{At: hours(0.5), OwnedUsed: 6, OwnedAllocated: 8}}, Heat: [][]float32{{0.05, 0.7}}, Cores: 16, End: hours(2),
		Provision: &sim.Provision{
			OwnedCores: 16, Prices: provision.DefaultPrices(), Discounts: []provision.Discount{{Beyond: 0.25, Price: 0.5}},
			Rented: []fleet.Rented{{Type: "small", Cores: 4, Asked: hours(1), Ready: hours(1), Returned: fleet.Never}},
			Sides: admission.SideReport{Base: 1, Rented: 1, Queued: 3, Released: 4, ReleasedAtOnce: 1, Waits: []admission.WaitSample{
				{Class: "small", Estimated: 10 * time.Second, Waited: 9 * time.Second}, {Class: "small", Estimated: 10 * time.Second, Waited: 14 * time.Second},
				{Class: "large", Estimated: 10 * time.Second, Waited: 8 * time.Second},
			}},
		},
	}
}

func TestProvisionMetrics(t *testing.T) {
	t.Parallel()
	l := report.Summarise("p", 0, []*sim.Result{provided()})
	for name, want := range map[string]float64{
		"relative": (50 + 25 + 0) / 3.0, "relative_batch": 25, "relative_services": 25, "relative_base": 50, "relative_rented": 25, "tail_factor": 4,
		"base_share": 100 / 3.0, "queued_share": 100, "owned_cores": 16, "rented_cores": 2, "rented_nodes": 1, "rented_nodes_mean": 0.5, "rented_cores_sustained": 2 * (0.25 + 0.25*0.5) / 0.5,
		"cost_per_hour": 16/provision.PublishedRatio + 2, "load_cores": (2 + 4) / 2.0, "base_used": 100 * 6 / 16.0, "base_allocated": 50, "base_nearly_idle": 50, "released_at_once": 25,
		"estimate_error": 2, "estimate_coverage": 200 / 3.0, "estimates": 3, "estimate_error:small": 2.5, "estimate_coverage:large": 100,
	} {
		f, ok := l.Figure(name)
		if !ok || math.Abs(f.Mean-want) > 1e-9 {
			t.Errorf("%s is %v, %v, want %v", name, f.Mean, ok, want)
		}
	}
	other := report.Summarise("p", 0, []*sim.Result{runOf()})
	if _, ok := other.Figure("cost_per_hour"); ok {
		t.Error("a run without a provider has a cost")
	}
}
