// Package evaluate says how well classifiers fill in what was not measured, on
// data where all of it was: one workload at a time is left out of the training
// set, a few of its cells are shown, and the rest is compared with what was
// measured.
//
// The metrics are those of Delimitrou 2015, tables 3.1, 3.2 and 4.2, and every
// report has besides:
//
//   - the baselines: the scaled column mean, nearest neighbours, plain SVD.
//   - the floor: what a predictor would score that knows every cell exactly,
//     since what it is compared with is the median of a few noisy runs.
//   - others: what is predicted of each cell from all others of its row, as well
//     as they are known. What is missing there no two cells can tell.
//   - an interval over seeds: which cells were shown differs between them.
//
// # Differences from the paper
//
//   - The paper leaves out single applications. Where several rows are one
//     program with several inputs, LeaveGroup leaves all of them out, which is
//     harder; both are offered.
//   - A shown cell is one run, drawn among its repetitions, as a profiling run
//     is; the truth of a cell is the median of all.
//   - Which cells are shown is drawn at random, as in the paper, or chosen on the
//     training rows (DrawPlanned and others), which is ours and never mixed with
//     the former.
//   - A predicted score is kept within 0 and 100, as the product does.
package evaluate
