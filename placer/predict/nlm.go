package predict

import (
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/numeric/regress"
)

var nlmLearner = Learner{
	Name:    "nlm",
	Summary: "all terms of the second degree in the characteristics, chosen by AIC",
	Paper:   "Chiang and Huang 2011, §3.1 (NLM, equation 2)",
	Learn:   func(all []Observation) (Regression, error) { return learnPolynomial(all, quadraticTerms) },
}

// term is a column, or the product of two.
type term struct{ a, b int }

// none: the term is one column.
const none = -1

func (t term) of(row []float64) float64 {
	if t.b == none {
		return row[t.a]
	}
	return row[t.a] * row[t.b]
}

// quadraticTerms are those of the paper's equation 2, without the intercept: linear,
// products and squares. With four own and four columns of co-runners they are 44;
// where the own are constant, 14.
func quadraticTerms(columns []int) []term {
	out := linearTerms(columns)
	for i, a := range columns {
		for _, b := range columns[:i+1] {
			out = append(out, term{a, b})
		}
	}
	return out
}

// polynomial is a sum of terms of standardised columns.
type polynomial struct {
	standard     standard
	terms        []term // those chosen
	intercept    float64
	coefficients []float64
	selection    regress.Selection
}

// learnPolynomial chooses among the terms and fits those chosen. Columns that do not
// vary have no terms; where terms depend on each other those chosen do not. O(steps ·
// terms² + observations · terms²).
func learnPolynomial(all []Observation, termsOf func(columns []int) []term) (Regression, error) {
	if err := checkObservations(all); err != nil {
		return nil, err
	}
	p := &polynomial{standard: standardise(all)}
	columns := p.standard.varying()
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: no characteristic varies", ErrObservations)
	}
	terms := termsOf(columns)
	rows, y := make([][]float64, len(all)), make([]float64, len(all))
	for i, o := range all {
		z := p.standard.of(o.Own, o.CoRunners)
		rows[i] = make([]float64, len(terms))
		for t, term := range terms {
			rows[i][t] = term.of(z)
		}
		y[i] = o.Response
	}
	var err error
	if p.selection, err = regress.Stepwise(rows, y); err != nil {
		return nil, fmt.Errorf("predict: choice of terms: %w", err)
	}
	design := make([][]float64, len(all))
	for i, row := range rows {
		design[i] = []float64{1}
		for _, t := range p.selection.Columns {
			design[i] = append(design[i], row[t])
		}
	}
	fit, err := regress.LeastSquares(design, y)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	p.intercept, p.coefficients = fit.Coefficients[0], fit.Coefficients[1:]
	for _, t := range p.selection.Columns {
		p.terms = append(p.terms, terms[t])
	}
	return p, nil
}

// Predict implements Regression. O(terms). Outside of what was seen a polynomial says
// nothing, and squares say it loudly: what is beyond counts as the edge.
func (p *polynomial) Predict(own, coRunners []float64) float64 {
	z := p.standard.within(own, coRunners)
	sum := p.intercept
	for i, t := range p.terms {
		sum += p.coefficients[i] * t.of(z)
	}
	return sum
}
