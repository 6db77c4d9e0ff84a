// Package policytest is the conformance suite every listed policy passes. Only
// tests import it.
package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// clusters is how many random clusters a property is tried on: enough to meet
// every tier of the ranking, few enough for a second.
const clusters = 60

// maxBytes is what one Nomad Variable holds, less its path and other items.
const maxBytes = 60 << 10

// Run tries the policy against the suite.
func Run(t *testing.T, d policy.Descriptor) {
	t.Helper()
	t.Run("random clusters", func(t *testing.T) { t.Parallel(); randomClusters(t, d) })
	t.Run("empty cluster queues", func(t *testing.T) { t.Parallel(); emptyCluster(t, d) })
	t.Run("full cluster queues", func(t *testing.T) { t.Parallel(); fullCluster(t, d) })
	t.Run("nothing known", func(t *testing.T) { t.Parallel(); nothingKnown(t, d) })
	t.Run("bad numbers", func(t *testing.T) { t.Parallel(); badNumbers(t, d) })
	t.Run("large cluster lists stay short", func(t *testing.T) { t.Parallel(); largeCluster(t, d) })
	t.Run("unusable requests are errors", func(t *testing.T) { t.Parallel(); unusable(t, d) })
	t.Run("system jobs are left alone", func(t *testing.T) { t.Parallel(); systemJob(t, d) })
}

// Request builds a random request over a random cluster.
func Request(seed uint64) policy.Request {
	rng := rand.New(rand.NewPCG(seed, 1))
	columns := clustertest.Columns(1 + rng.IntN(6))
	classes := []string{"big", "small", "tiny"}
	s := clustertest.Random(rng, 1+rng.IntN(12), 5, classes, columns)
	w := clustertest.Workload("newcomer", clustertest.Count(1+rng.IntN(4)))
	if rng.IntN(2) == 0 {
		clustertest.Rate(50 + 400*rng.Float64())(w)
	}
	if rng.IntN(3) == 0 {
		clustertest.Constrain("${node.class}", "!=", "tiny")(w)
	}
	for _, n := range s.Nodes {
		n.Ready = rng.IntN(8) > 0
		if rng.IntN(6) == 0 && n.Ready {
			clustertest.Run(s, w, string(n.ID))
		}
	}
	k := clustertest.Knowledge(clustertest.RandomScores(rng, columns), map[string]float64{"big": 200, "small": 100})
	if rng.IntN(3) > 0 {
		mayBeSized(rng, w, k)
	}
	return policy.Request{
		Workload: w, JobType: "service", RunPool: clustertest.Pool, Knowledge: k, Snapshot: s,
		Columns: columns, Seed: seed, At: time.Unix(1_700_000_000, 0).UTC(), MaySize: rng.IntN(4) > 0,
	}
}

// mayBeSized lets the group be given other sizes, of which something is known.
func mayBeSized(rng *rand.Rand, w *cluster.Workload, k *cluster.Knowledge) {
	w.Sizable = cluster.Sizable{Task: "main", Own: w.Ask}
	w.Sizable.Own.DiskMB, w.Sizable.Others.DiskMB = 0, w.Ask.DiskMB
	if rng.IntN(2) == 0 {
		w.Sizable.Own.CPUMHz, w.Sizable.Own.Cores = 0, 1
		w.Ask = w.Sizable.Group(w.Sizable.Own)
	}
	w.Spec.Scale.Cores = []int{1, 2, 4}[:rng.IntN(4)]
	w.Spec.Scale.Count = []int{1, 2, 3, 5}[rng.IntN(4):]
	k.ReferenceCores = 1
	for _, n := range []int{1, 4} {
		speed := 1 + rng.Float64()*float64(n-1)
		k.ScaleUp = append(k.ScaleUp, cluster.ScaleSpeed{Cores: n, Relative: speed, Low: 0.9 * speed, High: 1.1 * speed, Origin: interference.Measured})
	}
}

func randomClusters(t *testing.T, d policy.Descriptor) {
	for seed := range uint64(clusters) {
		r := Request(seed)
		before := encode(t, r)
		got := Place(t, d, r)
		if !bytes.Equal(before, encode(t, r)) {
			t.Fatalf("seed %d: the policy wrote to its request", seed)
		}
		first := encode(t, got)
		if again := encode(t, Place(t, d, r)); !bytes.Equal(first, again) {
			t.Fatalf("seed %d: replay differs:\n%s\n%s", seed, first, again)
		}
		shuffled := r
		copied := *r.Snapshot
		copied.Nodes = slices.Clone(copied.Nodes)
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(copied.Nodes), func(i, j int) {
			copied.Nodes[i], copied.Nodes[j] = copied.Nodes[j], copied.Nodes[i]
		})
		shuffled.Snapshot = &copied
		if other := encode(t, Place(t, d, shuffled)); !bytes.Equal(first, other) {
			t.Fatalf("seed %d: the order of nodes matters:\n%s\n%s", seed, first, other)
		}
	}
}

// Place decides and checks everything that holds for any decision.
func Place(t *testing.T, d policy.Descriptor, r policy.Request) cluster.Decision {
	t.Helper()
	got, err := d.New().Place(r)
	if err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	if err := Check(r, got); err != nil {
		t.Fatalf("%s, seed %d: %v\n%s", d.Name, r.Seed, err, encode(t, got))
	}
	if got.Policy != d.Name {
		t.Fatalf("policy %q signs as %q", d.Name, got.Policy)
	}
	return got
}

// Check returns the first safety property that a decision breaks.
func Check(r policy.Request, d cluster.Decision) error {
	if d.Sizing != nil && len(d.Sizing.Tried) > 0 {
		sized := *r.Workload // as it was decided to be
		sized.Count, sized.Ask = d.Count, d.Resources
		r.Workload = &sized
	}
	if err := checkSizing(r, d); err != nil {
		return err
	}
	fit, _, _ := cluster.Feasible(r.Snapshot, r.Workload, r.RunPool)
	switch {
	case d.Format != cluster.DecisionFormat:
		return fmt.Errorf("format %d", d.Format)
	case d.Considered != len(r.Snapshot.Nodes):
		return fmt.Errorf("considered %d of %d nodes", d.Considered, len(r.Snapshot.Nodes))
	case d.Reason == "":
		return fmt.Errorf("no reason given")
	case len(d.Shortlisted(r.JobType)) < len(d.Candidates) && d.Outcome == cluster.Placed:
		return fmt.Errorf("%d candidates, but the job is bound to %d of them", len(d.Candidates), len(d.Shortlisted(r.JobType)))
	case len(d.Candidates) > cluster.MaxCandidates || len(d.Rejected) > cluster.MaxRejections:
		return fmt.Errorf("%d candidates, %d rejections", len(d.Candidates), len(d.Rejected))
	}
	if sum := total(d.RejectedBy); sum > d.Considered || sum < len(d.Rejected) {
		return fmt.Errorf("%d rejections counted, %d listed, %d nodes", sum, len(d.Rejected), d.Considered)
	}
	if b, err := json.Marshal(d); err != nil {
		return err
	} else if len(b) > maxBytes {
		return fmt.Errorf("the record has %d bytes, a Nomad Variable holds %d", len(b), maxBytes)
	}
	switch d.Outcome {
	case cluster.Placed:
		return checkPlaced(r, d, fit)
	case cluster.Queued:
		if len(fit) > 0 && !r.MayWait && r.Workload.Spec.Target.Kind != performance.BestEffort {
			return fmt.Errorf("queued although %d nodes fit", len(fit))
		}
		fallthrough
	case cluster.Stock:
		if len(d.Candidates) > 0 {
			return fmt.Errorf("%s with %d candidates", d.Outcome, len(d.Candidates))
		}
		return nil
	default:
		return fmt.Errorf("outcome %q", d.Outcome)
	}
}

// checkSizing: only what may be sized is, and never to what the user did not list.
func checkSizing(r policy.Request, d cluster.Decision) error {
	s, scale := d.Sizing, r.Workload.Spec.Scale
	switch {
	case s == nil || !s.Chosen:
		return nil
	case !r.MaySize:
		return fmt.Errorf("a group that may not be sized was")
	case d.Count != s.CountWas && !slices.Contains(scale.Count, d.Count):
		return fmt.Errorf("count %d is not of %v", d.Count, scale.Count)
	case s.Own.Cores != s.OwnWas.Cores && !slices.Contains(scale.Cores, s.Own.Cores):
		return fmt.Errorf("%d cores are not of %v", s.Own.Cores, scale.Cores)
	case d.Resources != r.Workload.Sizable.Group(s.Own):
		return fmt.Errorf("the group gets %+v, its sized task %+v", d.Resources, s.Own)
	case s.Why == "" || len(s.Tried) == 0 || len(s.Tried) > cluster.MaxTried:
		return fmt.Errorf("sizing without reasons: %+v", s)
	}
	return nil
}

func total(counts map[cluster.RejectReason]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

func checkPlaced(r policy.Request, d cluster.Decision, fit []*cluster.Node) error {
	if want := min(len(fit), r.Workload.Count, cluster.MaxCandidates); len(d.Candidates) < want {
		return fmt.Errorf("%d candidates, %d nodes fit, count %d", len(d.Candidates), len(fit), r.Workload.Count)
	}
	if keep := min(len(fit), r.Workload.Count+1, cluster.MaxCandidates); len(d.Candidates) < keep {
		return fmt.Errorf("%d candidates leave no spare node of %d that fit", len(d.Candidates), len(fit))
	}
	room, all := 0, 0
	seen := map[cluster.NodeID]bool{}
	last := 1.0
	for i, c := range d.Candidates {
		at := slices.IndexFunc(fit, func(n *cluster.Node) bool { return n.ID == c.Node })
		switch {
		case at < 0:
			return fmt.Errorf("candidate %s is not feasible", c.Node)
		case seen[c.Node]:
			return fmt.Errorf("candidate %s twice", c.Node)
		case i == 0 && c.Score != 1:
			return fmt.Errorf("the best candidate scores %v", c.Score)
		case c.Score > last || c.Score < 0 || math.IsNaN(c.Score):
			return fmt.Errorf("score %v after %v", c.Score, last)
		case c.Why == "":
			return fmt.Errorf("candidate %s is not explained", c.Node)
		}
		seen[c.Node], last = true, c.Score
		room += clustertest.Room(r.Snapshot, r.Workload, fit[at], r.Workload.Count)
	}
	for _, n := range fit {
		all += clustertest.Room(r.Snapshot, r.Workload, n, r.Workload.Count)
	}
	if room < min(r.Workload.Count, all) {
		return fmt.Errorf("the shortlist has room for %d, the cluster for %d, the group counts %d", room, all, r.Workload.Count)
	}
	return nil
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	if r, ok := v.(policy.Request); ok {
		v = []any{r.Workload, r.Knowledge, r.Columns, r.Snapshot.Nodes, r.Snapshot.Allocations}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// expect checks the outcome; a policy that leaves even a plain request to stock
// Nomad may do so always.
func expect(t *testing.T, d policy.Descriptor, got cluster.Decision, want cluster.Outcome) {
	t.Helper()
	plain := policy.Request{
		Workload: clustertest.Workload("plain"), JobType: "service", RunPool: clustertest.Pool,
		Snapshot: clustertest.Snapshot(clustertest.Node("n1", "big")),
	}
	if Place(t, d, plain).Outcome == cluster.Stock {
		want = cluster.Stock
	}
	if got.Outcome != want {
		t.Errorf("%s: outcome %s, want %s: %s", d.Name, got.Outcome, want, got.Reason)
	}
}

func emptyCluster(t *testing.T, d policy.Descriptor) {
	r := Request(1)
	r.Snapshot = clustertest.Snapshot()
	expect(t, d, Place(t, d, r), cluster.Queued)
	r.Snapshot = &cluster.Snapshot{}
	expect(t, d, Place(t, d, r), cluster.Queued)
}

func fullCluster(t *testing.T, d policy.Descriptor) {
	r := Request(2)
	r.Workload.Ask = cluster.Resources{MemoryMB: 1 << 30}
	got := Place(t, d, r)
	expect(t, d, got, cluster.Queued)
}

func nothingKnown(t *testing.T, d policy.Descriptor) {
	r := Request(3)
	r.Snapshot.Known = nil
	for _, k := range []*cluster.Knowledge{nil, {}} {
		r.Knowledge = k
		expect(t, d, Place(t, d, r), cluster.Placed)
	}
	r.Columns = nil
	expect(t, d, Place(t, d, r), cluster.Placed)
}

func badNumbers(t *testing.T, d policy.Descriptor) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0} {
		r := Request(4)
		for c := range r.Knowledge.Speed {
			r.Knowledge.Speed[c] = profile.Measurement{Value: bad, Low: bad, High: bad, Unit: "units/s"}
		}
		r.Knowledge.Speed["big"] = profile.Measurement{Value: 100, Low: bad, High: bad}
		ratio := bad
		for _, s := range r.Columns {
			r.Knowledge.Ramp = append(r.Knowledge.Ramp, profile.RampPoint{Source: s, IntensityPercent: 50, WorkloadRatio: &ratio, WorkloadLow: &ratio})
		}
		r.Workload.Spec.SlowdownMaxPercent = bad
		if !math.IsNaN(bad) && !math.IsInf(bad, 0) { // a target that JSON cannot hold is refused before
			r.Workload.Spec.Target.Rate = bad
		}
		expect(t, d, Place(t, d, r), cluster.Placed)
	}
}

func largeCluster(t *testing.T, d policy.Descriptor) {
	rng := rand.New(rand.NewPCG(5, 5))
	r := Request(5)
	r.Columns = clustertest.Columns(4)
	r.Snapshot = clustertest.Random(rng, 300, 20, []string{"big", "small"}, r.Columns)
	r.Workload.Constraints = nil
	for _, count := range []int{1, 40, 70, 2000} {
		r.Workload.Count = count
		Place(t, d, r)
	}
}

func unusable(t *testing.T, d policy.Descriptor) {
	for name, edit := range map[string]func(*policy.Request){
		"no workload":    func(r *policy.Request) { r.Workload = nil },
		"no snapshot":    func(r *policy.Request) { r.Snapshot = nil },
		"negative count": func(r *policy.Request) { r.Workload.Count = -1 },
	} {
		r := Request(6)
		edit(&r)
		if _, err := d.New().Place(r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func systemJob(t *testing.T, d policy.Descriptor) {
	r := Request(7)
	r.JobType = "system"
	if got := Place(t, d, r); got.Outcome != cluster.Stock {
		t.Errorf("outcome %s", got.Outcome)
	}
}
