// Package profiler measures how sensitive a workload is to interference.
//
// A run watches one live workload through a probe while interference kernels
// press on one shared resource at a time, and leaves a profile.Profile: the
// performance in isolation, and per source the pressure the workload tolerates and
// the pressure it causes. Measure is the whole protocol; it talks to the
// machine only through Subject (the workload), Bench (the kernels) and Clock,
// so the same code runs inside the driver and against a simulated machine.
//
// # Theory
//
// Tolerated is the highest intensity x of a kernel at which, and below which,
// the workload keeps 95 % of its performance in isolation; caused is 100 − x*, where
// x* is the lowest intensity at which the kernel itself loses 5 % because the
// workload is there (Delimitrou 2015, §3.3.2 and chapter 5).
//
// A visit of a level is up to three windows: the workload without pressure, both together,
// and the kernel by itself with the workload paused. The window together serves both
// ratios, except on shared CPUs, where the kernel presses with a high weight for
// one and competes with the default weight for the other, and for services, which
// catch up after a pause. Visits come in pairs, in mirrored order, so that a
// linear drift shows with opposite signs. From all ratios of a source
// stat.FitResponse gives the probability of every crossing of the bound; the
// score is its median, and the interval holds 95 % of it, widened to the grid of
// 5 points. The next levels lie at the middle and to both sides of what is still
// possible, until 8 points are left or the time is over; a sweep covers the curve
// before. A score whose interval is wider than half of the scale is unknown.
//
// # How good it is
//
// Ten planted responses (knees, steps, flat, figure 5.3 of the paper), each under
// a drift of 2 % and bursts that take a fifth of the speed, with noise per window
// of 250 ms as given, every run twice. Seconds are for both scores of a source;
// d is the difference of two runs in points where both know the score. Means of
// both scores and six seeds; `go test ./profiler -run 'TestStudy$' -v -study-seeds 6`
// prints every response:
//
//	method  seconds  noise  known  d: median  90 %   interval holds: repeat  truth
//	search      16     1 %   99 %        1.3   5.3                      97 %   99 %
//	search      19     1 %  100 %        0.9   4.3                      98 %   99 %
//	search      16     2 %   97 %        1.7   5.9                      96 %  100 %
//	search      20     2 %   98 %        1.4   5.3                      98 %  100 %
//	search      17     5 %   76 %        3.0   9.4                      96 %  100 %
//	search      22     5 %   82 %        3.0   9.4                      91 %   98 %
//	sweep        9     1 %   95 %        2.1  11.3                      90 %   98 %
//	sweep       10     1 %   97 %        2.0   7.2                      98 %  100 %
//	sweep       12     1 %  100 %        1.5   5.7                      99 %  100 %
//	sweep       16     1 %   99 %        1.0   4.7                      97 %  100 %
//	sweep       19     1 %  100 %        0.9   4.2                      98 %  100 %
//	sweep        9     2 %   84 %        2.5  12.6                      96 %  100 %
//	sweep       11     2 %   92 %        3.2  10.1                      96 %  100 %
//	sweep       13     2 %   96 %        2.4   8.6                      96 %  100 %
//	sweep       16     2 %   98 %        1.9   8.8                      96 %  100 %
//	sweep       20     2 %   98 %        1.4   7.3                      97 %  100 %
//	sweep        9     5 %   56 %        6.9  22.0                      90 %   99 %
//	sweep       11     5 %   66 %        7.7  19.4                      82 %   98 %
//	sweep       13     5 %   68 %        4.0  18.0                      94 %  100 %
//	sweep       17     5 %   80 %        3.2  11.4                      97 %  100 %
//	sweep       21     5 %   85 %        3.2  10.4                      94 %  100 %
//
// A workload that counts in short steps and says when (fine below) is measured in
// windows of ten of its steps, 25 ms at least, and at least some of a kernel's own:
//
//	search      14     1 %   98 %        0.4   3.2                      98 %  100 %
//	search      15     2 %   97 %        1.1   4.6                      96 %  100 %
//	search      17     5 %   86 %        2.5  11.8                      92 %  100 %
//	sweep        8     1 %  100 %        1.1   5.0                      96 %  100 %
//	sweep       11     1 %  100 %        0.6   4.4                      96 %  100 %
//	sweep        9     2 %   95 %        1.4   7.6                      96 %  100 %
//	sweep       12     2 %   97 %        1.4   6.2                      96 %  100 %
//	sweep        9     5 %   72 %        3.0  10.4                      95 %   99 %
//	sweep       13     5 %   83 %        2.9  12.5                      92 %   98 %
//
// That is what a machine of one's own gives. On one shared with other guests the
// noise changes with time, and two runs differ by more than their intervals say
// (profiler/training/repeats).
//
// # Differences from the paper
//
//   - The paper sweeps 0 to 100 in 10 ms and reads hardware counters. Rates of
//     requests or rows cannot be read in 10 ms, and virtual machines rarely have
//     counters; we hold a level for windows of 25 to 100 ms where the workload
//     counts finely, of 250 ms or longer elsewhere, and assume that more pressure never
//     helps.
//   - The paper gives a score without an error, on a grid. We interpolate between
//     levels, give an interval, and leave a score unknown rather than guess.
//   - The text stores a caused score as the intensity at which the kernel loses
//     5 %; we store 100 minus it (see package interference).
//   - A kernel on the workload's own CPUs takes its intensity with a high CPU
//     weight while the tolerated score is measured, and competes with the
//     default weight for the caused score: with the high one it would not notice
//     what the workload takes, with the default one it could not press in full.
//   - A kernel that works in bursts on the workload's CPUs is compared on CPUs that
//     are kept awake by threads which take only what is left: alone it would find
//     them asleep, and a co-runner would make it faster.
//   - A level counts once the kernel has reached it: one that fills memory is waited
//     for.
//   - A service under open-loop load has a queue after pressure or a pause; the
//     next window waits, within bounds, until its goodput is back.
//   - The clock of the cores drifts with what other cores do. Where a Tempo is given,
//     its change between the two windows of a ratio is taken out of it, as far as
//     the speed is seen to follow it within one level. What pressure itself does to
//     the clock stays in; it is taken to be next to nothing until the windows say
//     otherwise (a spike and slab), and what is not known of it widens the interval.
//   - A workload that gets faster under pressure counts as not slowed; the
//     measured ratio is recorded as it was, above 1.
package profiler
