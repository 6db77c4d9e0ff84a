// Command evaluate measures what the placer is for, on a real Nomad of this machine
// (one server and three clients, as the demo has), and writes the report of it.
//
//	make evaluate
//	make evaluate QUICK=1
//	make evaluate EVALUATE='-report'
//
// What exists in the folder of results is not measured again, so a run that was
// interrupted goes on where it was. Run it on a machine that does nothing else.
//
// # What is measured
//
//   - Every application alone on the fastest node: its speed, its CPU time and its
//     memory, three times, one pass after the other; the one in which a unit of work took
//     the least CPU time counts. Targets of rates and deadlines are shares of that speed
//     (apps.go), a service is asked for what takes a quarter of a CPU, and a latency may
//     be twice what it is alone, so that they are reachable on the machine that is
//     measured on, by all jobs together.
//   - Each job alone on the idle cluster is held, profiled and decided on by the
//     placer, and taken away: nothing is profiled while others are measured.
//   - Repetitions of the comparison, all arms in turn, each repetition begun with another
//     and in the other direction: all jobs are submitted at once, warm up, and are measured
//     over one window by their own probes; batch jobs from start to end. The placer decides
//     anew each time, by the same profiles: what production teaches in a turn is forgotten
//     after it.
//   - The arms (arms.go) take the placer apart: placement without adaptation, adaptation of
//     Nomad's placement, no profile of the job itself, no scores, and another policy. Where
//     the adapter is another, the agents are started anew.
//   - Sizes: every job with a scale block alone, at each of its sizes, on the two
//     fast nodes, and what the placer chose on the idle cluster.
//   - Adaptation, once: the items of a worker become twice as large; one of our kernels
//     is planted next to another job; and then nothing changes any more, the items stay
//     large and the kernel goes on wherever it was sent, while it is counted what still
//     is done. The calm begins a minute after the last cure.
//
// # The stock side
//
// Stock Nomad gets the jobs as a user would submit them who has measured them: each
// task reserves the CPU time and the memory it used alone, for the speed that its
// target asks for, and a fifth more; the count of a job that needs several
// allocations is its share of one allocation's speed and a fifth more, rounded up.
// Best-effort jobs reserve 100 MHz. The placer gets the same jobs with the same
// reservations, count 1, and their performance block. The agent runs in every arm.
//
// # What counts
//
// A rate is met at 98 % of its number: an open-loop load at exactly the target reads
// a little under it at the edges of a window. A latency is judged over the whole
// window. A job that gives no number missed its target. Intervals are Student's, over
// repetitions; those of one run share a machine and a day, so they say nothing of
// others.
//
// A step of a size is a place in the job's own list of sizes, by least resources.
//
// An action is detected when it is on the placer's record; a trouble is cured at the
// end of the first window of two seconds in which the target is reached again.
//
// # What is not real
//
// The three nodes are control groups of one machine (decision 0006): caches, memory
// and disk are one, and with two CPUs the second fast node and the slow one share a
// CPU, which the placer knows (node meta placer_machine) and Nomad cannot. The
// loads run next to their servers, in the same allocation. The server, the clients, the
// agent and this command run on the same CPUs, on both sides; what does not belong to
// the cluster has a 16th of its CPU weight. The CPUs are kept awake, since those of a virtual
// machine that halt come back late.
package main
