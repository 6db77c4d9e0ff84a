package placement

import (
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

type stillClock struct{}

func (stillClock) Now() time.Time                       { return time.Unix(1_700_000_000, 0) }
func (stillClock) After(time.Duration) <-chan time.Time { return nil }

// together is an engine and jobs of one source that were sent together, on two nodes.
func together(t *testing.T, jobs map[string]struct {
	target            performance.Target
	tolerated, caused float64
}, order ...string) (*Placer, *cluster.Snapshot, []*placement) {
	t.Helper()
	columns := []interference.Source{interference.Integer}
	_, estimator := profiling.New(profiling.Config{Columns: columns})
	e := New(Config{Policy: "paragon", Clock: stillClock{}, Estimator: estimator})
	s := clustertest.Snapshot(clustertest.Node("n1", "one"), clustertest.Node("n2", "one"))
	var out []*placement
	for _, name := range order {
		j := jobs[name]
		w := clustertest.Workload(name, func(w *cluster.Workload) { w.Spec.Target = j.target })
		k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{j.tolerated}, []float64{j.caused}), map[string]float64{"one": 100})
		p := &placement{
			ctx: t.Context(), job: cluster.Job{ID: w.ID.JobID(), RunPool: clustertest.Pool, Workloads: []cluster.Workload{*w}},
			known: []profiling.Known{{Workload: *w, Knowledge: *k}},
		}
		if p.decisions, p.undo, p.err = e.decideOn(s, p.job, p.known); p.err != nil {
			t.Fatal(p.err)
		}
		out = append(out, p)
	}
	return e, s, out
}

func nodeOf(p *placement) cluster.NodeID { return p.decisions[0].Candidates[0].Node }

// Two services that nearly tolerate each other take a node each, and the one that fills a
// CPU finds only nodes with a service on it. Decided on again, the services share.
func TestWhoWasDecidedOnFirstIsDecidedOnAgain(t *testing.T) {
	t.Parallel()
	tail := performance.Target{Kind: performance.QPS, QPS: 99, Latency: &performance.Latency{Percentile: 95}}
	e, s, placed := together(t, map[string]struct {
		target            performance.Target
		tolerated, caused float64
	}{
		"cache": {tail, 25, 17}, "web": {tail, 20, 26}, "encode": {rate(20), 10, 95},
	}, "cache", "web", "encode")
	cache, web, encode := placed[0], placed[1], placed[2]
	if nodeOf(cache) == nodeOf(web) {
		t.Fatalf("both services are on %s before it is known who else comes", nodeOf(web))
	}
	e.decideAgainOnAll(s, placed)
	if nodeOf(cache) != nodeOf(web) || nodeOf(encode) == nodeOf(web) {
		t.Errorf("cache is on %s, web on %s, encode on %s; want the services together and encode elsewhere", nodeOf(cache), nodeOf(web), nodeOf(encode))
	}
	for _, p := range placed {
		var shares []string
		for _, other := range placed {
			if other != p && nodeOf(other) == nodeOf(p) {
				shares = append(shares, other.known[0].Workload.ID.String())
			}
		}
		if said := p.decisions[0].Candidates[0].Neighbours; !slices.Equal(said, shares) {
			t.Errorf("the decision on %s names the co-runners %v, want %v", p.job.ID, said, shares)
		}
	}
	for _, p := range placed {
		p.undo()
	}
	for node, list := range s.Reserved {
		if len(list) > 0 {
			t.Errorf("%s is still promised to %v", node, list)
		}
	}
	if len(s.Known) > 0 {
		t.Errorf("scores of %d workloads are left", len(s.Known))
	}
}

// Without a QoS violation nothing is decided again.
func TestArrangementsWithoutViolationsStay(t *testing.T) {
	t.Parallel()
	e, s, placed := together(t, map[string]struct {
		target            performance.Target
		tolerated, caused float64
	}{
		"one": {rate(90), 50, 20}, "other": {rate(90), 50, 20},
	}, "one", "other")
	before := []*cluster.Decision{&placed[0].decisions[0], &placed[1].decisions[0]}
	e.decideAgainOnAll(s, placed)
	for i, p := range placed {
		if &p.decisions[0] != before[i] {
			t.Errorf("%s was decided on again", p.job.ID)
		}
	}
}
