// Package engine is the one loop of nomad-placer:
//
//	evaluation → admit → profile → classify → place → rewrite → observe → adapt
//
// It drives whatever world it is given: a live Nomad (nomadapi), a simulated
// cluster, or the in-memory world of its own tests. "Simulated or real" is
// never an if: the engine sees a world through cluster.State, speaks to it
// through cluster.Planner, measures through cluster.Laboratory and
// cluster.Observer, and has no other clock than cluster.Clock.
//
// # What holds at every moment
//
//   - A held job is released at its hold deadline at the latest, under stock
//     rules if need be (WatchDeadlines runs on every replica, leader or not).
//   - A user's newer version always wins: every write is compare-and-set on the
//     version that was decided on, and a stale evaluation is dropped.
//   - The engine may be killed between any two lines. What was learned is in the
//     store before it is used; a profiling run has a deterministic id and is
//     adopted by the next leader; nothing else is kept in memory only.
//   - If a step fails, the job runs where stock Nomad puts it, with the reason
//     written where the user looks.
//
// # Adapting what runs
//
// The leader measures every released workload in windows that follow one another
// (pass), asks the configured adapter (package adapt) and carries out its answer, in
// this order: a best-effort neighbour leaves; more memory for an allocation that uses
// what it has, or more CPU for one that misses its target beside others, where the world
// can lend it some while it runs (decision 0016); another
// count, inside the performance block's own list; another node, only with move = true.
// Everything is careful:
//
//   - A number that cannot be right (negative, NaN, a counter that stands still, a
//     clock that stepped: trusted) is no number, and a workload with an unknown in
//     its window is left alone, as is one that was just started or deploys.
//   - A group with a scaling block of its own is its autoscaler's.
//   - Token buckets bound writes and moves over all workloads; each rests after a
//     change, and what was lent or grown is given back after ten minutes, later each
//     time that had to be undone.
//   - A loan takes a world seconds: it keeps no pass waiting, and the job counts as
//     under evaluation meanwhile. Memory in use is not asked back.
//   - What is begun is on record before it is begun, so that a new leader repeats
//     nothing. What was not done is on record with its reason.
//   - A best-effort workload that left a node may return when the one it left for is
//     gone, or is no better off without it.
//
// # Sources
//
// The order of the stages is Delimitrou 2015, §3.2 (Paragon, figure 3.1) and
// §4.2 (Quasar).
//
// # Differences from the paper
//
// Paragon profiles on dedicated machines. We prefer a node without residents
// but use a shared one when there is none, and say so in the decision. Paragon
// draws its two sources at random; we take those that tell most of the others in
// the training set, and fall back to a seeded draw without one. Paragon counts
// ten sources; we count every one that the training set knows and some node can
// press on (decisions 0004 and 0009). Quasar runs up to four copies side by side;
// the run at a second size waits for its node where no other like it is free, and
// scale-out is not measured (decision 0012).
//
// Quasar compares a service with its target in requests per second whatever comes
// in. Fewer requests than the target are no fault of ours: we judge a service by its
// latency, and one without a latency only when it is at its target (reached).
package engine
