package policy_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Beside a sensitive service, or beside two jobs that fill their CPU: on a live cluster
// a third one goes to the other two (decision 0015); the papers' sums send it to the
// service, on which it would do best itself.
func TestLeastHarmBeforeSpeed(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{"int"}, []string{"one"})
	total := cluster.Resources{CPUMHz: 10_000, MemoryMB: 10_000}
	service, crowd := b.Add(board.Node{ID: "n1", Total: total}), b.Add(board.Node{ID: "n2", Total: total})
	size := cluster.Resources{CPUMHz: 100, MemoryMB: 10}
	place := func(n board.Index, ref board.Ref, tolerated, caused float64) {
		b.Place(n, board.Resident{Ref: ref, Size: size, Tolerated: []float64{tolerated}, Caused: []float64{caused}})
	}
	place(service, 1, 20, 20)
	place(crowd, 2, 80, 95)
	place(crowd, 3, 80, 95)
	for _, name := range []string{"paragon", "quasar"} {
		d, err := policy.LookupSelector(name)
		if err != nil {
			t.Fatal(err)
		}
		for options, want := range map[policy.Options]board.Index{policy.Live(): crowd, {}: service} {
			ask := board.Ask{Size: size, Count: 1, Tolerated: []float64{80}, Caused: []float64{95}, Speed: []float64{100}, Target: 20, Forced: true}
			c := d.New(b, options).Select(b, &ask, policy.Draws(1))
			if len(c.Units) != 1 || c.Units[0].Node != want {
				t.Errorf("%s with %+v: %+v, want node %s", name, options, c.Units, b.Node(want).ID)
			}
		}
	}
}

// Two sensitive services on two machines, one of them beside a job that fills its CPU
// already: the next such job goes there, and the other service is spared.
func TestWhoIsHurtAlreadyIsHurtAgain(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{"int"}, []string{"one"})
	total := cluster.Resources{CPUMHz: 10_000, MemoryMB: 10_000}
	spared, hurt := b.Add(board.Node{ID: "n1", Total: total}), b.Add(board.Node{ID: "n2", Total: total})
	size := cluster.Resources{CPUMHz: 100, MemoryMB: 10}
	place := func(n board.Index, ref board.Ref, tolerated, caused float64) {
		b.Place(n, board.Resident{Ref: ref, Size: size, Tolerated: []float64{tolerated}, Caused: []float64{caused}})
	}
	place(spared, 1, 10, 20)
	place(hurt, 2, 10, 20)
	place(hurt, 3, 100, 95)
	for _, name := range []string{"paragon", "nh", "quasar"} {
		d, err := policy.LookupSelector(name)
		if err != nil {
			t.Fatal(err)
		}
		ask := board.Ask{Size: size, Count: 1, Tolerated: []float64{100}, Caused: []float64{95}, Speed: []float64{100}, Target: 20, Forced: true}
		c := d.New(b, policy.Live()).Select(b, &ask, policy.Draws(1))
		if len(c.Units) != 1 || c.Units[0].Node != hurt {
			t.Errorf("%s: %+v, want node %s", name, c.Units, b.Node(hurt).ID)
		}
	}
}
