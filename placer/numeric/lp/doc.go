// Package lp solves linear programs: sparse, with bounds on variables and rows.
//
//	optimise c·x  subject to  rowLower ≤ A·x ≤ rowUpper,  lower ≤ x ≤ upper
//
// Theory in five lines (Maros 2003, chapters 7 to 9; Harris 1973; Bland 1977):
//
//	every row gets a logical variable s = A·x with the row's bounds: A·x − s = 0
//	a basis of as many columns as rows gives x_B; all others lie at a bound
//	phase 1 minimises the sum of bounds broken, phase 2 the objective; a step
//	takes in the column of the most promising reduced cost, and throws out the
//	basic variable that meets a bound first
//
// The basis is kept as an LU factorisation (sparse, with threshold pivoting) times
// the steps since, and is factorised anew every refactorEvery steps. A solver
// keeps its basis, so columns may be added to a solved program, and solving goes
// on from there: column generation.
//
//	s, err := lp.New(lp.Problem{Maximise: true, Rows: rows, Columns: columns})
//	x, err := s.Solve()
//
// Cost of a step: the entries of A, plus those of the factors. Memory: the same.
//
// # Differences from the books
//
//   - Pricing is Dantzig's rule on columns of equal length: a step costs one pass
//     over A; steepest edge would save steps that these programs do not need.
//   - Where many steps gain nothing, Bland's rule takes over until one does.
package lp
