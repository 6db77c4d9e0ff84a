// Package nomadapi is the live world: it lets the engine see and change a real
// HashiCorp Nomad cluster through the interfaces of placer/cluster, and knows
// nothing of policies, classifiers or the engine.
//
// What it does, by file:
//
//   - jobs.go, snapshot.go: State. Lists are the truth. While watch.go's event
//     stream is open, events.go folds its events into what was listed, so that an
//     answer costs no request; Nomad's stream is not durable, so the lists are
//     read again when it was cut and every half minute (decision 0014).
//   - apply.go, rewrite.go, page.go: Planner. A job is held in a node pool without
//     nodes; applying a plan rewrites the raw job JSON and registers it again,
//     compare-and-set on its JobModifyIndex, with its source text re-sent.
//   - overwritten.go: a registration is looked at once it was made.
//   - size.go: the size of a group, written with the plan and given back by strip.
//   - lab.go, labjob.go, labmemory.go: Laboratory. A profiling run is an ordinary batch job: the
//     user's group, once, with a task of the ibench driver.
//   - transfer.go: a running allocation gets more by another one that hands over what it
//     holds (decision 0016).
//   - observe.go, reach.go: Observer. The same probes as on the node, reached over
//     Nomad's client API.
//   - leader.go, pool.go, pressure.go: leadership by a Variables lock, the hold
//     pool, and node pressure as dynamic node metadata.
//
// # Theory
//
// A decision becomes one hard constraint with a shortlist of nodes, and nested
// affinities inside it. Nomad scores only max(100, count) feasible nodes once
// affinities are present, so an affinity alone misses the wanted node on a large
// cluster. With L buckets of equal weight, the k-th listing all nodes that score
// at least k/L, Nomad's affinity score is linear in ours (matched weight over
// total weight). Nothing here is taken from a paper: Delimitrou 2015, §3.4, ends
// at "the list of acceptable servers"; this package is how Nomad is made to
// obey that list.
//
// # Fencing
//
// The leader's lock is not a fence. Every write of a user's job carries the
// JobModifyIndex it was decided on, so that Nomad refuses the write of a leader that
// lost its lock, or over a user who was faster, and Apply says cluster.ErrStale. Nomad
// compares before it writes, and not again: overwritten.go puts back what came between
// the two (decision 0044).
//
// # Differences from the paper
//
// Paragon places the moment it decides. Here Nomad's scheduler places, inside the
// shortlist, and may choose a lower-ranked node when resources moved meanwhile.
// Chosen nodes are therefore reserved in snapshots until their allocations are
// seen, for a minute at most.
package nomadapi
