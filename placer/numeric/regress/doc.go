// Package regress fits models that are linear in their coefficients: least squares
// by an orthogonal decomposition, and choice of terms by Akaike's criterion.
//
//	fit, err := regress.LeastSquares(rows, y)        // rows with a column of ones, if wanted
//	chosen, err := regress.Stepwise(terms, y)        // of centred columns; the intercept is kept
//
// # Theory
//
// Least squares is solved by Householder reflections with column pivoting (Golub
// and Van Loan 2013, §5.4.2) and refined once. Where columns are not independent a
// ridge of 1e-8 of the largest column is added, and the rank of the fit says so. A
// library's decomposition differs in the last bits, and with them which of two places
// that are equally good is taken: simulations would end otherwise.
//
// AIC = n·ln(SSE/n) + 2p, p the number of coefficients with the intercept. A
// bidirectional search goes from the full model and takes the single removal or
// addition that lowers it most, until none does. Each step costs O(p²) by the sweep
// operator on the matrix of cross products (Goodnight 1979). With no more
// observations than p + 2 it goes from the intercept instead.
package regress
