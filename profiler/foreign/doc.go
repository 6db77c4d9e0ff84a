// Package foreign reads public measurements of interference and heterogeneity
// into profiles and pairs, so that they can serve as training rows and as the
// expected values of tests. One file reads one data set; Formats is the list.
//
//	result, err := foreign.Read(ctx, "eth-ibench-parsec-memcached", foreign.Options{})
//	err = result.WriteDir("rows")
//
// # Theory
//
// Nothing is guessed. A number becomes a speed in isolation, a level of a ramp, a size
// or a pair only where the data say what was measured; a tolerated score is
// given only where the pressure is a share of the resource (a cut cache), or
// where the full pressure of a kernel provably costs less than the bound
// (Delimitrou 2015, §3.3.2: 100 where the bound is never broken). Everything
// else is unknown, with its reason in the note, and every measurement that is
// not taken is counted under the reason it was left out.
//
// A ratio of two groups of runs is the median of the ratios of all pairs, with
// the interval the rank-sum test does not reject (Hodges and Lehmann 1963;
// Conover, §5.4). Where the runs are too few to carry 95 % it has none.
//
// # Differences from the paper
//
// Our own profiles use fifteen kernels at many levels, interleaved with
// rest. Foreign data have one level (the released iBench has no intensity), or
// count pressure in co-runners; their runs with and without pressure lie apart.
package foreign
