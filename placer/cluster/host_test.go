package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// look is all that a decision takes from hosts.
func look(s *cluster.Snapshot, columns []interference.Source, w *cluster.Workload) []any {
	var out []any
	table := cluster.NewPressureTable(s, columns)
	for _, n := range s.Nodes {
		tolerated, caused := make([]float64, len(columns)), make([]float64, len(columns))
		table.Fill(n, w.ID, tolerated, caused)
		out = append(out, n.ID, tolerated, caused, s.Host(n).UsedByOthers(w.ID), clustertest.Room(s, w, n, 3))
	}
	fit, rejected, counts := cluster.Feasible(s, w, clustertest.Pool)
	return append(out, fit, rejected, counts)
}

// What a cache kept must never show: whatever happens to a cluster, with one it looks as
// without.
func TestHostsAreAsNew(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(4)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := clustertest.Random(rng, 30, 2, []string{"a", "b"}, columns)
		s.Nodes[3].Machine, s.Nodes[4].Machine = "shared", "shared"
		s.Reserved, s.Cache = map[cluster.NodeID][]cluster.Allocation{}, &cluster.Cache{}
		var ids []cluster.WorkloadID
		for id := range s.Known {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b cluster.WorkloadID) int { return cmpText(a, b) })
		for step := range 40 {
			disturb(rng, s, columns, ids)
			w := clustertest.Workload("newcomer", clustertest.Ask(cluster.Resources{CPUMHz: 500 * rng.IntN(6), MemoryMB: 64}))
			if rng.IntN(2) == 0 {
				w.ID = ids[rng.IntN(len(ids))] // it is there already
			}
			w.Drivers = [][]string{nil, {"exec"}, {"docker"}}[rng.IntN(3)]
			fresh := *s
			fresh.Cache = nil
			if got, want := look(s, columns, w), look(&fresh, columns, w); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: a memo shows\n%v\nand a new look\n%v", seed, step, got, want)
			}
		}
	}
}

func cmpText(a, b cluster.WorkloadID) int {
	if a.String() < b.String() {
		return -1
	}
	return 1
}

// disturb changes one thing of a snapshot, the way it happens: by other lists, maps and
// nodes in the place of those that were handed out.
func disturb(rng *rand.Rand, s *cluster.Snapshot, columns []interference.Source, ids []cluster.WorkloadID) {
	at := rng.IntN(len(s.Nodes))
	n, id := s.Nodes[at], ids[rng.IntN(len(ids))]
	switch rng.IntN(6) {
	case 0: // an allocation comes
		s.Reserved[n.ID] = append(slices.Clip(s.Reserved[n.ID]), cluster.Allocation{ID: "decided", Workload: id, Node: n.ID, Resources: cluster.Resources{CPUMHz: 100}})
	case 1: // or leaves
		if list := s.Reserved[n.ID]; len(list) > 0 {
			s.Reserved[n.ID] = slices.Clone(list[1:])
		}
	case 2:
		if list := s.Allocations[n.ID]; len(list) > 0 {
			s.Allocations[n.ID] = slices.Clone(list[:len(list)-1])
		}
	case 3: // is known better
		needs := rng.Float64()
		known := clustertest.Sensitivity(columns, random(rng, len(columns)), random(rng, len(columns)))
		known.RequiredFraction = &needs
		s.Known[id] = known
	case 4: // or not at all
		delete(s.Known, id)
	default: // a node is another
		next := *n
		next.Ready, next.Attributes = !n.Ready || rng.IntN(4) > 0, cluster.NewAttributes(map[string]string{"driver.exec": fmt.Sprint(rng.IntN(2))})
		s.Nodes = slices.Clone(s.Nodes)
		s.Nodes[at] = &next
	}
}

func random(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(rng.IntN(101))
	}
	return out
}

func TestAHostIsKeptWhileNothingChanges(t *testing.T) {
	t.Parallel()
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	a := clustertest.Workload("a")
	clustertest.Run(s, a, "n1")
	s.Cache = &cluster.Cache{}
	columns := clustertest.Columns(2)
	host := func() *cluster.Host { return cluster.NewPressureTable(s, columns).Host(s.Nodes[0]) }
	h := host()
	h.Residents = "what somebody made of them"
	if again := host(); again != h || again.Residents == nil {
		t.Error("nothing changed, and the host is another")
	}
	s.Known[a.ID] = clustertest.Sensitivity(columns, []float64{30, 80}, []float64{60, 10})
	if again := host(); again.Residents != nil {
		t.Error("scores changed, and what was made of them stays")
	}
}
