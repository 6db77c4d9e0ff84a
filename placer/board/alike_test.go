package board_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// groups lists the groups in an order of their own.
func groups(a *board.Alike) [][]board.Index {
	var out [][]board.Index
	for nodes := range a.Groups() {
		out = append(out, slices.Clone(nodes))
	}
	slices.SortFunc(out, func(x, y []board.Index) int { return int(x[0] - y[0]) })
	return out
}

// An index that follows changes says the same as one made afresh, and nodes of one
// group have the same residents.
func TestAlikeFollowsTheBoard(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	b := board.New([]interference.Source{"a"}, []string{"one"})
	for i := range 20 {
		b.Add(board.Node{Total: cluster.Resources{Cores: 2}, Machine: max(0, i-11) / 2}) // the last eight in pairs
	}
	kinds := [][]float64{{1}, {2}, {3}}
	follows := board.NewAlike(b)
	for step := range 500 {
		n := board.Index(random.IntN(20))
		switch there := b.Residents(n); {
		case random.IntN(10) == 0:
			b.SetReady(n, !b.Ready(n))
		case len(there) < 2:
			k := kinds[random.IntN(len(kinds))]
			b.Place(n, board.Resident{Handle: board.Handle(step), Size: cluster.Resources{Cores: 1}, Tolerated: k, Caused: k})
		default:
			if err := b.Remove(n, there[0].Handle); err != nil {
				t.Fatal(err)
			}
		}
		got, want := groups(follows), groups(board.NewAlike(b))
		if !slices.EqualFunc(got, want, slices.Equal[[]board.Index]) {
			t.Fatalf("step %d: %v, afresh %v", step, got, want)
		}
		for _, nodes := range got {
			for _, other := range nodes {
				if b.Caused(other)[0] != b.Caused(nodes[0])[0] || b.Ready(other) != b.Ready(nodes[0]) {
					t.Fatalf("step %d: %d and %d are not alike", step, other, nodes[0])
				}
			}
		}
	}
}
