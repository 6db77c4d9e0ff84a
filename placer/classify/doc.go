// Package classify fills in what was not measured of a workload: its speed on
// other node configurations, and its tolerated and caused score of the other
// sources of interference. One file per classifier, one line in classifiers.go.
//
// Theory in five lines (Delimitrou 2015, §3.2, §3.3 and §4.3): workloads are
// rows and configurations or sources are columns of a utility matrix. A few
// rows are known well, a new one in two cells. Rows resemble each other in a
// few hidden concepts, so the missing cells follow from the known ones, as
// films are recommended from a few ratings. Speed, tolerated and caused scores
// are three independent matrices. The arithmetic is in placer/numeric/pq.
//
// TrainingFrom builds the matrices from profiles, Training.Fit gives Models,
// and Knowledge combines them with the workload's own profile.
//
// Which classifier is best is a question to one's own data: the package evaluate
// and "nomad-placer-sim evaluate" answer it. On the public sets of the package
// dataset local is best or level with the best nearly everywhere; cf is the
// paper's.
//
// # What is said where nothing is known
//
// Every number carries its origin:
//
//   - measured: by a profiling run of this workload, however wide its interval, put together
//     with what its other scores and other workloads say (package curve; decision 0036).
//     Before is the interval of a workload of which nothing is measured.
//   - predicted: by the classifier, from the workload's measured cells and the
//     other workloads. The interval is a quantile of held-out residuals
//     over the deviation that the model gives, by how many cells were shown and by
//     column, as much wider as few rows ask for; of one row there is none.
//   - assumed: no cell of this kind was measured. With training rows the score
//     is their average; without, it is cluster.AssumedToleratedPercent and
//     cluster.AssumedCausedPercent. Both come with a warning.
//
// A speed that cannot be predicted is absent, never zero and never a guess.
//
// # Differences from the paper
//
//   - Performance is normalised to a configuration the new workload was itself
//     measured on, per workload: its best configuration is not known, so two raw
//     rates cannot otherwise be put on the scale of the training rows. There is
//     one model per reference configuration.
//   - A new row is folded in against fixed factors (see numeric/pq).
//   - Predictions carry an interval; the text gives mean errors only.
//   - The paper's own baseline, the scaled column mean, is a classifier here, so
//     that "learning helps" can be checked on one's own data; so are plain SVD and
//     nearest neighbours.
//   - cf-log, gauss and local are ours. In logarithms a ratio and its inverse are
//     equally far from 1, and no predicted speed is negative. gauss is the best
//     completion linear in the known cells; local lets families of workloads have
//     shapes of their own. Both say how uncertain each cell is given what was
//     shown, so their intervals widen where the shown cells say little, and gauss
//     can say which cells are worth measuring (Planner).
//   - lsh (Islam, Gibson and Muzahid) completes one matrix like every classifier here,
//     from whatever cells are known, with an index for each set of them; the paper's
//     joint row of both scores on several configurations is a matrix like others
//     (placer/sim/dei). A cell is measured in ranges of the matrix, so that the radius
//     means the same for scores and for logarithms of speeds. Where no row is near the
//     paper draws at random; here the nearest rows are taken, and the cell says so.
//   - The paper's confidence, the singular values of the completed matrix, is
//     reported by cf (Concepts); how it is to be used the text does not say.
package classify
