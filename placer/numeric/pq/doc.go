// Package pq completes a sparse matrix by latent factors: a singular value
// decomposition gives the start, stochastic gradient descent on the observed
// cells refines it, and a new row is folded in against fixed column factors in
// microseconds.
//
// Theory in five lines (Delimitrou 2015, §3.2 and §4.3; Funk 2006):
//
//	A ≈ Q·Pᵀ, A rows×columns with holes, Q rows×r, P columns×r, r small
//	start: A with holes filled = U·Σ·Vᵀ, cut to rank r
//	per observed cell: ε = a − q·p;  q += η(ε·p − λq);  p += η(ε·q − λp)
//	until the root mean square of ε over a sweep stops changing
//	new row: the q that fits its few cells, drawn to the rows already known
//
// Everything here is floats; rows and columns have no meaning to this package.
//
// # Differences from the paper
//
//   - The sweep is over observed cells only. Read literally ("all elements of
//     the reconstructed matrix") the error is zero at the start and the factors
//     only decay.
//   - Holes are filled with the column's mean over rows without holes (over its
//     observed cells where there is no such row) before the first
//     decomposition; the text is silent. A zero fill leaves a new row's factor
//     near zero.
//   - Values are scaled to unit root mean square inside, and the singular values
//     are split so that row factors have unit mean square. The paper's Q = U
//     makes the stable learning rate depend on the number of rows.
//   - The paper puts a new row into the matrix and runs the descent again. Here
//     the column factors stay as they are and only the row's r numbers are
//     found, by least squares with the distribution of the known rows as prior:
//     two cells cannot determine three factors, and shrinking to zero would
//     predict zero. Refitting is for when the training set changes.
//   - The text prints the mean and one offset per row in §4.3.1 and no rule for
//     the offset: Bias offers none, learned and shrunk, and for ratings offsets of
//     columns too.
//   - A matrix whose shorter side exceeds 256 is decomposed within a random
//     subspace (Halko 2011): the descent only starts from there.
//   - The second decomposition, of the completed matrix, needs no completed
//     matrix: Concepts takes it from the factors.
//   - The rank is chosen by cross-validation, never by share of energy: rows are
//     strongly correlated, so the 90 % rule picks one factor, which is no better
//     than scaling the mean row.
package pq
