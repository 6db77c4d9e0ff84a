// Package deadline says whether running work will end in time, and how much of a
// node it needs to: the estimator KFLR and the resource rules of PP-RTTE, with the
// detectors they are compared with. One file per detector, one line in detectors.go.
//
// # Theory
//
// Homogeneous machines, tasks bound by cpu. A task holds the rate r it is expected to
// make, and makes r' = r/(1+β): β is its slowdown through co-runners, read by a meter
// with noise. KFLR in four lines, per task and sample:
//
//	β̂ ← Kalman filter of the samples (Q = 5e-4, R = 0.2², β̂₀ = 0, P₀ = 1)
//	W ← W − r·Δt/(1+β̂)                       work left
//	W = aX + b by least squares over the last v = 2 instants X, ends at −b/a
//	alarm iff −b/a > deadline
//
// What a task needs for its last W in the time T that is left, a migration taken off,
// is r = W/T, at most its own full speed, and r·β on top of it.
//
// The source is Sampaio, "Estimating Effective Slowdown of Tasks in Energy-Efficient
// Cloud Systems"; sections are those of its text.
//
// # Differences from the paper
//
//   - R is 0.2² = 0.04, the variance of a meter with a deviation of 20 %; the text
//     prints 0.22. It also leaves A, H, B and the initial state open.
//   - The full rate r + rβ is not bounded by the full speed of the task, the effective
//     rate is: with the printed bound the paper's own tables are out of reach.
//   - A negative slowdown counts as none where resources are given out: they are
//     added for a slowdown, not taken for the lack of one.
//   - A sample that is no number, or would mean that time runs backwards, is not taken:
//     the estimate stays and is less certain. After Silence without any the verdict is
//     ErrSilent and no alarm is given: what is not known is not acted on.
package deadline
