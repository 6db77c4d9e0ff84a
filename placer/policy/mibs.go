package policy

import "github.com/nomad-placer/nomad-placer/placer/board"

// mibsSelector is the second half of MIBS: which workload of the queue is next, and
// on which node, is decided by the admission controller of that name (Chiang and
// Huang 2011, §3.2, algorithm 2); a queue of one is MIOS.
var mibsSelector = SelectorDescriptor{
	Name:         "mibs",
	Summary:      "as mios, for a queue: with the admission of that name, workloads that interfere least are paired",
	Paper:        "Chiang and Huang 2011, §3.2 (MIBS)",
	NeedsProfile: true,
	Parameters:   scoringParameters,
	New:          func(b *board.Board, o Options) board.Selector { return newMIOS(b, o) },
	reason:       "predicted to be fastest with these co-runners",
}
