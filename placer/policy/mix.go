package policy

import "github.com/nomad-placer/nomad-placer/placer/board"

// mixSelector is the second half of MIX: the admission controller of that name tries
// every workload of the queue as the first (Chiang and Huang 2011, §3.2,
// algorithm 3); a queue of one is MIOS.
var mixSelector = SelectorDescriptor{
	Name:         "mix",
	Summary:      "as mibs, but every workload of the queue is tried as the first of it",
	Paper:        "Chiang and Huang 2011, §3.2 (MIX)",
	NeedsProfile: true,
	Parameters:   scoringParameters,
	New:          func(b *board.Board, o Options) board.Selector { return newMIOS(b, o) },
	reason:       "predicted to be fastest with these co-runners",
}
