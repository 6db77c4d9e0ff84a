package policy_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func warned(d cluster.Decision, text string) bool {
	return strings.Contains(strings.Join(d.Warnings, "\n"), text)
}

// A configuration that reaches the target is enough: the tight slow node wins
// over the fast empty one.
func TestTargetNeedsNotTheBest(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{50}, []float64{50}, clustertest.Rate(90)).
		node("n1", "big", nil, nil).
		node("n2", "small", []float64{50}, []float64{10}).place(t)
	best(t, d, "n2")
	if p := d.Predicted; !p.Known || p.RatePerSec < 90 || p.RatePerSec > 100 || p.Unit != "units/s" {
		t.Errorf("predicted %+v", p)
	}
	if len(d.Warnings) != 0 {
		t.Errorf("warnings %q", d.Warnings)
	}
}

func TestTargetRulesOutSlowNodes(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{50}, []float64{50}, clustertest.Rate(150)).
		node("n1", "big", nil, nil).
		node("n2", "small", []float64{50}, []float64{10}).place(t)
	best(t, d, "n1")
	if r := rejection(t, d, "n2"); r.Reason != cluster.RejectSlower || !strings.Contains(r.Detail, "needs 150") {
		t.Errorf("%+v", r)
	}
}

// Co-runners slow it down: 200 in isolation, but 190 under a pressure that it only just
// tolerates.
func TestTargetUnderPressure(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{50}, []float64{0}, clustertest.Rate(195)).
		node("n1", "big", []float64{100}, []float64{50}).
		node("n2", "big", []float64{100}, []float64{10}).place(t)
	best(t, d, "n2")
}

func TestTargetOutOfReach(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{50}, []float64{50}, clustertest.Rate(900)).
		node("n1", "big", nil, nil).
		node("n2", "small", nil, nil).place(t)
	best(t, d, "n1")
	if !warned(d, "the best prediction is 200") {
		t.Errorf("warnings %q", d.Warnings)
	}
}

func TestTargetOfUnknownSpeed(t *testing.T) {
	t.Parallel()
	s := newScene([]float64{50}, []float64{50}, clustertest.Rate(90)).node("n1", "other", nil, nil)
	d := s.place(t)
	best(t, d, "n1")
	if d.Predicted.Known || !warned(d, "cannot be predicted") || !warned(d, "interference alone") {
		t.Errorf("%+v, %q", d.Predicted, d.Warnings)
	}
}

// A profile in another unit says nothing of this target.
func TestTargetInAnotherUnit(t *testing.T) {
	t.Parallel()
	s := newScene([]float64{50}, []float64{50}).node("n1", "big", nil, nil)
	s.workload.Spec.Target = performance.Target{Kind: performance.QPS, QPS: 50}
	d := s.place(t)
	if d.Predicted.Known || d.Predicted.Unit != "requests/s" || !warned(d, "units/s") {
		t.Errorf("%+v, %q", d.Predicted, d.Warnings)
	}
}

func TestFinishTime(t *testing.T) {
	t.Parallel()
	s := newScene([]float64{50}, []float64{50}).node("n1", "big", nil, nil).node("n2", "small", nil, nil)
	s.workload.Spec.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
	s.workload.Spec.Probe = &performance.ProbeSpec{Work: 9000} // 150 a second
	d := s.place(t)
	best(t, d, "n1")
	if rejection(t, d, "n2").Reason != cluster.RejectSlower {
		t.Error("100 a second finish 9000 within a minute")
	}
	s.workload.Spec.Probe.Work = 0 // unknown: no rate to reach
	if d := s.place(t); warned(d, "target") {
		t.Errorf("%q", d.Warnings)
	}
}

// Allocations of a group go to distinct nodes while acceptable ones are left,
// then they share and interfere with each other.
func TestGroupSpreads(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{60}, []float64{20}, clustertest.Count(2)).
		node("n1", "big", nil, nil).node("n2", "big", nil, nil).node("n3", "big", nil, nil).place(t)
	if d.Candidates[0].Score != 1 || d.Candidates[1].Score != 1 || d.Candidates[2].Score >= 1 {
		t.Errorf("%+v", d.Candidates)
	}
	if math.Abs(d.Predicted.RatePerSec-400) > 1e-9 {
		t.Errorf("predicted %+v", d.Predicted)
	}
}

func TestGroupShares(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{60}, []float64{60}, clustertest.Count(2)).node("n1", "big", nil, nil).place(t)
	// Alone 200 each; each under 60 points of the other, at its bound: 190.
	if math.Abs(d.Predicted.RatePerSec-380) > 1e-9 || !warned(d, "share a node") {
		t.Errorf("%+v, %q", d.Predicted, d.Warnings)
	}
	// Three exert 120 on each other, more than they tolerate: a slower node is better
	// for the third.
	d = newScene([]float64{60}, []float64{60}, clustertest.Count(3)).
		node("n1", "big", nil, nil).node("n2", "small", nil, nil).place(t)
	if len(d.Candidates) != 2 || d.Candidates[1].Score != 1 || math.Abs(d.Predicted.RatePerSec-480) > 1e-9 {
		t.Errorf("%+v, predicted %+v", d.Candidates, d.Predicted)
	}
}

func TestGroupWithTooLittleRoom(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{60}, []float64{0}, clustertest.Count(30)).node("n1", "big", nil, nil).place(t)
	if d.Outcome != cluster.Placed || !warned(d, "room for 10 of 30") {
		t.Errorf("%s, %q", d.Outcome, d.Warnings)
	}
}

func TestDistinctHosts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"": "room for 1 of 2", "true": "room for 1 of 2", "false": "share a node"} {
		d := newScene([]float64{60}, []float64{0}, clustertest.Count(2), clustertest.Constrain("", "distinct_hosts", value)).
			node("n1", "big", nil, nil).place(t)
		if !warned(d, want) {
			t.Errorf("distinct_hosts %q: %q", value, d.Warnings)
		}
	}
}

// More allocations than a shortlist can hold are left to Nomad, not stranded.
func TestGroupTooLargeForAShortlist(t *testing.T) {
	t.Parallel()
	r := policytest.Request(5)
	r.Snapshot = clustertest.Snapshot()
	for i := range 80 {
		r.Snapshot.Nodes = append(r.Snapshot.Nodes, clustertest.Node("n"+string(rune('0'+i/10))+string(rune('0'+i%10)), "big"))
	}
	r.Workload = clustertest.Workload("wide", clustertest.Count(70), clustertest.Ask(cluster.Resources{CPUMHz: 9000}))
	d := policytest.Place(t, descriptor(t, "paragon"), r)
	if d.Outcome != cluster.Stock || !strings.Contains(d.Reason, "no room for 20 of 70") {
		t.Errorf("%s: %s", d.Outcome, d.Reason)
	}
}

// A running group stays: on a looser fit, and on a bound a few points short; but
// not on a node where its bound clearly breaks, and not below its target.
func TestIncumbentStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		resident []float64 // tolerated by the resident of the incumbent's node
		rate     float64
		want     cluster.NodeID
	}{
		{"looser fit", []float64{70}, 0, "n1"},
		{"3 points short", []float64{47}, 0, "n1"},
		{"20 points short", []float64{30}, 0, "n2"},
		{"below its target", []float64{70}, 150, "n2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene([]float64{50}, []float64{50}).
				node("n1", "slow", c.resident, []float64{0}).
				node("n2", "big", []float64{55}, []float64{45})
			s.know.Speed["slow"] = s.know.Speed["small"]
			if c.rate > 0 {
				clustertest.Rate(c.rate)(s.workload)
			} else { // as fast as the other, within the bonus
				v := s.know.Speed["big"]
				v.Value *= 0.95
				s.know.Speed["slow"] = v
			}
			clustertest.Run(s.snapshot, s.workload, "n1")
			d := s.place(t)
			best(t, d, c.want)
		})
	}
}

// Between equal nodes the running group prefers its own, unless the other fits
// tighter by more than the bonus of 20 points.
func TestIncumbentFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		caused float64 // by the resident of the other node: tightens its fit
		want   cluster.NodeID
	}{{0, "n1"}, {15, "n1"}, {25, "n2"}} {
		s := newScene([]float64{50}, []float64{50}).
			node("n1", "big", []float64{100}, []float64{0}).
			node("n2", "big", []float64{100}, []float64{c.caused})
		clustertest.Run(s.snapshot, s.workload, "n1")
		best(t, s.place(t), c.want)
	}
}

// Out of reach of its target, a group moves only for a clearly higher rate.
func TestIncumbentBelowTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		caused float64 // on the group's node: 2.45 points of performance at 35
		want   cluster.NodeID
	}{{35, "n1"}, {95, "n2"}} {
		s := newScene([]float64{50}, []float64{0}, clustertest.Rate(900)).
			node("n1", "big", []float64{100}, []float64{c.caused}).
			node("n2", "big", nil, nil)
		clustertest.Run(s.snapshot, s.workload, "n1")
		best(t, s.place(t), c.want)
	}
}

// The record explains itself in words.
func TestWords(t *testing.T) {
	t.Parallel()
	d := newScene([]float64{50}, []float64{30}, clustertest.Rate(150)).
		node("n1", "big", []float64{45}, []float64{10}).
		node("n2", "big", []float64{10}, []float64{10}).
		node("n3", "small", nil, nil).place(t)
	why := d.Candidates[0].Why
	for _, want := range []string{"memory capacity with 15 points of headroom", "expected", "each allocation needs 150", "co-located with default/on-n1/main"} {
		if !strings.Contains(why, want) {
			t.Errorf("%q lacks %q", why, want)
		}
	}
	if want := "1 of 3 nodes with room qualified"; !strings.Contains(d.Reason, want) {
		t.Errorf("%q lacks %q", d.Reason, want)
	}
	for _, c := range d.Candidates[1:] {
		if !strings.Contains(c.Why, "only in case better nodes fail") {
			t.Errorf("%s: %q", c.Node, c.Why)
		}
	}
}

func TestQueuedSaysWhy(t *testing.T) {
	t.Parallel()
	s := newScene([]float64{50}, []float64{30}).node("n1", "big", nil, nil).node("n2", "big", nil, nil)
	s.workload.Ask.MemoryMB = 9000
	s.snapshot.Nodes[0].Ready = false
	d := s.place(t)
	if d.Outcome != cluster.Queued || d.Reason != "no node has room now: memory exhausted (1 node), not ready (1 node)" {
		t.Errorf("%s: %q", d.Outcome, d.Reason)
	}
	s.workload.Drivers = []string{"docker"}
	if d := s.place(t); !strings.HasPrefix(d.Reason, "no node qualifies") {
		t.Errorf("%q", d.Reason)
	}
}

// Best effort does not start where it would cause a QoS violation, and would have to leave
// again; next to a workload of which nothing is known it does.
func TestBestEffortWaitsForWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	bestEffort := func(w *cluster.Workload) { w.Spec.Target = performance.Target{Kind: performance.BestEffort} }
	for _, name := range []string{"paragon", "quasar", "nh", "tarcil"} {
		for where, c := range map[string]struct {
			tolerated float64
			known     bool
			want      cluster.Outcome
		}{
			"beside a sensitive one": {10, true, cluster.Queued},
			"beside a robust one":    {90, true, cluster.Placed},
			"beside an unknown one":  {10, false, cluster.Placed},
		} {
			s := newScene([]float64{50}, []float64{60}, bestEffort).node("n1", "big", []float64{c.tolerated}, []float64{20})
			if !c.known {
				clear(s.snapshot.Known)
			}
			d := policytest.Place(t, descriptor(t, name), s.request())
			if d.Outcome != c.want || c.want == cluster.Queued && (len(d.Rejected) != 1 || !strings.Contains(d.Reason, "best effort waits")) {
				t.Errorf("%s, %s: %s, %s, rejected %v", name, where, d.Outcome, d.Reason, d.Rejected)
			}
		}
	}
}
