// Package stat is the statistics of noisy measurements: medians, their
// intervals, and tests of paired windows. It knows floats only.
//
// # Theory
//
// A shared machine gives outliers on one side and drifts, so nothing here
// assumes a normal distribution. Intervals of a median come from order
// statistics (binomial, exact, no assumption), and intervals of a shift from Walsh
// averages (exact, assumes symmetry). A response to pressure is the exception: it
// is fitted as a hidden Markov chain with a prior, because what is known of its
// shape is worth more than freedom from assumptions (FitResponse). Ratios are
// taken of windows next to each other in time and treated on the log scale, where
// a ratio and its inverse are equally far from 1.
//
// Sources: Conover, Practical Nonparametric Statistics, 3rd ed., §3.2
// (median interval), §5.1 (rank sum), §5.7 (signed rank); Hodges and Lehmann
// 1963; Robertson et al. 1988, §1.2 (isotonic regression); Rabiner 1989, §III (sums
// over a chain); Lange, Little and Taylor 1989 (Student noise).
//
// A Summary carries warnings as values: too few samples for the confidence
// asked is something a reader should see, not a reason to stop. Empty input is
// a NaN with a warning. A NaN among the samples makes the result NaN.
//
// # Differences from the paper
//
// Delimitrou 2015 gives scores without error bars; this package exists because
// virtual machines are noisier than the paper's idle servers.
//
// A response was also fitted by isotonic regression with bootstrapped residuals.
// On the same ratios (11 of a curve, 4 at the crossing, noise of 2.8 % with
// outliers) two runs then differed by up to 38 points in one of ten cases instead
// of 15, and its 95 % intervals held the other run's crossing in 62 to 83 % of
// the cases instead of 90 to 100 %: a line between two noisy levels moves with
// every outlier, and resampling one or two ratios a level shows too little noise.
package stat
