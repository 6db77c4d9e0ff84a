// Package predict says how fast a workload will be on a node next to its
// co-runners.
//
// Theory in five lines (Delimitrou 2015, §5.4; our pressure model of iBench
// §2.9): co-runners exert the pressure X_k on each source k, the sum of
// their caused scores, at most 100 %. A response curve f_k gives the share of
// its performance in isolation that the workload keeps under X_k; it loses its slowdown
// bound (5 %) exactly at X_k = its tolerated score t_k. The share on the node is
// the smallest f_k: the scarcest resource decides. Performance is the speed in isolation
// on that node configuration times the share.
//
// Where the profile holds a measured ramp of a source, f_k is the measured
// curve, made monotone and interpolated. Else, with slowdown bound d,
//
//	f(X) = 1 − d·(X/t)²                          for X ≤ t
//	f(X) falls in a line from 1−d to f_min       from t to 100
//
// Where CPU time is shared through the source (interference.TimeShared), and the workload
// counts by its throughput and works the part w of its time in isolation, it keeps at least
//
//	1/(1 − w + w/(1−X))
//
// of it: co-runners stretch the time in which it works, and nothing else (decision 0017).
//
// Regressions of TRACON (Chiang and Huang 2011, §3.1; learners in observation.go) learn
// from runs instead: a workload's four characteristics (read and write requests, CPU
// time of its own and of the host) and the sum of its co-runners' explain its runtime
// or its IOPS. WMM is a mean of the nearest runs, LM linear, NLM of the second degree
// with terms chosen by AIC. Relearning sees when the errors change, and learns anew.
// A Draft scores where a workload would go with them (§3.2), MIOS.
//
// # Differences from the paper
//
//   - TRACON has one co-runner; characteristics of several are summed here.
//   - An own characteristic that is the same in all runs says nothing and is left out:
//     of 45 coefficients 15 are left in a model of one application. Where terms depend
//     on each other the search takes none that adds nothing.
//   - NLM is solved by least squares. The paper iterates by Gauss and Newton, of which
//     one step from anywhere is the same: the model is linear in its coefficients.
//   - LM and NLM predict at the edge of the range of the observations for what is
//     beyond it: the paper's co-runners make requests of the size its background
//     makes, ours do not.
//   - "Predefined event" is a rule of ours: see Relearning.
//   - A workload without a learnt response is scored by its tolerated scores.
//   - The text predicts only whether the bound holds, not by how much it is
//     broken. f_min was never measured for a predicted score: 0.5 is the point
//     value, 0.1 and 0.9 (the range seen among applications) the interval.
//   - Speedups under pressure are clipped: a co-runner is never counted as help.
package predict
