package network

import "gonum.org/v1/gonum/optimize"

// maximum searches where a function of one or two parameters is largest, from a
// start, with the simplex of Nelder and Mead (1965). It is the start where the
// search finds nothing better.
func maximum(f func([]float64) float64, start []float64) []float64 {
	problem := optimize.Problem{Func: func(p []float64) float64 { return -f(p) }}
	settings := &optimize.Settings{FuncEvaluations: evaluations, Converger: &optimize.FunctionConverge{Relative: 1e-6, Iterations: 12}}
	// An error says that the evaluations were used up: what was found until then counts.
	result, _ := optimize.Minimize(problem, start, settings, &optimize.NelderMead{SimplexSize: 0.3})
	if result == nil || -result.F < f(start) {
		return start
	}
	return result.X
}
