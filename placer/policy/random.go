package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

var randomDescriptor = Descriptor{
	Name:    "random",
	Summary: "any node that fits, by the seed",
	New:     func() Policy { return random{} },
}

type random struct{}

// Place shuffles the feasible nodes. The same seed gives the same order.
func (random) Place(r Request) (cluster.Decision, error) {
	return place(r, randomDescriptor.Name, func(v *view) ranking {
		rng := rand.New(rand.NewPCG(r.Seed, uint64(len(v.options))))
		rng.Shuffle(len(v.options), func(i, j int) { v.options[i], v.options[j] = v.options[j], v.options[i] })
		return v.allGood("drawn by lot")
	})
}
