package board_test

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The pressure of a node is the same on a board as in the snapshot that the board was
// made from, where scores are unknown, too.
func TestOnePressure(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	known, unknown := cluster.WorkloadID{Job: "known"}, cluster.WorkloadID{Job: "unknown"}
	half := interference.Scores{columns[0]: {Score: interference.Percent(70)}, columns[2]: {Score: interference.Percent(20)}}
	node := &cluster.Node{ID: "n", Ready: true, CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 8000, MemoryMB: 1000}}
	s := &cluster.Snapshot{
		Nodes: []*cluster.Node{node},
		Allocations: map[cluster.NodeID][]cluster.Allocation{"n": {
			{ID: "a", Workload: known, Node: "n", Resources: cluster.Resources{CPUMHz: 2000}},
			{ID: "b", Workload: unknown, Node: "n", Resources: cluster.Resources{CPUMHz: 4000}},
			{ID: "c", Workload: cluster.WorkloadID{Job: "system"}, Node: "n", System: true, Resources: cluster.Resources{CPUMHz: 100}},
		}},
		Known: map[cluster.WorkloadID]interference.Sensitivity{known: {Tolerated: half, Caused: half}},
	}
	tolerated, caused := cluster.NewPressureTable(s, columns).ServerPressure(node, cluster.WorkloadID{})
	b := board.FromSnapshot(s, columns, cluster.WorkloadID{})
	if !slices.Equal(b.Tolerated(0), tolerated) || !slices.Equal(b.Caused(0), caused) {
		t.Errorf("on the board %v and %v, in the snapshot %v and %v", b.Tolerated(0), b.Caused(0), tolerated, caused)
	}
	if want := []float64{120, 75, 70}; !slices.Equal(caused, want) {
		t.Errorf("caused %v, want %v", caused, want)
	}
}
