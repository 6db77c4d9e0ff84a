package policy_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// A job that needs a fifth of its speed on the fast node and all of it on the slow one
// tolerates a heavy co-runner here and not there, and its decision says what it tolerates
// where it was placed.
func TestToleranceFollowsFromTheNode(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer}
	speeds := map[string]float64{"fast": 100, "slow": 21}
	knowledge := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{10}, []float64{90}), speeds)
	for _, c := range []struct {
		name             string
		target           performance.Target
		node             string // that there is
		needs, tolerance float64
	}{
		{"fast", performance.Target{Kind: performance.Rate, Rate: 20}, "fast", 0.2, 100},
		{"slow", performance.Target{Kind: performance.Rate, Rate: 20}, "slow", 20.0 / 21, 10},
		{"more than it can", performance.Target{Kind: performance.Rate, Rate: 50}, "slow", 1, 10},
		{"best effort", performance.Target{Kind: performance.BestEffort}, "slow", 0, 100},
	} {
		for _, name := range []string{"paragon", "quasar", "nh"} {
			d, err := policy.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			w := clustertest.Workload("job", func(w *cluster.Workload) { w.Spec.Target = c.target })
			got, err := d.New().Place(policy.Request{
				Workload: w, RunPool: clustertest.Pool, Knowledge: knowledge, Columns: columns,
				Snapshot: clustertest.Snapshot(clustertest.Node("n1", c.node)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.RequiredFraction == nil || math.Abs(*got.RequiredFraction-c.needs) > 1e-9 {
				t.Errorf("%s by %s: needs %v, want %g", c.name, name, got.RequiredFraction, c.needs)
			}
			bounds := got.Bounds()
			if tolerance, _ := bounds.Tolerated[interference.Integer].Score.Percent(); got.ToleranceAtTarget != nil && tolerance != c.tolerance || got.ToleranceAtTarget == nil && c.tolerance != 10 {
				t.Errorf("%s by %s: stands %v, want %g", c.name, name, got.ToleranceAtTarget, c.tolerance)
			}
		}
	}
}

// With a heavy co-runner on either node, the job goes to the fast one: there it has
// enough.
func TestAJobGoesWhereItToleratesItsCoRunners(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer}
	knowledge := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{10}, []float64{90}), map[string]float64{"fast": 100, "slow": 21})
	s := clustertest.Snapshot(clustertest.Node("fast", "fast"), clustertest.Node("slow", "slow"))
	for _, node := range []string{"fast", "slow"} {
		heavy := clustertest.Workload("heavy-" + node)
		clustertest.Run(s, heavy, node)
		s.Known[heavy.ID] = clustertest.Sensitivity(columns, []float64{100}, []float64{90})
	}
	for _, name := range []string{"paragon", "quasar", "nh"} {
		d, err := policy.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.New().Place(policy.Request{
			Workload: clustertest.Workload("job", clustertest.Rate(20)), RunPool: clustertest.Pool, Knowledge: knowledge, Columns: columns, Snapshot: s,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Candidates) == 0 || got.Candidates[0].Node != "fast" || len(got.Relaxed) > 0 {
			t.Errorf("%s: %+v, relaxed %v; want the fast node, nothing relaxed", name, got.Candidates, got.Relaxed)
		}
	}
}
