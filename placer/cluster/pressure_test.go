package cluster_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Delimitrou 2015, §3.3.4: an empty server tolerates everything and causes
// nothing; tolerated is the minimum, caused the sum, which is not capped.
func TestServerPressure(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	expect := func(what string, except cluster.WorkloadID, tolerated, caused []float64) {
		t.Helper()
		gotT, gotC := cluster.NewPressureTable(s, columns).ServerPressure(s.Nodes[0], except)
		if !slices.Equal(gotT, tolerated) || !slices.Equal(gotC, caused) {
			t.Errorf("%s: t %v c %v, want %v %v", what, gotT, gotC, tolerated, caused)
		}
	}
	expect("empty", cluster.WorkloadID{}, []float64{100, 100}, []float64{0, 0})
	a, b := clustertest.Workload("a"), clustertest.Workload("b")
	s.Known[a.ID] = clustertest.Sensitivity(columns, []float64{30, 80}, []float64{60, 10})
	s.Known[b.ID] = clustertest.Sensitivity(columns, []float64{50, 20}, []float64{70, 0})
	clustertest.Run(s, a, "n1")
	clustertest.Run(s, b, "n1")
	expect("two", cluster.WorkloadID{}, []float64{30, 20}, []float64{130, 10})
	expect("without a", a.ID, []float64{50, 20}, []float64{70, 0})
	s.Allocations["n1"][0].Profiling = true
	expect("a only profiles", cluster.WorkloadID{}, []float64{50, 20}, []float64{70, 0})
	p := cluster.NewPressureTable(s, columns).NodePressure(s.Nodes[0])
	if got, _ := p.Tolerated[columns[1]].Score.Percent(); got != 20 {
		t.Errorf("published %v", got)
	}
}

// An unknown resident counts by its share of the node's cpu, never as nothing.
func TestUnknownResidents(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	s := clustertest.Snapshot(clustertest.Node("n1", "big")) // 10,000 MHz, cores of 2,500
	shares := clustertest.Workload("shares", clustertest.Ask(cluster.Resources{CPUMHz: 1000}))
	cores := clustertest.Workload("cores", clustertest.Ask(cluster.Resources{Cores: 2}))
	clustertest.Run(s, shares, "n1")
	clustertest.Run(s, cores, "n1")
	gotT, gotC := cluster.NewPressureTable(s, columns).ServerPressure(s.Nodes[0], cluster.WorkloadID{})
	if gotT[0] != 50 || math.Abs(gotC[0]-60) > 1e-9 {
		t.Errorf("t %v c %v, want 50 and 60", gotT, gotC)
	}
	// Half known: only the missing score is assumed.
	s.Known[cores.ID] = interference.Sensitivity{Tolerated: clustertest.Scores(columns, 90, 90)}
	gotT, gotC = cluster.NewPressureTable(s, columns).ServerPressure(s.Nodes[0], shares.ID)
	if gotT[0] != 90 || gotC[0] != 50 {
		t.Errorf("t %v c %v, want 90 and 50", gotT, gotC)
	}
	s.Nodes[0].Total.CPUMHz = 0
	if _, gotC = cluster.NewPressureTable(s, columns).ServerPressure(s.Nodes[0], cores.ID); gotC[0] != 50 {
		t.Errorf("a node of unknown size: c %v, want half", gotC)
	}
}

// A system job runs on the nodes of the profiles as well: unknown, it adds nothing to
// what was measured there; known, it counts as anybody else.
func TestUnknownSystemJobs(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	agent := clustertest.Workload("agent", clustertest.Ask(cluster.Resources{CPUMHz: 5000}))
	clustertest.Run(s, agent, "n1")
	s.Allocations["n1"][0].System = true
	pressure := func() [2]float64 {
		tolerated, caused := cluster.NewPressureTable(s, columns).ServerPressure(s.Nodes[0], cluster.WorkloadID{})
		return [2]float64{tolerated[0], caused[0]}
	}
	if got := pressure(); got != [2]float64{100, 0} {
		t.Errorf("unknown: %v", got)
	}
	s.Known[agent.ID] = clustertest.Sensitivity(columns, []float64{70}, []float64{20})
	if got := pressure(); got != [2]float64{70, 20} {
		t.Errorf("known: %v", got)
	}
}

// What a cache keeps of a workload is as large as its scores, however few workloads a
// snapshot brings: one slab is for many snapshots.
func TestVectorsOfManySnapshotsShareASlab(t *testing.T) {
	t.Parallel()
	const columns = 2
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	s.Cache = &cluster.Cache{}
	var before uintptr
	for i, name := range []string{"first", "second", "third"} {
		w := clustertest.Workload(name)
		s.Known[w.ID] = clustertest.Sensitivity(clustertest.Columns(columns), []float64{30, 80}, []float64{60, 10})
		v := cluster.NewPressureTable(s, clustertest.Columns(columns)).ScoresOf(w.ID)
		at := uintptr(unsafe.Pointer(&v.Tolerated[0]))
		if far := at - before; i > 0 && far != 2*columns*unsafe.Sizeof(v.Tolerated[0]) {
			t.Errorf("%s: %d bytes behind the one before", name, far)
		}
		before = at
	}
}

func BenchmarkPressureTable1000(b *testing.B) {
	columns := clustertest.Columns(15)
	s := clustertest.Random(rand.New(rand.NewPCG(1, 1)), 1000, 5, []string{"a"}, columns)
	t, c := make([]float64, 15), make([]float64, 15)
	b.ReportAllocs()
	for b.Loop() {
		table := cluster.NewPressureTable(s, columns)
		for _, n := range s.Nodes {
			table.Fill(n, cluster.WorkloadID{}, t, c)
		}
	}
}
