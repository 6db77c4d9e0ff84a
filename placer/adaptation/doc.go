// Package adaptation corrects what runs: it measures, lets an adapter judge, and
// carries out what may be done.
//
// The leader measures every released workload in windows that follow one another
// (Pass), asks the configured adapter (package adapt) and carries out its answer, in
// this order: a best-effort co-runner leaves; an allocation that uses all its memory gets
// more, or one that misses its target next to co-runners gets more CPU, where the world
// can resize it while it runs (decision 0016); another count, of those in the performance
// block; another node, only with move = true. Everything is careful:
//
//   - A number that cannot be right (negative, NaN, a counter that does not move, a
//     clock that stepped: trusted) is no number, and a workload with an unknown in
//     its window is left alone, as is one that was just started or deploys.
//   - A group with a scaling block of its own is its autoscaler's.
//   - Token buckets bound writes and moves over all workloads; each rests after a
//     change, and what was transferred or grown is given back after ten minutes, later each
//     time that had to be undone.
//   - A transfer takes a world seconds: no pass waits for it, and the job counts as
//     under evaluation meanwhile. Memory in use is not asked back.
//   - What is begun is on record before it is begun, so that a new leader repeats
//     nothing. What was not done is on record with its reason.
//   - A best-effort workload that left a node may return when the one it left for is
//     gone, or is no better off without it.
//
// Two types do this, and share a third:
//
//   - Controller corrects what runs, one term as leader after the other. Its lock
//     guards which term is the present one.
//   - Rebalancer moves what would be better elsewhere, when an operator asks for it, in
//     a term of its own.
//   - A term is what either of them remembers, and writes by. It belongs to one
//     goroutine; its lock guards what others read of it: counts, closed nodes and
//     resizes that have ended.
//
// # A pass, step by step
//
//  1. controller.go, Pass: the jobs that run; what ended since the last pass is heard.
//  2. measure.go: one window of the workloads that are due, side by side. plausible.go
//     drops numbers that cannot be right.
//  3. scene.go: the board, and what the adapter learns of each workload. achieved.go says
//     what it reached, deadline.go when its work must end.
//  4. evict.go and resize.go: what needs no adapter. Evictions end and transferred CPU is
//     taken back when their reason is gone; where an allocation has just come, those
//     with a target on its machine get unreserved CPU.
//  5. act.go: the adapter's actions, by evict.go, resize.go, count.go and move.go.
//  6. record.go: each action is on record, with its limits (bucket.go).
//
// # Life of an action
//
//	wanted ─▶ begin ─▶ under way, on record ─▶ end ─▶ done: rests restAfterAction
//	  │         │               │                └──▶ its error, once in a while
//	  │         │               └ the leader dies: under way, rests all the same
//	  │         └─ resting, or no token: not done, nothing written
//	  └─ not allowed: refused, on record once in a while; the next kind is tried
//
// What a Rebalancer moves goes the same way: it is wanted at most once for each workload.
// A resize is under way while passes go on; a later pass hears how it ended.
//
// # Differences from the paper
//
// Quasar compares a service with its target in requests per second whatever comes
// in. Fewer requests than the target are no fault of ours: we judge a service by its
// latency, and one without a latency only when it is at its target (reached).
package adaptation
