package figures

var pprtteEstimates = Experiment{
	ID: "pprtte-4", Paper: "pprtte", Where: "§VI, error of the estimate", Title: "Estimated against true slowdown",
	Scenarios: []string{"pprtte-interference"}, Headline: of("pp-rtte"),
	Rows: all("pp-rtte", "pp-rtte-lr", "pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd", "pp-rtte-oracle"),
	Quantities: []Quantity{
		against("pp-rtte-lr", "error over that of LR", "slowdown_error").from(published{"pp-rtte": n(-25)}),
		slowdownError, slowdownTrue, slowdownEstimated,
	},
	Requires: []Requirement{
		compared("the filter lowers the error by a quarter", func(v []float64) bool { return v[0] <= 0.75*v[1] }, uses(slowdownError, of("pp-rtte"), of("pp-rtte-lr"))...),
		atMost("with an exact meter there is none", slowdownError, 0.01, of("pp-rtte-oracle")),
	},
	Why: whyDeadlines + "A meter that is a tenth too high on average stays so behind any filter of its samples: most of what is left of the error is that bias. ",
}
