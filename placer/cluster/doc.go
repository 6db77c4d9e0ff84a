// Package cluster is the vocabulary of placement: nodes, jobs, workloads,
// snapshots, decisions, and the interfaces through which the engine sees a
// world (a live Nomad, or a simulated one).
//
// It imports the words of the profiler and no world. A scheduler sees the world
// only through a State and speaks only through a Planner, as in Nomad's own
// scheduler; every choice leaves one Decision, which is what the command line,
// the UI, the dashboard, the log and the tests print.
package cluster
