// Package adapt corrects placements by what workloads really reach: what to do
// when one falls below its target, wastes what it holds, straggles or changes its
// phase. It is board and observations in, actions out; a world carries them out.
//
// # Theory
//
// Reactive (Delimitrou 2015, §4.3.4): a workload below its target for three
// windows changed, was misclassified or misplaced. It is classified anew where
// it is, then adjusted in conservative order: grow on the nodes it holds,
// evicting best-effort work there if needed, and only then more nodes or another
// one. Proactive: every ten minutes a fifth of the workloads is probed. Stragglers
// (§4.3.5) are allocations half as fast again as the median of their group.
// Paragon (§3.3.5) does less: it stops adding to a node whose profile is wrong.
//
// # Differences from the paper
//
// A workload rests after a change before it is judged again, and what it holds is
// capped (Options.MaxCores): the text sketches cost and priority only. Eviction
// follows priority, lowest first, and takes best-effort work only. With
// Options.YieldFirst, as a cluster that people use has it, a best-effort neighbour
// leaves before anything else is tried, the most harmful first, one of a node at a
// time: what is left over is all that it was promised.
package adapt
