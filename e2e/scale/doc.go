// Command scale measures the placer on a large cluster: a real Nomad server,
// thousands of light nodes (e2e/nomad/lightnodes: they register, heartbeat and
// report allocations, and run nothing), one nomad-placer agent and its admission
// proxy, all on this machine. Jobs of known workloads, which need no profiling, go
// through the placer: through the proxy, or, with -pool, by naming the hold pool; in
// the same run as many jobs of the same sizes go straight to stock Nomad. Half of the
// jobs of both are services, half batch. The two take turns, because a shared machine
// is not the same from one minute to the next.
//
//	make scale [NODES=1000] [ALLOCATIONS=5000] [JOBS=500] [ROUNDS=6] [SCALE='-profile -trouble']
//
// What is counted (see Result): jobs per second from the first submission to the
// last allocation running, as a share of stock's in the same round, with its median and
// its interval over the rounds (Student's t), and whether it falls from the first half
// of the rounds to the second; the share of allocations on a node the decision
// wanted, memory and CPU of agent and server, evaluations blocked and waiting
// over time, and how often a job was written. Targets go by the cluster's size (see
// targetsOf), and so does the memory limit of the agents.
//
// Two parts come after the rounds, and not into their numbers. With -profile each side
// has a turn more in which server and agent are profiled: the report says where their CPU
// time goes. With -trouble jobs come for a minute more while others are updated, some
// nodes are drained, a tenth of the nodes fail one after another, and the agent that leads
// is killed while another one is there. Then every job of the run has to be running as its
// user asked last, exactly as often as Nomad says, and nowhere else by what the light
// nodes say; the command fails otherwise. Batch jobs on a drained node are ended by Nomad
// itself as the drain is over, and counted apart.
//
// # What is not real
//
// Light nodes run nothing, so nothing is observed and no batch job ends by itself: the
// jobs have the target best_effort and no probe. All programs share the machine's CPUs,
// so the light nodes' and the writers' own work is in the numbers of both sides.
package main
