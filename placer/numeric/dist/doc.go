// Package dist describes positive durations by known distributions: it fits
// them, and asks how likely it is that something which has lasted a while ends
// soon, and that several of many such things do.
//
// Theory in five lines, with S = 1 − F the survival function:
//
//	ends within t at age a:   1 − S(a+t)/S(a)
//	the same, age unknown:    ∫₀ᵗ S(u) du / mean        (Ross 2014, §7.5)
//	fit: maximum likelihood each; the least distance max|F − F_n| wins
//	at least r of n events with chances p: Poisson binomial tail, O(n·r) exactly
//	(Hong 2013, §2); for many, a refined normal (§3.3) or a shifted Poisson
//	distribution with the same mean and variance (Röllin 2007)
//
// Everything here is floats in one unit of the caller's choice.
//
// # Differences from the papers
//
//   - Delimitrou 2015, §6.4 names one fitted family ("looked normal"). Which one
//     fits depends on the pool, so four are tried. The normal is cut off at 0.
//     Samples that none fits, such as of two kinds of jobs, can describe themselves.
//   - The Kolmogorov-Smirnov distance ranks the fits; it is not used as a test,
//     because the parameters come from the same samples.
package dist
