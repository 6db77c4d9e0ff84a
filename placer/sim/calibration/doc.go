// Package calibration fits the parameters of the simulated world (truth.Parameters) to what papers
// publish of their workloads and machines, and says what a world has of it.
//
// # Theory
//
// A published statistic (statistics.go) is a number of a paper's table about its own inputs: how
// well two entries of a row tell the others, by how much configurations differ, how hard a known
// program presses. A shape (shapes.go) is a cluster with the scenario whose rows of training,
// entries, classes and classifier it is judged with. The fit is a pattern search (Hooke and Jeeves
// 1961) over few parameters on seeds that no scenario has: what a policy reaches is neither run nor
// looked at.
//
//	misfit = Σ over statistics of the mean over shapes of ((reached − aim) / tolerance)²,
//
// and a hundred times what a bound is broken by, and the square of it. The aim is the published number, and
// one tolerance inside of it where that is "at most" or "at least": a world that is easier to learn
// than the published one is as wrong as a harder one. The matrices of speeds and of scores are learnt
// separately, and no parameter is fitted to both, so that they are one after the other; the noise of a
// run, which is in both, is fitted to speeds.
//
// # Differences from the papers
//
//   - The papers print their accuracy for one cluster of 40 servers each. The bounds on speeds
//     hold here on every shape, those on scores where they are printed.
//   - Estimates of speeds are compared with the speed of a run without end, which is what running a
//     program to its end measures; estimates of scores with scores that are measured again, as the
//     text compares "estimated and measured sensitivity" (Delimitrou 2015, §3.2.3).
//   - Cells that profiling measured do not count.
//   - One of the two configurations of a profile is always the strongest, the other is drawn
//     (package estimator).
package calibration
