package figures

import "fmt"

var lshByConfiguration = Experiment{
	ID: "lsh-2d", Paper: "lsh", Where: "§IV.A, figure 2d", Title: "Scores predicted inside their interval, by configuration",
	Compute: lshComputed, Headline: of("lsh, configuration 10"), Rows: lshConfigurationRows("lsh", "paragon"),
	Quantities: []Quantity{lshCorrect.from(published{"lsh, configuration 10": n(13.7), "lsh, configuration 1": n(13.98)})},
	Requires: []Requirement{
		allAhead("LSH is above Paragon on the best, the middle and the worst", lshCorrect,
			all("lsh, configuration 10"), all("paragon, configuration 10")),
		allAhead("on the middle", lshCorrect, all("lsh, configuration 5"), all("paragon, configuration 5")),
		allAhead("and on the worst", lshCorrect, all("lsh, configuration 1"), all("paragon, configuration 1")),
		compared("the worst is no harder than the best", func(v []float64) bool { return v[1] >= v[0]-0.3 }, uses(lshCorrect, of("lsh, configuration 10"), of("lsh, configuration 1"))...),
	},
	Why: whyLSHPredictions + "A program that is slower than its bound on a configuration tolerates nothing there, by the definition of the score: on weak configurations that makes half of the scores easy to tell. ",
}

// lshConfigurationRows are the ten configurations of each predictor, worst first.
func lshConfigurationRows(who ...string) []At {
	var out []At
	for _, w := range who {
		for c := range 10 {
			out = append(out, of(fmt.Sprintf("%s, configuration %d", w, c+1)))
		}
	}
	return out
}
