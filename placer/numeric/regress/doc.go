// Package regress fits models that are linear in their coefficients: least squares
// by an orthogonal decomposition, choice of terms by Akaike's criterion, and the
// Gauss-Newton iteration.
//
//	fit, err := regress.LeastSquares(rows, y)        // rows with a column of ones, if wanted
//	chosen, err := regress.Stepwise(terms, y)        // of centred columns; the intercept is kept
//
// # Theory
//
// Least squares is solved by Householder reflections with column pivoting (Golub
// and Van Loan 2013, §5.4.2). Where columns are not independent a ridge of 1e-8 of
// the largest column is added, and the fit says so.
//
// AIC = n·ln(SSE/n) + 2p, p the number of coefficients with the intercept. A
// bidirectional search goes from the full model and takes the single removal or
// addition that lowers it most, until none does. Each step costs O(p²) by the sweep
// operator on the matrix of cross products (Goodnight 1979). With no more
// observations than p + 2 it goes from the intercept instead.
//
// Of a model that is linear in its coefficients one Gauss-Newton step from
// anywhere is the least-squares solution.
package regress
