package board_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
)

// What fits on a node of a snapshot fits on that node of a board. A node whose cores are
// overcommitted has no core left for anybody, and may have MHz.
func TestOneFit(t *testing.T) {
	t.Parallel()
	total := cluster.Resources{CPUMHz: 8000, Cores: 2, MemoryMB: 1000, DiskMB: 1000}
	for _, used := range []cluster.Resources{{}, {Cores: 2}, {Cores: 3}, {CPUMHz: 7000}, {Cores: 1, CPUMHz: 6500}, {MemoryMB: 1000}, {DiskMB: 1001}} {
		node := &cluster.Node{ID: "n", Pool: clustertest.Pool, Ready: true, CoreMHz: 1000, Total: total}
		s := &cluster.Snapshot{Nodes: []*cluster.Node{node}, Allocations: map[cluster.NodeID][]cluster.Allocation{
			"n": {{ID: "a", Workload: cluster.WorkloadID{Job: "other"}, Node: "n", Resources: used}},
		}}
		b := board.New(nil, []string{"one"})
		n := b.Add(board.Node{ID: "n", CoreMHz: 1000, Total: total})
		b.Place(n, board.Resident{Handle: 1, Size: used})
		for _, request := range []cluster.Resources{{}, {CPUMHz: 500}, {CPUMHz: 1500}, {Cores: 1}, {CPUMHz: 500, MemoryMB: 1}, {CPUMHz: 500, DiskMB: 1}} {
			fit, rejected, _ := cluster.Feasible(s, &cluster.Workload{Ask: request, Count: 1}, clustertest.Pool)
			if got, want := b.Fits(n, request), len(fit) == 1; got != want {
				t.Errorf("%+v beside %+v: fits on the board %v, in the snapshot %v: %v", request, used, got, want, rejected)
			}
		}
	}
}
