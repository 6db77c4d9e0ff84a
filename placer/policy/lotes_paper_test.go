package policy_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

// Tran 2016, §5.1: r = (.2, .1), p = .5, C = (.5, .5) and (.25, .9): alignments .15
// and .14, work .15: the first machine, by 0 against −.01.
func TestTetrisScore(t *testing.T) {
	t.Parallel()
	need := [2]float64{.2, .1}
	first, second := lotes.TetrisScore(need, [2]float64{.5, .5}, .5), lotes.TetrisScore(need, [2]float64{.25, .9}, .5)
	if first < -1e-12 || first > 1e-12 || second < -.01-1e-12 || second > -.01+1e-12 {
		t.Errorf("scores %v and %v, want 0 and -0.01", first, second)
	}
	b := board.New(nil, []string{"one", "two", "largest"})
	for i, c := range [][2]int{{500, 500}, {250, 900}, {1000, 1000}} {
		b.Add(board.Node{ID: cluster.NodeID(rune('a' + i)), Configuration: i, Total: cluster.Resources{CPUMHz: c[0], MemoryMB: c[1]}})
	}
	b.SetReady(2, false)
	a := board.Request{Size: cluster.Resources{CPUMHz: 200, MemoryMB: 100}, Count: 1, Expected: 30 * time.Minute}
	d, err := policy.LookupSelector("tetris")
	if err != nil {
		t.Fatal(err)
	}
	if c := d.New(b, policy.Options{}).Select(b, &a, rand.New(rand.NewPCG(1, 1))); len(c.Replicas) != 1 || c.Replicas[0].Node != 0 {
		t.Errorf("%+v", c)
	}
}

// Ibid., §4.3.1: a class goes where the plan has it; only when all of that is full,
// anywhere; then it waits.
func TestLoTESPrefersItsPlan(t *testing.T) {
	t.Parallel()
	b := board.New(nil, []string{"slow", "fast"})
	for i := range 40 {
		b.Add(board.Node{ID: cluster.NodeID(rune('a' + i)), Configuration: i / 20, Total: cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}})
	}
	lotes.On(b).SetModel(lotes.Model{Declared: true, Classes: []lotes.ModelClass{
		{Share: 1, Size: lotes.Size{CPUMHz: 1000, MemoryMB: 1000}, Rate: []float64{1, 10}}, {Share: 1, Size: lotes.Size{CPUMHz: 1000, MemoryMB: 1000}, Rate: []float64{1, 1}},
	}})
	d, err := policy.LookupSelector("lotes")
	if err != nil {
		t.Fatal(err)
	}
	s, random := d.New(b, policy.Options{}), rand.New(rand.NewPCG(1, 1))
	a := board.Request{Size: cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}, Count: 1, Class: 1}
	var kinds []int
	for i := range 41 {
		c := s.Select(b, &a, random)
		if len(c.Replicas) == 0 {
			break
		}
		kinds = append(kinds, b.Node(c.Replicas[0].Node).Configuration)
		b.Place(c.Replicas[0].Node, board.Resident{Handle: board.Handle(i), Size: a.Size, Class: 1})
	}
	// λ = 40/0.55: of class 1 there are to be 3.6 on the fast machines, none on others.
	if len(kinds) != 40 || kinds[0] != 1 || kinds[1] != 1 || kinds[2] != 1 {
		t.Errorf("went to configurations %v, want the fast ones first and forty in all", kinds)
	}
}
