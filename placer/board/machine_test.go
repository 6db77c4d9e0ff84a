package board_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Residents press on all nodes of their machine, and take room on their own.
func TestNodesOfOneMachinePressOnEachOther(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{"a"}, []string{"one"})
	total := cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}
	left, right := b.Add(board.Node{ID: "left", Total: total, Machine: 1}), b.Add(board.Node{ID: "right", Total: total, Machine: 1})
	other := b.Add(board.Node{ID: "other", Total: total})
	place := func(n board.Index, handle board.Handle, tolerated, caused float64) {
		b.Place(n, board.Resident{Handle: handle, Size: cluster.Resources{CPUMHz: 600}, Tolerated: []float64{tolerated}, Caused: []float64{caused}})
	}
	expect := func(n board.Index, tolerated, caused, headroom float64) {
		t.Helper()
		if got := []float64{b.Tolerated(n)[0], b.Caused(n)[0], b.Headroom(n)[0]}; !slices.Equal(got, []float64{tolerated, caused, headroom}) {
			t.Errorf("%s: %v, want %g, %g and %g", b.Node(n).ID, got, tolerated, caused, headroom)
		}
	}
	place(left, 1, 70, 20)
	place(right, 2, 90, 30)
	for _, n := range []board.Index{left, right} {
		expect(n, 70, 50, 40) // the first tolerates 70 and experiences 30 already
	}
	expect(other, 100, 0, 100)
	if b.Used(left).CPUMHz != 600 || len(b.Residents(right)) != 1 || !slices.Equal(b.SameMachine(left), []board.Index{right}) {
		t.Errorf("%+v used, %v on the right, beside the left %v", b.Used(left), b.Residents(right), b.SameMachine(left))
	}
	if err := b.Remove(right, 2); err != nil {
		t.Fatal(err)
	}
	expect(left, 70, 20, 70)
	expect(right, 70, 20, 70)
}

// The board of a snapshot says of every node what cluster.ServerPressure says.
func TestTheBoardOfASnapshotKnowsItsMachines(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(2)
	s := clustertest.Snapshot(clustertest.Node("n1", "big"), clustertest.Node("n2", "small"), clustertest.Node("n3", "big"), clustertest.Node("n4", "big"))
	s.Nodes[0].Machine, s.Nodes[2].Machine, s.Nodes[3].Machine = "host", "host", "alone"
	for i, node := range []string{"n1", "n2", "n3", "n4"} {
		w := clustertest.Workload(node + "-job")
		s.Known[w.ID] = clustertest.Sensitivity(columns, []float64{float64(90 - 10*i), 50}, []float64{float64(10 * i), 5})
		clustertest.Run(s, w, node)
	}
	b := board.FromSnapshot(s, columns, cluster.WorkloadID{})
	for i, n := range s.Nodes {
		tolerated, caused := cluster.NewPressureTable(s, columns).ServerPressure(n, cluster.WorkloadID{})
		if !slices.Equal(tolerated, b.Tolerated(board.Index(i))) || !slices.Equal(caused, b.Caused(board.Index(i))) {
			t.Errorf("%s: the board says %v and %v, the snapshot %v and %v", n.ID, b.Tolerated(board.Index(i)), b.Caused(board.Index(i)), tolerated, caused)
		}
		without := board.NewCoRunners(s, cluster.NewPressureTable(s, columns), cluster.WorkloadID{}).On(n)
		for k := range without {
			without[k].Handle = b.MachineResidents(board.Index(i))[k].Handle // which it has none of
		}
		if !reflect.DeepEqual(without, b.MachineResidents(board.Index(i))) {
			t.Errorf("%s: %+v press on it, on the board %+v", n.ID, without, b.MachineResidents(board.Index(i)))
		}
	}
	if got := b.Caused(0)[0]; got != 20 {
		t.Errorf("n1 is pressed by %g, want that of n3 as well", got)
	}
}
