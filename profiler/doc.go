// Package profiler measures how sensitive a workload is to interference.
//
// A run watches one live workload through a probe while interference kernels
// press on one shared resource at a time, and leaves a profile.Profile: the
// performance alone, and per source the pressure the workload tolerates and
// the pressure it causes. Measure is the whole protocol; it talks to the
// machine only through Subject (the workload), Bench (the kernels) and Clock,
// so the same code runs inside the driver and against a simulated machine.
//
// # Theory
//
// Tolerated is the highest intensity x of a kernel at which, and below which,
// the workload keeps 95 % of its performance alone; caused is 100 − x*, where
// x* is the lowest intensity at which the kernel itself loses 5 % because the
// workload is there (Delimitrou 2015, §3.3.2 and chapter 5). Both are found by
// bisection on a grid of 5 points. Every comparison is made of windows without
// and with pressure that lie next to each other in time, in the order ABBA, so
// that a linear drift cancels; the statistic is a median of paired ratios.
//
// A level is judged after 2, 4, 7, 11 and 15 pairs: early against the noise of
// neighbouring windows under equal conditions (exact rank-sum test), later by
// the exact signed-rank test. The error spent over all looks at a level stays
// below 5 % on each side. What is not decided is undecided: the interval of a
// score is the bracket between the highest level judged clean and the lowest
// judged a loss, and a score whose bracket is too wide is unknown.
//
// # Differences from the paper
//
//   - The paper sweeps 0 to 100 in 10 ms and reads hardware counters. Rates of
//     requests or rows cannot be read in 10 ms, and virtual machines have no
//     counters; we hold a level for windows of 250 ms or longer and bisect,
//     which assumes that more pressure never helps. A decided contradiction to
//     that is reported as a warning.
//   - The paper gives a score without an error. We give an interval, and leave
//     a score unknown rather than guess.
//   - The text stores a caused score as the intensity at which the kernel loses
//     5 %; we store 100 minus it (see package interference).
//   - A kernel on the workload's own CPUs takes its intensity with a high CPU
//     weight while the tolerated score is measured, and competes with the
//     default weight for the caused score: with the high one it would not notice
//     what the workload takes, with the default one it could not press in full.
//   - A service under open-loop load has a queue after pressure or a pause; the
//     next window waits, within bounds, until its goodput is back.
//   - A workload that gets faster under pressure counts as not slowed; the
//     measured ratio is recorded as it was, above 1.
package profiler
