// Package probe measures running workloads: one file per way to do it, each
// ending in its descriptor, and one line in probes.go.
//
// A probe knows how to read a number; a Reach knows how to get at a workload.
// The same probes run inside the driver on the workload's own node (a local
// Reach) and in the placer over Nomad's API (a remote one).
//
//	prometheus   a counter of work, and a histogram of latencies, over HTTP
//	log          the last number a pattern captures in the task's output
//	exec         a number printed by a command inside the task
//	instructions what the processor completes for the task; on its node only
//	completion   that the task has finished, and when
//
// A reading is stamped with the middle of the time it took, or exactly with the
// moment the workload counted, where it says so: a prometheus sample by its time
// stamp, a log line by what the group named at captures (Unix seconds, or RFC
// 3339), if that is less than a minute ago. Then a workload that counts only now
// and then can be measured over short windows. What is not a
// usable number is an error, never a zero: ErrNotReady while there is no
// answer, ErrNoSuchData for an answer without the thing named, ErrBadNumber for
// NaN, infinite, negative or unreadable numbers, ErrUnsupported for what cannot be
// read here at all.
//
// # Differences from the paper
//
// Delimitrou 2015, §3.3 and §4.2 profile with hardware counters (instructions
// per second) and the application's own report for services. Virtual machines
// rarely have counters, so every probe but one reads the workload's own count of work.
package probe
