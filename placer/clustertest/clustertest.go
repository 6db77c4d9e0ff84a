// Package clustertest builds clusters for tests: nodes, residents, workloads
// and snapshots in a few readable calls, and random ones from a seed. Only
// tests import it.
package clustertest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Pool is the node pool of every built node.
const Pool = "prod"

// Node builds a ready node with driver exec: 4 cores of 2,500 MHz, 8 GiB,
// 50 GiB of disk, in datacenter dc1 and pool Pool. Its configuration is its
// class.
func Node(id, class string, edits ...func(*cluster.Node)) *cluster.Node {
	n := &cluster.Node{
		ID: cluster.NodeID(id), Name: id, Datacenter: "dc1", Pool: Pool, Class: class, Configuration: class,
		Total:      cluster.Resources{CPUMHz: 10000, Cores: 4, MemoryMB: 8192, DiskMB: 51200},
		CoreMHz:    2500,
		Ready:      true,
		Kernels:    true,
		Attributes: cluster.NewAttributes(map[string]string{"driver.exec": "1", "cpu.arch": "amd64", "kernel.name": "linux"}),
		Meta:       map[string]string{},
	}
	for _, edit := range edits {
		edit(n)
	}
	return n
}

// Total sets what a node offers.
func Total(r cluster.Resources) func(*cluster.Node) { return func(n *cluster.Node) { n.Total = r } }

// Attribute sets a node attribute.
func Attribute(key, value string) func(*cluster.Node) {
	return func(n *cluster.Node) { n.Attributes = n.Attributes.With(key, value) }
}

// Workload builds a group of job name asking 1,000 MHz and 512 MB, count 1,
// driver exec, with no numeric target: as fast as can be.
func Workload(name string, edits ...func(*cluster.Workload)) *cluster.Workload {
	w := &cluster.Workload{
		ID:      cluster.WorkloadID{Namespace: "default", Job: name, Group: "main"},
		Spec:    performance.Spec{Target: performance.Target{Kind: performance.FinishWithin}, SlowdownMaxPercent: performance.DefaultSlowdownMaxPercent},
		Count:   1,
		Ask:     cluster.Resources{CPUMHz: 1000, MemoryMB: 512, DiskMB: 300},
		Drivers: []string{"exec"}, ProfileKey: "key-" + name, Datacenters: []string{"*"},
	}
	for _, edit := range edits {
		edit(w)
	}
	return w
}

// Count sets the group's count.
func Count(n int) func(*cluster.Workload) { return func(w *cluster.Workload) { w.Count = n } }

// Ask sets what one allocation asks for.
func Ask(r cluster.Resources) func(*cluster.Workload) { return func(w *cluster.Workload) { w.Ask = r } }

// Rate sets a target of units per second for the whole group.
func Rate(perSec float64) func(*cluster.Workload) {
	return func(w *cluster.Workload) {
		w.Spec.Target = performance.Target{Kind: performance.Rate, Rate: perSec}
	}
}

// Constrain adds one of the user's constraints.
func Constrain(attribute, operator, value string) func(*cluster.Workload) {
	return func(w *cluster.Workload) {
		w.Constraints = append(w.Constraints, cluster.Constraint{Attribute: attribute, Operator: operator, Value: value})
	}
}

// Snapshot builds a snapshot of the nodes, sorted by ID, with no allocations.
func Snapshot(nodes ...*cluster.Node) *cluster.Snapshot {
	slices.SortFunc(nodes, func(a, b *cluster.Node) int { return cmp.Compare(a.ID, b.ID) })
	return &cluster.Snapshot{
		Nodes:       nodes,
		Allocations: map[cluster.NodeID][]cluster.Allocation{},
		Known:       map[cluster.WorkloadID]interference.Sensitivity{},
		Reserved:    map[cluster.NodeID][]cluster.Allocation{},
		Disk:        map[cluster.WorkloadID]performance.DiskSpec{},
	}
}

// Run puts one allocation of a workload on a node.
func Run(s *cluster.Snapshot, w *cluster.Workload, node string) {
	id := cluster.NodeID(node)
	s.Allocations[id] = append(s.Allocations[id], cluster.Allocation{
		ID: fmt.Sprintf("%s-%d", w.ID.Job, len(s.Allocations[id])), Workload: w.ID, Node: id, Resources: w.Ask,
	})
}

// Scores builds scores in percent; columns and values are parallel.
func Scores(columns []interference.Source, percent ...float64) interference.Scores {
	out := interference.Scores{}
	for i, s := range columns {
		v := interference.Percent(percent[i])
		out[s] = interference.Estimate{Score: v, Low: v, High: v, Origin: interference.Measured}
	}
	return out
}

// Sensitivity builds tolerated and caused scores over columns.
func Sensitivity(columns []interference.Source, tolerated, caused []float64) interference.Sensitivity {
	return interference.Sensitivity{Tolerated: Scores(columns, tolerated...), Caused: Scores(columns, caused...)}
}

// Knowledge wraps scores and exact speeds in units/s by configuration.
func Knowledge(s interference.Sensitivity, speed map[string]float64) *cluster.Knowledge {
	k := &cluster.Knowledge{Sensitivity: s, Speed: map[string]profile.Measurement{}, SpeedOrigin: map[string]interference.Origin{}, Confidence: 1}
	for c, v := range speed {
		k.Speed[c] = profile.Measurement{Value: v, Low: v, High: v, Unit: "units/s", Windows: 10}
		k.SpeedOrigin[c] = interference.Measured
	}
	return k
}

// Columns are the first n sources in the paper's order.
func Columns(n int) []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources()[:n] {
		out = append(out, info.Source)
	}
	return out
}

// RandomScores draws a sensitivity; one in ten scores is unknown.
func RandomScores(rng *rand.Rand, columns []interference.Source) interference.Sensitivity {
	s := interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
	for _, c := range columns {
		if rng.IntN(10) > 0 {
			s.Tolerated[c] = interference.Estimate{Score: interference.Percent(40 + 60*rng.Float64())}
		}
		if rng.IntN(10) > 0 {
			s.Caused[c] = interference.Estimate{Score: interference.Percent(40 * rng.Float64())}
		}
	}
	return s
}

// Random builds a cluster: nodes over the classes, each with up to residents
// allocations drawn from as many workloads as there are nodes, all within the
// nodes' resources; one workload in eight has no scores.
func Random(rng *rand.Rand, nodes, residents int, classes []string, columns []interference.Source) *cluster.Snapshot {
	var list []*cluster.Node
	for i := range nodes {
		list = append(list, Node(fmt.Sprintf("node-%05d", i), classes[rng.IntN(len(classes))]))
	}
	s := Snapshot(list...)
	workloads := make([]*cluster.Workload, nodes)
	for i := range workloads {
		workloads[i] = Workload(fmt.Sprintf("resident-%05d", i), Ask(cluster.Resources{CPUMHz: 200 + rng.IntN(1500), MemoryMB: 128 + rng.IntN(900), DiskMB: 300}))
		if rng.IntN(8) > 0 {
			s.Known[workloads[i].ID] = RandomScores(rng, columns)
		}
	}
	for _, n := range list {
		for range rng.IntN(residents + 1) {
			if w := workloads[rng.IntN(len(workloads))]; Room(s, w, n, 1) == 1 && !runs(s, w, n) {
				Run(s, w, string(n.ID))
			}
		}
	}
	return s
}

// runs: Room does not count a workload's own allocations, so each runs at most
// once per node.
func runs(s *cluster.Snapshot, w *cluster.Workload, n *cluster.Node) bool {
	return slices.ContainsFunc(s.Allocations[n.ID], func(a cluster.Allocation) bool { return a.Workload == w.ID })
}

// Room is how many allocations of the workload fit on the node at once, up to limit.
func Room(s *cluster.Snapshot, w *cluster.Workload, n *cluster.Node, limit int) int {
	return min(cluster.Room(n, s.Host(n).UsedByOthers(w.ID), w.Ask, limit), s.DiskRoom(n, w, limit))
}
