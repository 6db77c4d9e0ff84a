// Package production says what a running workload tells about itself and its co-runners.
//
// Theory. While node, size and co-runners stay as they are, the windows of an allocation
// are one experiment. Its evidence is the share y that was achieved of the performance in
// isolation. The model of package predict explains it: on source k co-runners exert
// X_k = Σ_j c_jk, the workload tolerates t_k, and keeps the least of f(X_k; t_k). What is
// believed of each t_k and c_jk before, independent of each other, is a histogram over the
// scores 0, 5, … 100. Then, with s_k the share that source k would leave,
//
//	p(y | s_k)  = Σ_m P(the others leave m) · p(y | min(s_k, m))
//	p(y | t_k)  = Σ_X P(X) · p(y | f(X; t_k))
//	p(y | c_jk) = Σ_t P(t) Σ_r P(the other co-runners exert r) · p(y | f(r + c_jk; t))
//
// which is exact for independent beliefs, and needs no sampling. What is less certain moves
// more, and a source that cannot have been the scarcest does not move at all. The
// likelihoods are kept, not the posterior: whatever else becomes known of the workload is
// combined with them by multiplying (assumed-density filtering: Opper 1998; Minka 2001).
//
// A caused score is of what a co-runner does in isolation. In an experiment it exerts in
// proportion to what it did of that in the same windows: one that is idle exerts nothing, and
// nothing is learnt next to it. What is not measured may have been anything from idle to busy.
//
// How fast it is in isolation, by what the profile says, is uncertain as well, and the same
// for all experiments on one node configuration: it has a Gaussian belief of its own, which
// windows without pressure narrow.
//
// What bounds the influence:
//
//   - p(y | s) is a normal distribution and a constant (outliers): one experiment changes
//     the odds of two scores by at most e^5.
//   - Windows that follow one another are not independent: they count as one for each
//     minute that they span.
//   - The error of the model is the same in each experiment of one situation: the n-th of
//     them adds only what it tells beyond it.
//   - All of a workload's experiments together: e^12. Those in which another
//     namespace has a part: e^1, which moves the mean of a score by at most sinh(1/2) = 0.52
//     of its deviation, whatever was reported.
//   - Nothing that a window of one scope says reaches the scores of a workload of another.
//
// # Differences from the literature
//
// Kambadur et al. (2012) and CPI² (Zhang 2013) find the co-runner that harms by correlation
// over many machines; here attribution is by how uncertain each explanation was.
package production
