// Package gauss completes rows as draws of one multivariate normal
// distribution: its mean and covariance are estimated from rows with holes, and
// the missing cells of a new row are their conditional mean given the known
// ones, with the conditional variance with it.
//
// Theory in five lines (Dempster 1977, §4.1.3; Schäfer 2005, §3; Rasmussen 2006,
// appendix A.2):
//
//	x ~ N(μ, Σ), o the known and m the missing columns of a row
//	E[x_m | x_o]   = μ_m + Σ_mo·Σ_oo⁻¹·(x_o − μ_o)
//	Var[x_m | x_o] = Σ_mm − Σ_mo·Σ_oo⁻¹·Σ_om
//	fit: alternate filling the holes so and re-estimating μ, Σ (EM)
//	Σ is drawn to constant correlation: few rows cannot tell n² numbers
//
// It is the best completion that is linear in the known cells, so a
// factorisation of any rank can at most equal it where Σ is known; with few rows
// the shrinkage takes the place of a small rank.
//
// A cell may have a known standard deviation of measurement; D is their diagonal:
// Σ_oo + D takes the place of Σ_oo, and what was measured is a posterior too
// (Rasmussen 2006, §2.2; Tipping 1999 for rows of a low rank). The noise of training rows
// is thereby left out of Σ.
//
// Local weighs the rows by how near they are to the new one (Atkeson 1997), and
// Plan says which cells of a row are worth knowing most (Krause 2008).
//
// Everything here is floats; rows and columns have no meaning to this package.
//
// # Differences from the papers
//
//   - Schäfer's target D ("diagonal, unequal variances") or F ("constant
//     correlation") is chosen by them with an analytic weight; here it is F, and
//     the weight is the caller's, who cross-validates it on the task itself.
//   - A prior covariance counts as so many rows, so that one row or a column
//     without variance still allows a new row to differ.
package gauss
