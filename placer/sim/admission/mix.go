package admission

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var mixDescriptor = Descriptor{
	Name:       "mix",
	Summary:    "as mibs, with every workload of the queue tried as the first of it",
	Paper:      "Chiang and Huang 2011, §3.2 (MIX, algorithm 3)",
	Parameters: mixParameters.list,
	New: func(b *board.Board, o Options, _ *rand.Rand) (Controller, error) {
		return newQueueing(b, o, mixParameters, maxMixed, (*queueing).mixed)
	},
}

var mixParameters = parameterList{controller: "mix", list: queueParameters}

// maxMixed bounds what MIX assigns together: its cost is the cube of that.
const maxMixed = 256

// mixed tries every workload of the window as the first and keeps the assignment of
// most workloads, of these the one with the best score in sum. Cost: as many batches
// as the window is long.
func (c *queueing) mixed(window []*waiting) []planned {
	var best []planned
	least := 0.0
	for i := range window {
		order := append([]*waiting{window[i]}, window[:i]...)
		plan := c.batch(append(order, window[i+1:]...))
		sum := 0.0
		for _, p := range plan {
			sum += p.score
		}
		if best == nil || len(plan) > len(best) || len(plan) == len(best) && sum < least {
			best, least = plan, sum
		}
	}
	return best
}
