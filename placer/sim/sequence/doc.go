// Package sequence studies how the seconds of a profiling run are best spent.
//
// Under every seed a newcomer is profiled by the protocol of the product (profiler.Measure)
// on a simulated machine, completed by the product's classifier from training rows that it is
// not among, and placed by the live policy on a simulated cluster. What it gets there, and what
// its neighbours lose, is compared with the best node: that is the regret, in points. The same
// profile is used again in four other clusters. Every way to spend the seconds (an arm)
// meets the same newcomer, clusters and noise, so differences are paired.
//
// Half of the newcomers are drawn (truth.Population), half are made of the measured rows that
// are shipped (truth.FromProfiles), with their pairs; a row is in no training set of its own.
//
// # What it does not show
//
// Only work that counts steadily is profiled: no service, no queue. A kernel starts in half a
// second. Allocations have cores of their own, so what is private to a core is no
// source here. The noise of a machine does not change while a run goes on, but for drift and
// bursts.
package sequence
