// Package validate measures whether the interference kernels of this machine
// do what they say, and writes a report of it: the command
// `nomad-driver-ibench validate`.
//
// # Questions
//
//   - Linearity: does the pressure follow the intensity? (linearity.go)
//   - Peak: does intensity 100 reach what another program reaches on
//     the same CPUs? (yardsticks.go, external.go)
//   - Victims: does a workload that lives on the resource lose more, the higher
//     the intensity, and little at other sources? (victims.go)
//   - Displacement: how much of a cache or TLB does the kernel really take, as
//     seen by a probe that looks for its own lines again? (displacement.go)
//   - Cross-talk: how much does a kernel at 100 slow down the kernel of another
//     source? (crosstalk.go, exceptions.go)
//
// # How it measures
//
// Each answer is made of cells, one per source or pair; a cell that is measured
// is one file in the state directory, so an interrupted run goes on where it
// was. Every comparison is of windows next to each other in time, in the order
// off, on, on, off; the median of the paired ratios counts, and its interval is
// free of assumptions (profiler/stat). Levels are visited in several passes, up and
// down, so that a change of the machine, or of the host of a virtual one, is no
// bend of a curve. A level off the line, and a pair over the target without a
// reason known beforehand, is measured again, and all measurements count: a
// disturbance does not happen again, an effect does. Victims and yardsticks are workers of
// this package (folder worker), in processes of their own, pinned, counting into a page shared with
// this process, so that reading them costs them nothing.
//
// # Source
//
// Delimitrou 2015, §5.4: Fig. 5.2 (impact against intensity), Fig. 5.3 (two
// applications under growing pressure), Fig. 5.4 (pairs of sources). The
// published points in published.go are read off those figures, to about 3
// points.
//
// # Differences from the paper
//
//   - Levels are held and not swept in 10 ms: see driver/ibench.
//   - The paper reads hardware counters; here impact is what the kernel
//     achieved, what a victim lost, and what a probe found displaced, as
//     virtual machines have no counters.
//   - Fig. 5.4 shows one pair on one core; here all pairs are measured on two
//     CPUs where the machine has two: on hardware threads of one core for two
//     sources private to a core, on different cores otherwise.
//   - The victims are small loops of our own, not mcf and memcached: each lives
//     on one resource, so that a loss has one cause.
package validate
