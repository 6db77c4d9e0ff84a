// Package profiling says what is known of a workload: it measures what the store does not
// have, and estimates what was not measured.
//
//   - Lab finds nodes, runs a copy next to kernels and in isolation, merges the runs and
//     stores the profile. It owns what is under way, with its lock.
//   - Estimator is what was learnt from all workloads so far: models, the sources
//     that count, and which sources are most informative. It owns its lock.
//   - cache keeps the profiles that a burst of admissions reads.
//
// # Life of a profile
//
//	stored, complete ───────────────────────────────────────────┐
//	    ▲ Stored                                                ▼
//	workload ──nothing, or a size is missing──▶ waiting ──▶ running ──▶ merged ──▶ stored, refit
//	                                             │  ▲ Poll     │            │
//	        no node can, hold deadline is near   ▼  │          ▼            ▼
//	                                           error└───── cut short    used once, with a warning
//
// A node profiles one workload at a time, and runs on one machine follow each other.
// Ids of runs are deterministic, so that the next leader adopts a run under way.
package profiling
