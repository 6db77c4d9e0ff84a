// Command scale measures the placer on a large cluster: a real Nomad server,
// thousands of light nodes (e2e/nomad/lightnodes: they register, heartbeat and
// report allocations, and run nothing), one nomad-placer agent and its admission
// proxy, all on this machine. Jobs of known workloads, which need no profiling, go
// through the placer: through the proxy, or, with -pool, by naming the hold pool; in
// the same run as many jobs of the same sizes go straight to stock Nomad. Half of the
// jobs of both are services, half batch. The two take turns, because a shared machine
// is not the same from one minute to the next.
//
//	make scale [NODES=1000] [ALLOCATIONS=5000] [JOBS=500] [ROUNDS=6]
//
// What is counted (see Result): jobs per second from the first submission to the
// last allocation running, as a share of stock's in the same round, with its median and
// its interval over the rounds (Student's t), and whether it falls from the first half
// of the rounds to the second; the share of allocations on a node the decision
// wanted, memory and CPU of agent and server, evaluations blocked and waiting
// over time, and how often a job was written.
//
// # What is not real
//
// Light nodes run nothing, so nothing is observed: the jobs have the target
// best_effort and no probe. All programs share the machine's CPUs, so the light
// nodes' and the writers' own work is in the numbers of both sides.
package main
