// Package stat is the statistics of noisy measurements: medians, their
// intervals, and tests of paired windows. It knows floats only.
//
// # Theory
//
// A shared machine gives outliers on one side and drifts, so nothing here
// assumes a normal distribution. Intervals of a median come from order
// statistics (binomial, exact, no assumption), intervals of a shift from Walsh
// averages (exact, assumes symmetry), and of any other statistic from the
// bootstrap (approximate). Ratios are taken of windows next to each other in
// time and treated on the log scale, where a ratio and its inverse are equally
// far from 1.
//
// Sources: Conover, Practical Nonparametric Statistics, 3rd ed., §3.2 (sign
// test, median interval), §5.7 (signed rank); Hodges and Lehmann 1963; Efron
// and Tibshirani 1993, §13.3 (percentile interval); Robertson et al. 1988, §1.2
// (isotonic regression).
//
// A Summary carries warnings as values: too few samples for the confidence
// asked is something a reader should see, not a reason to stop. Empty input is
// a NaN with a warning. A NaN among the samples makes the result NaN.
//
// # Differences from the paper
//
// Delimitrou 2015 gives scores without error bars; this package exists because
// virtual machines are noisier than the paper's idle servers.
package stat
