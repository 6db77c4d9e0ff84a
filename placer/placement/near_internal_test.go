package placement

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// twoRacks are two racks of two nodes; the job cache runs on n3, in rack b.
func twoRacks(edit ...func(*cluster.Node)) *cluster.Snapshot {
	var nodes []*cluster.Node
	for _, id := range []string{"n1", "n2", "n3", "n4"} {
		n := clustertest.Node(id, "one")
		n.Meta["rack"] = map[string]string{"n1": "a", "n2": "a", "n3": "b", "n4": "b"}[id]
		for _, f := range edit {
			f(n)
		}
		nodes = append(nodes, n)
	}
	s := clustertest.Snapshot(nodes...)
	clustertest.Run(s, clustertest.Workload("cache"), "n3")
	return s
}

// inRack edits the nodes of a rack.
func inRack(rack string, f func(*cluster.Node)) func(*cluster.Node) {
	return func(n *cluster.Node) {
		if n.Meta["rack"] == rack {
			f(n)
		}
	}
}

// decideNear decides on the job web, by a policy that takes the emptiest node: without peers
// that is n1.
func decideNear(t *testing.T, s *cluster.Snapshot, config Config, edit ...func(*cluster.Workload)) cluster.Decision {
	t.Helper()
	columns := []interference.Source{interference.Integer}
	_, config.Estimator = profiling.New(profiling.Config{Columns: columns})
	config.Policy, config.Clock = "least-loaded", stillClock{}
	w := clustertest.Workload("web", append([]func(*cluster.Workload){clustertest.Rate(40)}, edit...)...)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{60}, []float64{10}), map[string]float64{"one": 100, "two": 30})
	decisions, undo, err := New(config).decideOn(s, cluster.Job{ID: w.ID.JobID(), Type: "service", RunPool: clustertest.Pool}, []profiling.Known{{Workload: *w, Knowledge: *k}})
	if err != nil {
		t.Fatal(err)
	}
	undo()
	return decisions[0]
}

func nearCache(w *cluster.Workload) { w.Spec.Near = []string{"cache"} }

func nodesOf(d cluster.Decision) []cluster.NodeID {
	var out []cluster.NodeID
	for _, c := range d.Candidates {
		out = append(out, c.Node)
	}
	return out
}

func TestAGroupIsPlacedNearItsPeers(t *testing.T) {
	t.Parallel()
	alone := decideNear(t, twoRacks(), Config{})
	if alone.Near != nil || alone.Candidates[0].Node > "n2" {
		t.Fatalf("without peers it is on %v, near %v: the test is of no use", nodesOf(alone), alone.Near)
	}
	for name, c := range map[string]struct {
		config Config
		edit   func(*cluster.Workload)
		says   string
	}{
		"declared":       {Config{}, nearCache, "rack b has 1 of the 1 allocation of cache"},
		"declared group": {Config{}, func(w *cluster.Workload) { w.Spec.Near = []string{"none", "cache/main"} }, "of none, cache/main"},
		"captured": {Config{Peers: func(w cluster.WorkloadID) []cluster.Peer {
			return []cluster.Peer{{Name: "cache/main", BytesPerSec: 12e6}}
		}}, func(*cluster.Workload) {}, "with which it exchanges 12 MB/s"},
	} {
		s := twoRacks()
		d := decideNear(t, s, c.config, c.edit)
		nodes := nodesOf(d)
		if d.Outcome != cluster.Placed || nodes[0] < "n3" || nodes[1] < "n3" || !slices.Contains(nodes, alone.Candidates[0].Node) {
			t.Errorf("%s: %s on %v, want rack b first and the others in reserve", name, d.Outcome, nodes)
		}
		if !slices.IsSortedFunc(d.Candidates, func(a, b cluster.Candidate) int { return int(1000 * (b.Score - a.Score)) }) || d.Candidates[1].Score <= d.Candidates[2].Score {
			t.Errorf("%s: scores %+v", name, d.Candidates)
		}
		if d.Near == nil || len(d.Near.Racks) != 1 || d.Near.Racks[0] != (cluster.RackWeight{Rack: "b", WeightPercent: 100}) || d.Near.Attribute != "${meta.rack}" ||
			!strings.Contains(d.Reason, c.says) || !strings.Contains(d.Reason, "; it is placed near its peers") {
			t.Errorf("%s: near %+v, reason %q", name, d.Near, d.Reason)
		}
		if len(s.Reserved["n3"])+len(s.Reserved["n4"]) > 0 || len(s.Known) > 0 {
			t.Errorf("%s: reservations are left", name)
		}
	}
}

// What is not as good without its peers in mind stays as it was, and says why.
func TestNothingChangesForPeers(t *testing.T) {
	t.Parallel()
	full := inRack("b", func(n *cluster.Node) { n.Total.CPUMHz, n.Total.Cores = 1500, 1 })
	smaller := func(n *cluster.Node) {
		if n.ID == "n4" {
			n.Total.CPUMHz = 500
		}
	}
	for name, c := range map[string]struct {
		s    *cluster.Snapshot
		edit func(*cluster.Workload)
		says string
	}{
		"spread":                {twoRacks(), func(w *cluster.Workload) { w.Spread = "${node.datacenter}" }, "its spread over ${node.datacenter} comes first"},
		"distinct_property":     {twoRacks(), clustertest.Constrain("${meta.rack}", "distinct_property", "1"), "distinct_property ${meta.rack} comes first"},
		"no racks":              {twoRacks(func(n *cluster.Node) { delete(n.Meta, "rack") }), func(*cluster.Workload) {}, `no node that they run on says in its meta "rack"`},
		"a rack that is a list": {twoRacks(inRack("b", func(n *cluster.Node) { n.Meta["rack"] = "b,a" })), func(*cluster.Workload) {}, `in its meta "rack"`},
		"not running":           {twoRacks(), func(w *cluster.Workload) { w.Spec.Near = []string{"other"} }, "not placed near other: nothing of them runs in its namespace"},
		"another namespace":     {twoRacks(), func(w *cluster.Workload) { w.ID.Namespace = "tenant" }, "nothing of them runs in its namespace"},
		"another namespace by name": {twoRacks(), func(w *cluster.Workload) {
			w.ID.Namespace, w.Spec.Near = "tenant", []string{"default/cache", "default/cache/main"}
		}, "nothing of them runs in its namespace"},
		"no room":     {twoRacks(full, smaller), func(*cluster.Workload) {}, "in rack b it has no place: no node has room now"},
		"slower":      {twoRacks(inRack("b", func(n *cluster.Node) { n.Class, n.Configuration = "two", "two" })), func(*cluster.Workload) {}, "in rack b it is expected to be slower"},
		"too many":    {twoRacks(), clustertest.Count(101), "it has more than 100 allocations"},
		"another key": {twoRacks(inRack("b", func(n *cluster.Node) { n.Meta = map[string]string{"row": "b"} })), func(*cluster.Workload) {}, `in its meta "rack"`},
	} {
		without := decideNear(t, c.s, Config{}, c.edit, func(w *cluster.Workload) { w.Spec.Near = nil })
		d := decideNear(t, c.s, Config{}, nearCache, c.edit)
		if d.Near == nil || len(d.Near.Racks) > 0 || !strings.Contains(d.Reason, c.says) {
			t.Errorf("%s: near %+v, reason %q", name, d.Near, d.Reason)
		}
		d.Near, d.Reason, without.Reason = nil, "", ""
		if !reflect.DeepEqual(d, without) {
			t.Errorf("%s: the decision is another one:\n%+v\n%+v", name, d, without)
		}
	}
}

// A peer that would lose more than its bound is not what its friend is placed next to.
func TestPeersDoNotSufferForIt(t *testing.T) {
	t.Parallel()
	s := twoRacks(func(n *cluster.Node) {
		if n.ID == "n4" {
			n.Ready = false
		}
	})
	cache := clustertest.Workload("cache")
	s.Known[cache.ID] = clustertest.Sensitivity([]interference.Source{interference.Integer}, []float64{5}, []float64{20})
	d := decideNear(t, s, Config{}, nearCache)
	if d.Candidates[0].Node > "n2" || !strings.Contains(d.Reason, "more QoS violations are expected") {
		t.Errorf("it is on %v: %s", nodesOf(d), d.Reason)
	}
}

// Where stock Nomad chooses, affinities lead to the racks, the one with most first.
func TestStockNomadIsLedToPeers(t *testing.T) {
	t.Parallel()
	s := twoRacks()
	clustertest.Run(s, clustertest.Workload("cache"), "n4")
	clustertest.Run(s, clustertest.Workload("cache"), "n4")
	clustertest.Run(s, clustertest.Workload("cache"), "n1")
	d := decideNear(t, s, Config{}, nearCache, func(w *cluster.Workload) { w.Spec.Policy = "nomad" })
	want := []cluster.RackWeight{{Rack: "b", WeightPercent: 100}, {Rack: "a", WeightPercent: 33}}
	if d.Outcome != cluster.Stock || d.Near == nil || !slices.Equal(d.Near.Racks, want) || !strings.HasSuffix(d.Reason, "an affinity leads it to its peers: rack b has 3 of the 4 allocations of cache") {
		t.Errorf("%s, near %+v: %s", d.Outcome, d.Near, d.Reason)
	}
}

// The more is exchanged with a peer, the more its racks count; what runs stays where it is;
// system jobs, copies under profile and other namespaces lead nowhere.
func TestWhichRackIsNear(t *testing.T) {
	t.Parallel()
	s := twoRacks()
	web := clustertest.Workload("web")
	clustertest.Run(s, clustertest.Workload("store"), "n1")
	clustertest.Run(s, clustertest.Workload("store"), "n3")
	peers := []cluster.Peer{{Name: "cache", BytesPerSec: 1}, {Name: "store", BytesPerSec: 10}}
	if got := peersIn(s, web.ID, peers, "rack").best(); got[0].Rack != "b" || got[1].Rack != "a" || got[1].WeightPercent != 83 {
		t.Errorf("%+v, want b with 6 and a with 5", got)
	}
	s.Reserved["n2"] = append(s.Reserved["n2"],
		cluster.Allocation{Workload: clustertest.Workload("store").ID, System: true}, cluster.Allocation{Workload: clustertest.Workload("store").ID, Profiling: true},
		cluster.Allocation{Workload: cluster.WorkloadID{Namespace: "other", Job: "store", Group: "main"}})
	if got := peersIn(s, web.ID, peers, "rack"); got.allocations != 3 {
		t.Errorf("%d allocations count, want 3", got.allocations)
	}
	clustertest.Run(s, web, "n2")
	if got := peersIn(s, web.ID, peers, "rack").best(); len(got) != 1 || got[0].Rack != "a" {
		t.Errorf("what runs in rack a is led to %+v", got)
	}
}

func TestPeersAreFoundByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peer string
		w    cluster.WorkloadID
		want bool
	}{
		"job":                 {"cache", cluster.WorkloadID{Job: "cache", Group: "main"}, true},
		"group":               {"cache/main", cluster.WorkloadID{Job: "cache", Group: "main"}, true},
		"another group":       {"cache/side", cluster.WorkloadID{Job: "cache", Group: "main"}, false},
		"job with a slash":    {"team/cache", cluster.WorkloadID{Job: "team/cache", Group: "main"}, true},
		"instance of a job":   {"report", cluster.WorkloadID{Job: "report/periodic-1700000000", Group: "main"}, true},
		"dispatched instance": {"report/main", cluster.WorkloadID{Job: "report/dispatch-17-ab", Group: "main"}, true},
		"part of a name":      {"cach", cluster.WorkloadID{Job: "cache", Group: "main"}, false},
	} {
		if got := (cluster.Peer{Name: c.peer}).Is(c.w); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The ledger is that of the node in the rack, not of the one without peers.
func TestTheLedgerIsOfTheNodeInTheRack(t *testing.T) {
	t.Parallel()
	rated := func(n *cluster.Node) { n.Meta[disk.RatedKey] = "100" }
	d := decideNear(t, twoRacks(rated), Config{}, nearCache, func(w *cluster.Workload) { w.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: 20} })
	if first := d.Candidates[0]; d.Disk == nil || !strings.HasPrefix(d.Disk.Said, first.Name+": ") || first.Node < "n3" {
		t.Errorf("on %s: %+v", first.Name, d.Disk)
	}
}
