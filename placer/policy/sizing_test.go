package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// sizeRequest is a group of one core whose speed is 100 units/s on a big node's
// core, 50 on a small one's, and 0.9 of that on each further core.
func sizeRequest(target float64, scale performance.ScaleSpec, nodes ...*cluster.Node) policy.Request {
	columns := clustertest.Columns(2)
	w := clustertest.Workload("sized", clustertest.Ask(cluster.Resources{Cores: 1, MemoryMB: 256}), clustertest.Rate(target))
	w.Spec.Scale = scale
	w.Sizable = cluster.Sizable{Task: "main", Own: w.Ask}
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{60, 60}, []float64{30, 30}), map[string]float64{"big": 100, "small": 50})
	k.ReferenceCores = 1
	for _, n := range []int{1, 2, 4} {
		speed := 1 + 0.9*float64(n-1)
		k.ScaleUp = append(k.ScaleUp, cluster.ScaleSpeed{Cores: n, Relative: speed, Low: speed, High: speed, Origin: interference.Measured})
	}
	return policy.Request{
		Workload: w, JobType: "service", RunPool: clustertest.Pool, Columns: columns, Seed: 1, MaySize: true,
		Snapshot: clustertest.Snapshot(nodes...), Knowledge: k,
	}
}

func cores(n ...int) performance.ScaleSpec { return performance.ScaleSpec{Cores: n} }

func TestSizesLeastResourcesFirst(t *testing.T) {
	t.Parallel()
	four := func() []*cluster.Node {
		return []*cluster.Node{clustertest.Node("b1", "big"), clustertest.Node("b2", "big"), clustertest.Node("s1", "small"), clustertest.Node("s2", "small")}
	}
	for name, c := range map[string]struct {
		target       float64
		scale        performance.ScaleSpec
		count, cores int
		tried        int
	}{
		"the smallest reaches":              {90, cores(1, 2, 4), 1, 1, 1},
		"up before out at equal resources":  {180, performance.ScaleSpec{Cores: []int{1, 2}, Count: []int{1, 2}}, 1, 2, 2},
		"out where up gains less":           {195, performance.ScaleSpec{Cores: []int{1, 2}, Count: []int{1, 2}}, 2, 1, 3},
		"the list need not be sorted":       {150, cores(4, 1, 2), 1, 2, 2},
		"between two measured sizes":        {250, cores(1, 3), 1, 3, 2},
		"beyond the last nothing is known":  {1000, cores(1, 2, 4, 8), 1, 4, 3},
		"counts alone, size as written":     {250, performance.ScaleSpec{Count: []int{1, 2, 3, 4}}, 3, 1, 3},
		"every size is tried where none is": {5000, performance.ScaleSpec{Cores: []int{1, 2, 4}, Count: []int{1, 2}}, 2, 4, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.Place(t, descriptor(t, "quasar"), sizeRequest(c.target, c.scale, four()...))
			s := d.Sizing
			if d.Outcome != cluster.Placed || s == nil || d.Count != c.count || s.Own.Cores != c.cores || len(s.Tried) != c.tried {
				t.Fatalf("%s %d × %+v, warnings %q", d.Outcome, d.Count, s, d.Warnings)
			}
			if d.Resources.Cores != c.cores || d.Resources.MemoryMB != 256 || s.CountWas != 1 || s.OwnWas.Cores != 1 {
				t.Errorf("resources %+v, sizing %+v", d.Resources, s)
			}
			reaches := d.Predicted.RatePerSec >= c.target
			if s.Reaches != reaches || reaches == strings.Contains(s.Why, "best possible") {
				t.Errorf("predicted %v of %v: reaches %v, %q", d.Predicted.RatePerSec, c.target, s.Reaches, s.Why)
			}
			for i, tried := range s.Tried[:len(s.Tried)-1] {
				if tried.Reaches && c.target < 5000 {
					t.Errorf("choice %d reached and was not taken: %+v", i, tried)
				}
			}
		})
	}
}

// Every candidate has room for the chosen size.
func TestSizedCandidatesHaveRoom(t *testing.T) {
	t.Parallel()
	narrow := clustertest.Node("a1", "big", clustertest.Total(cluster.Resources{CPUMHz: 2500, Cores: 1, MemoryMB: 8192, DiskMB: 51200}))
	d := policytest.Place(t, descriptor(t, "quasar"), sizeRequest(150, cores(1, 2), narrow, clustertest.Node("b1", "big")))
	if d.Resources.Cores != 2 || len(d.Candidates) != 1 || d.Candidates[0].Node != "b1" {
		t.Errorf("%+v on %+v", d.Resources, d.Candidates)
	}
}

// Under control groups v1 a node's last core is not given away.
func TestSizesLeaveTheLastCore(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"1": 2, "2": 4} {
		r := sizeRequest(1e6, cores(1, 2, 4), clustertest.Node("b1", "big", clustertest.Attribute("os.cgroups.version", version)))
		if d := policytest.Place(t, descriptor(t, "quasar"), r); d.Resources.Cores != want {
			t.Errorf("control groups v%s: %d of 4 cores, want %d", version, d.Resources.Cores, want)
		}
	}
}

// A size that would reach its target only by breaking a resident's bound is passed
// over for one that need not.
func TestSizesWithoutViolationFirst(t *testing.T) {
	t.Parallel()
	big, small := clustertest.Node("b1", "big"), clustertest.Node("s1", "small")
	r := sizeRequest(90, cores(1, 2), big, small)
	coRunner := clustertest.Workload("neighbour", clustertest.Ask(cluster.Resources{Cores: 1, MemoryMB: 256}))
	clustertest.Run(r.Snapshot, coRunner, "b1")
	r.Snapshot.Known[coRunner.ID] = clustertest.Sensitivity(r.Columns, []float64{10, 10}, []float64{0, 0})
	d := policytest.Place(t, descriptor(t, "quasar"), r)
	if d.Candidates[0].Node != "s1" || d.Resources.Cores != 2 {
		t.Errorf("%d cores on %+v; %+v", d.Resources.Cores, d.Candidates[0], d.Sizing)
	}
}

// A bound that is predicted to break, where no choice spares it, is no reason to miss
// the target.
func TestSizesReachTheTargetBeforeBounds(t *testing.T) {
	t.Parallel()
	r := sizeRequest(150, performance.ScaleSpec{Count: []int{1, 2}}, clustertest.Node("b1", "big"), clustertest.Node("b2", "big"))
	coRunner := clustertest.Workload("neighbour", clustertest.Ask(cluster.Resources{Cores: 1, MemoryMB: 256}))
	clustertest.Run(r.Snapshot, coRunner, "b1")
	r.Snapshot.Known[coRunner.ID] = clustertest.Sensitivity(r.Columns, []float64{10, 10}, []float64{0, 0})
	d := policytest.Place(t, descriptor(t, "quasar"), r)
	if d.Count != 2 || !d.Sizing.Reaches || !warned(d, "is predicted to break some QoS bound") {
		t.Errorf("%d allocations, warnings %q; %+v", d.Count, d.Warnings, d.Sizing)
	}
}

func TestSizesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*policy.Request)
		why    string // "": no sizing at all
	}{
		"the group runs already": {func(r *policy.Request) { r.MaySize = false }, ""},
		"no scale block":         {func(r *policy.Request) { r.Workload.Spec.Scale = performance.ScaleSpec{} }, "no scale block"},
		"nothing is known":       {func(r *policy.Request) { r.Knowledge.ScaleUp = nil }, "unknown"},
		"no number to reach": {func(r *policy.Request) {
			r.Workload.Spec.Target = performance.Target{Kind: performance.FinishWithin, FinishWithin: time.Minute}
		}, "not a rate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sizeRequest(150, cores(1, 2), clustertest.Node("b1", "big"))
			c.change(&r)
			d := policytest.Place(t, descriptor(t, "quasar"), r)
			if d.Count != 1 || d.Resources != r.Workload.Ask || d.Sizing.Changes(d.Count) {
				t.Errorf("%d × %+v", d.Count, d.Resources)
			}
			if (d.Sizing == nil) != (c.why == "") || c.why != "" && !strings.Contains(d.Sizing.Why, c.why) {
				t.Errorf("%+v", d.Sizing)
			}
		})
	}
}

// Sizes that the placer may not choose stay, and the reason is given.
func TestSizesThatAreNotOurs(t *testing.T) {
	t.Parallel()
	r := sizeRequest(1000, performance.ScaleSpec{Cores: []int{1, 2}, Count: []int{1, 2}}, clustertest.Node("b1", "big"), clustertest.Node("b2", "big"))
	r.Workload.Sizable.CountFixed, r.Workload.Sizable.SizeFixed = "an autoscaler has it", "another one has that"
	d := policytest.Place(t, descriptor(t, "quasar"), r)
	if d.Count != 1 || d.Resources.Cores != 1 || !warned(d, "an autoscaler has it") || !warned(d, "another one has that") {
		t.Errorf("%d × %+v, %q", d.Count, d.Resources, d.Warnings)
	}
	r.Workload.Sizable = cluster.Sizable{Task: "main", Own: r.Workload.Ask, CountMin: 2, CountMax: 5}
	if d := policytest.Place(t, descriptor(t, "quasar"), r); d.Count != 2 {
		t.Errorf("count %d within the bounds 2 to 5", d.Count)
	}
}

// Best-effort work fills what violates no bound, in the smallest size.
func TestBestEffortFillsTheRest(t *testing.T) {
	t.Parallel()
	r := sizeRequest(1, performance.ScaleSpec{Cores: []int{1, 2}, Count: []int{1, 2, 4}, MemoryMB: []int{128, 512}}, clustertest.Node("b1", "big"), clustertest.Node("s1", "small"))
	r.Workload.Spec.Target = performance.Target{Kind: performance.BestEffort}
	r.Knowledge.MemoryPeakMB = 200
	d := policytest.Place(t, descriptor(t, "quasar"), r)
	// Two on one node cause 30 each and tolerate 60; a third would cause 60 to the
	// first two, which is still tolerated: four fit on two nodes.
	if d.Count != 4 || d.Resources.Cores != 1 || d.Resources.MemoryMB != 512 {
		t.Errorf("%d × %+v; %+v", d.Count, d.Resources, d.Sizing)
	}
	sensitive := clustertest.Workload("sensitive", clustertest.Ask(cluster.Resources{Cores: 1, MemoryMB: 256}))
	clustertest.Run(r.Snapshot, sensitive, "b1")
	r.Snapshot.Known[sensitive.ID] = clustertest.Sensitivity(r.Columns, []float64{10, 10}, []float64{0, 0})
	if d := policytest.Place(t, descriptor(t, "quasar"), r); d.Count != 1 || d.Candidates[0].Node != "s1" {
		t.Errorf("beside a sensitive one: %d on %+v", d.Count, d.Candidates[0])
	}
}

// An ask in MHz gets the MHz of whole cores.
func TestSizesInMHz(t *testing.T) {
	t.Parallel()
	r := sizeRequest(150, cores(1, 2), clustertest.Node("b1", "big"))
	r.Workload.Ask = cluster.Resources{CPUMHz: 300, MemoryMB: 256, DiskMB: 100}
	r.Workload.Sizable = cluster.Sizable{Task: "main", Own: cluster.Resources{CPUMHz: 200, MemoryMB: 156}, Others: cluster.Resources{CPUMHz: 100, MemoryMB: 100, DiskMB: 100}}
	d := policytest.Place(t, descriptor(t, "quasar"), r)
	if want := (cluster.Resources{CPUMHz: 5100, MemoryMB: 256, DiskMB: 100}); d.Resources != want || d.Sizing.Own.CPUMHz != 5000 {
		t.Errorf("%+v, want %+v; %+v", d.Resources, want, d.Sizing)
	}
}
