package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// plainRequest is one allocation of work that is known in full, runs nowhere yet
// and has no target.
func plainRequest(seed uint64) policy.Request {
	rng := rand.New(rand.NewPCG(seed, 11))
	columns := clustertest.Columns(1 + rng.IntN(5))
	tolerated, caused := make([]float64, len(columns)), make([]float64, len(columns))
	for k := range columns {
		tolerated[k], caused[k] = 30+70*rng.Float64(), 50*rng.Float64()
	}
	return policy.Request{
		Workload: clustertest.Workload("newcomer"), JobType: "batch", RunPool: clustertest.Pool, Columns: columns, Seed: seed,
		Snapshot:  clustertest.Random(rng, 1+rng.IntN(12), 4, []string{"big", "small", "tiny"}, columns),
		Knowledge: clustertest.Knowledge(clustertest.Sensitivity(columns, tolerated, caused), map[string]float64{"big": 200, "small": 100, "tiny": 50}),
	}
}

// The live policy of Paragon, which weighs more than its selector, and the
// selector with the options of a live cluster choose the same node where there is no more to weigh, relaxations
// included.
func TestLiveParagonIsItsSelector(t *testing.T) {
	t.Parallel()
	d, err := policy.LookupSelector("paragon")
	if err != nil {
		t.Fatal(err)
	}
	relaxed := 0
	for seed := range uint64(300) {
		r := plainRequest(seed)
		got := policytest.Place(t, descriptor(t, "paragon"), r)
		b := board.FromSnapshot(r.Snapshot, r.Columns, r.Workload.ID)
		a := board.Request{
			Size: r.Workload.Ask, Count: 1,
			Tolerated: r.Knowledge.Sensitivity.Tolerated.Vector(r.Columns), Caused: r.Knowledge.Sensitivity.Caused.Vector(r.Columns),
		}
		for _, c := range b.Configurations {
			a.Speed = append(a.Speed, r.Knowledge.Speed[c].Value)
		}
		c := d.New(b, policy.Live()).Select(b, &a, nil)
		if (got.Outcome == cluster.Placed) != (len(c.Replicas) == 1) {
			t.Fatalf("seed %d: %s, the selector %+v", seed, got.Outcome, c)
		}
		if len(c.Replicas) == 0 {
			continue
		}
		if id := b.Node(c.Replicas[0].Node).ID; got.Candidates[0].Node != id {
			t.Fatalf("seed %d: live %s, selector %s", seed, got.Candidates[0].Node, id)
		}
		if len(got.Relaxed) != len(c.Relaxed) {
			t.Fatalf("seed %d: live relaxed %v, selector %v", seed, got.Relaxed, c.Relaxed)
		}
		relaxed += len(c.Relaxed)
	}
	if relaxed == 0 {
		t.Error("no scene needed a relaxation: the test says less than it means to")
	}
}

// A policy made from a selector explains itself: what it chose and why, spare
// nodes after, the rest only in case better nodes fail.
func TestLiveDecisionOfASelector(t *testing.T) {
	t.Parallel()
	s := newScene([]float64{50}, []float64{30}).
		node("n1", "small", nil, nil).
		node("n2", "big", []float64{10}, []float64{0}).
		node("n3", "big", []float64{90}, []float64{10}).
		node("n4", "small", []float64{20}, []float64{80}).
		node("n5", "small", []float64{20}, []float64{80})
	d := policytest.Place(t, descriptor(t, "ni"), s.request())
	best(t, d, "n2")
	if !strings.Contains(d.Reason, "fastest configuration with room") || !strings.Contains(d.Candidates[0].Why, "co-runners do not count") {
		t.Errorf("%q, %q", d.Reason, d.Candidates[0].Why)
	}
	d = policytest.Place(t, descriptor(t, "nh"), s.request())
	best(t, d, "n3")
	if len(d.Relaxed) != 0 || len(d.Candidates) < 3 {
		t.Errorf("%+v", d)
	}
}

// A group larger than what a sampling policy finds at once is placed in full
// while there is room.
func TestLiveGroupsAreComplete(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sparrow", "tarcil", "paragon-statistical", "nomad-binpack", "quasar", "autoscale"} {
		s := newScene([]float64{80}, []float64{5}, clustertest.Count(12))
		for _, id := range []string{"n1", "n2", "n3", "n4"} {
			s.node(id, "big", nil, nil)
		}
		d := policytest.Place(t, descriptor(t, name), s.request())
		if d.Outcome != cluster.Placed || warned(d, "the rest waits") {
			t.Errorf("%s: %s %q", name, d.Reason, d.Warnings)
		}
		if !d.Predicted.Known || math.IsNaN(d.Predicted.RatePerSec) {
			t.Errorf("%s: predicted %+v", name, d.Predicted)
		}
	}
}

// The record names who would lose by a place, most first, and those together that would lose
// too little to tell.
func TestExpectedSaysWhoLoses(t *testing.T) {
	t.Parallel()
	same := func(v float64) []float64 { return boardtest.Same(5, v) }
	s := newScene(same(90), []float64{0, 60, 0, 0, 0}).node("n1", "big", []float64{100, 20, 100, 100, 100}, same(0))
	robust := clustertest.Workload("robust")
	s.snapshot.Known[robust.ID] = clustertest.Sensitivity(s.columns, same(100), same(0))
	clustertest.Run(s.snapshot, robust, "n1")
	d := policytest.Place(t, descriptor(t, "expected"), s.request())
	best(t, d, "n1")
	want := []string{"it is expected to reach 100 % of its", "; default/on-n1/", " would lose ", " % because of " + wording.Source(s.columns[1]), "default/robust/"}
	for _, part := range want {
		if !strings.Contains(d.Candidates[0].Why, part) {
			t.Errorf("%q lacks %q", d.Candidates[0].Why, part)
		}
	}
	t.Log(d.Candidates[0].Why)
}

// While a request may wait, the live policy leaves nodes alone that are worth too little, and
// says so; a group that runs somewhere is not kept waiting.
func TestExpectedWaitsLive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good, mayWait, runs bool
		want                cluster.Outcome
	}{
		"a good node is free":            {good: true, mayWait: true, want: cluster.Placed},
		"only bad ones, and it may wait": {mayWait: true, want: cluster.Queued},
		"it has waited":                  {want: cluster.Placed},
		"it runs, and changes its place": {mayWait: true, runs: true, want: cluster.Placed},
	} {
		same := func(v float64) []float64 { return boardtest.Same(5, v) }
		s := newScene(same(5), same(0)).node("n1", "small", same(100), same(80)).node("n2", "small", same(100), same(70))
		s.node("n4", "big", nil, nil)
		clustertest.Run(s.snapshot, clustertest.Workload("fills", func(w *cluster.Workload) { w.Ask = clustertest.Node("n4", "big").Total }), "n4")
		if c.good {
			s.node("n3", "big", nil, nil)
		}
		if c.runs {
			clustertest.Run(s.snapshot, s.workload, "n1")
		}
		r := s.request()
		r.MayWait = c.mayWait
		d := policytest.Place(t, descriptor(t, "expected"), r)
		if d.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, d.Outcome, d.Reason)
		}
		if name == "it has waited" {
			if parts := d.Candidates[0].Parts; len(parts) != 3 || parts[0].Name != "worth_percent" || math.Abs(parts[0].Value-32.1) > 0.1 {
				t.Errorf("%s: made of %+v", name, parts)
			}
		}
		if c.want == cluster.Queued && !strings.Contains(d.Reason, "the best of 2 nodes with room is worth 32 % to it") {
			t.Errorf("%s: %s", name, d.Reason)
		}
	}
}

// What nodes remember of newcomers must never show: decisions on a cluster that changes are those
// that are made without.
func TestExpectedRemembersNothingWrong(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(4)
	classes := []string{"big", "small", "tiny"}
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := clustertest.Random(rng, 20, 3, classes, columns)
		s.Reserved, s.Cache = map[cluster.NodeID][]cluster.Allocation{}, &cluster.Cache{}
		kinds := make([]policy.Request, 4)
		for i := range kinds {
			kinds[i] = plainRequest(seed + uint64(i))
			kinds[i].Columns, kinds[i].Snapshot, kinds[i].MayWait = columns, s, i%2 == 0
			kinds[i].Knowledge = clustertest.Knowledge(
				clustertest.Sensitivity(columns, randomScores(rng, 4), randomScores(rng, 4)),
				map[string]float64{"big": 100 + 100*rng.Float64(), "small": 100, "tiny": 50})
			kinds[i].Workload = clustertest.Workload(fmt.Sprintf("kind-%d", i), clustertest.Count(1+rng.IntN(3)))
		}
		for step := range 40 {
			r := kinds[rng.IntN(len(kinds))]
			w := *r.Workload
			w.ID.Job = fmt.Sprintf("newcomer-%d", step)
			r.Workload = &w
			got := policytest.Place(t, descriptor(t, "expected"), r)
			fresh := *s
			fresh.Cache = nil
			r.Snapshot = &fresh
			if want := policytest.Place(t, descriptor(t, "expected"), r); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: with what nodes remember\n%+v\nand without\n%+v", seed, step, got, want)
			}
			if got.Outcome != cluster.Placed {
				continue
			}
			s.Known[w.ID] = r.Knowledge.Sensitivity
			n := got.Candidates[0].Node
			s.Reserved[n] = append(slices.Clip(s.Reserved[n]), cluster.Allocation{ID: w.ID.Job, Workload: w.ID, Node: n, Resources: w.Ask})
			if rng.IntN(2) == 0 { // one leaves
				of := s.Nodes[rng.IntN(len(s.Nodes))].ID
				list := s.Allocations[of]
				s.Allocations[of] = slices.Clone(list[:max(0, len(list)-1)])
			}
		}
	}
}

func randomScores(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = 100 * rng.Float64()
	}
	return out
}
