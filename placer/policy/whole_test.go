package policy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
)

// Whatever a policy finds at once, the group is placed as far as there is room,
// nowhere else, and all or nothing where it is a gang.
func TestWholeIsComplete(t *testing.T) {
	t.Parallel()
	for _, d := range policy.Selectors() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				rng := rand.New(rand.NewPCG(seed, 21))
				shape := boardtest.Shape{Nodes: 1 + rng.IntN(12), Cores: 2 + rng.IntN(5), Configurations: 2, Columns: 3, Load: rng.Float64(), Caused: 50}
				b := boardtest.Random(rng, shape)
				a := boardtest.Ask(rng, shape)
				a.Count, a.Forced, a.Gang = 1+rng.IntN(12), true, seed%5 == 0
				a.Allowed = func(n board.Index) bool { return n%4 != 1 }
				if seed%2 == 0 {
					a.Target = 100 * float64(a.Count)
				}
				want := 0
				for i := range b.Len() {
					if n := board.Index(i); a.Allowed(n) {
						want += b.Room(n, a.Size, a.Count)
					}
				}
				want = min(want, a.Count)
				if a.Gang && want < a.Count {
					want = 0
				}
				c := policy.Whole(d.New(b, policy.Options{}), nil).Select(b, &a, policy.Draws(seed))
				if err := policytest.CheckChoice(b, &a, c); err != nil || len(c.Replicas) != want {
					t.Fatalf("seed %d: %d units, want %d (gang %v), %v", seed, len(c.Replicas), want, a.Gang, err)
				}
			}
		})
	}
}

// The rules of a group bound what a node takes, whatever the board has room for.
func TestWholeKeepsRoom(t *testing.T) {
	t.Parallel()
	b := boardtest.Random(rand.New(rand.NewPCG(1, 1)), boardtest.Shape{Nodes: 4, Cores: 8, Configurations: 1, Columns: 1})
	a := boardtest.Ask(rand.New(rand.NewPCG(1, 2)), boardtest.Shape{Configurations: 1, Columns: 1})
	a.Count, a.Forced = 8, true
	for _, d := range policy.Selectors() {
		c := policy.Whole(d.New(b, policy.Options{}), func(board.Index) int { return 1 }).Select(b, &a, policy.Draws(3))
		seen := map[board.Index]bool{}
		for _, u := range c.Replicas {
			if seen[u.Node] {
				t.Errorf("%s: two on node %d", d.Name, u.Node)
			}
			seen[u.Node] = true
		}
		if len(seen) != 4 {
			t.Errorf("%s: %d of four nodes", d.Name, len(seen))
		}
	}
}
