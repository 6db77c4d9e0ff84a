// Package interference is the vocabulary of shared-resource interference: the
// sources, the scores on the percent scale, and what is known of a workload.
//
// A source of interference (SoI) is one shared resource of a machine. For each
// source a workload has two sensitivity scores (Delimitrou 2015, §3.3.2 and
// chapter 5):
//
//   - tolerated: the highest pressure on the source, in percent, that the
//     workload tolerates before it loses its slowdown bound (5 % by default).
//     High means robust.
//   - caused: the pressure the workload itself puts on the source, in percent.
//     High means aggressive.
//
// # Differences from the paper
//
// The text records a caused score as the kernel intensity at which the kernel
// loses 5 %, which is low for an aggressive workload, yet calls high scores
// aggressive. We store 100 minus that intensity (as the companion paper does),
// so that tolerated minus caused is the headroom of both directions D1 and D2.
//
// A score that was not measured, or could not be distinguished from noise, is Unknown.
// Unknown is not zero: arithmetic on it must be asked for explicitly.
//
// The package imports nothing but the standard library.
package interference
