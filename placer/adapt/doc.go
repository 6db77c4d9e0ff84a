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
// HCloud (§8.3.3) corrects where the workload is first: a larger allocation, if its node has room.
//
// KFLR and PP-RTTE (Sampaio): work that must finish is judged by when it will end, from
// filtered slowdowns and the work left (placer/predict/deadline). Where tasks hold caps,
// as in the simulated world, Algorithm 1 raises caps, moves the task or its co-runners
// to the node that does most per watt, and empties nodes below half their cpu.
//
// # Differences from the paper
//
// PP-RTTE: the listing is mended (pprtte.go); an alarm never lowers a cap; a node is
// emptied as a whole or not, and never onto one that sleeps; a co-runner that will be
// late itself is not moved for another one; a task that was moved is not judged for two
// samples. Live there are no caps: late work is helped as work below its target is, and
// starts anew elsewhere only where all of it can still be done in time.
//
// HCloud: how much larger is not said. An allocation gets as much more CPU as it falls short by, up
// to twice what it had at first; it is not moved.
//
// Quasar:
//
// A workload rests after a change before it is judged again, and what it holds is
// capped (Options.MaxCores): the text sketches cost and priority only. Eviction
// follows priority, lowest first, and takes best-effort work only. With
// Options.YieldFirst, as a cluster that people use has it, a best-effort co-runner leaves
// before anything else is tried, the one that exceeds the tolerance most first, one of a
// node at a time: best effort has no claim to more than what is left over.
package adapt
