package predict

var lmLearner = Learner{
	Name:    "lm",
	Summary: "linear in the characteristics, terms chosen by AIC",
	Paper:   "Chiang and Huang 2011, §3.1 (LM, equation 1)",
	Learn:   func(all []Observation) (Regression, error) { return learnPolynomial(all, linearTerms) },
}

// linearTerms is one term per column.
func linearTerms(columns []int) []term {
	var out []term
	for _, j := range columns {
		out = append(out, term{j, none})
	}
	return out
}
