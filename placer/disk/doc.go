// Package disk is the ledger of disk bandwidth: how much of each node's disk is promised,
// and whether more may be. Nomad counts the space of a disk and not what it moves per second.
//
//	rated, err := disk.Rated(node.Meta)  // what the disk does, as the operator says
//	account := disk.NewAccount(rated)
//	account.Add(resident)                // what a performance block asks for, one by one
//	if !account.Takes(newcomer) { … account.Refusal(newcomer) … }
//
// It knows neither nodes nor jobs: placer/cluster keeps an account for each node out of a
// snapshot, so that a promise begins with the decision, is there while the decision is
// written and not seen yet, and ends with the allocation.
//
// # Theory
//
// Workload i needs the bandwidth b_i and keeps its bound on latencies up to the part MB_i of
// what the node's disk does. A node has the least of those on it, MB_s = min MB_i (eq. B.1):
// what may be promised shrinks with what is there. It takes one more where
//
//	Σ b + b_i < (min(MB_s, MB_i) − Δ_B) · rated
//
// and, where nothing is promised yet, takes any: else what needs more than its own limit
// would be nowhere. Δ_B is left for moving data.
//
// Source: Delimitrou 2015, §B.4.1 and §B.4.2 (Algorithm 1, condition x).
//
// # Differences from the text
//
// The text packs by predicted demand; a promise is what the job's author says, usually a high
// percentile of its demand, so that it holds whatever the time of day. Bandwidths are in MB/s
// (10^6 bytes) throughout: that is what people write.
package disk
