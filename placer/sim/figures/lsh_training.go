package figures

var lshTrainingSize = Experiment{
	ID: "lsh-2b", Paper: "lsh", Where: "§IV.A, figure 2b", Title: "Scores predicted inside their interval, by the size of the training set",
	Compute: lshComputed, Headline: of("lsh, 150 rows"),
	Rows: all(
		"lsh, 10 rows", "lsh, 20 rows", "lsh, 35 rows", "lsh, 50 rows", "lsh, 100 rows", "lsh, 150 rows", "lsh, 200 rows",
		"paragon, 10 rows", "paragon, 20 rows", "paragon, 35 rows", "paragon, 50 rows", "paragon, 100 rows", "paragon, 150 rows", "paragon, 200 rows",
	),
	Quantities: []Quantity{lshCorrect.from(published{"lsh, 150 rows": n(14), "lsh, 35 rows": pictured, "paragon, 150 rows": pictured})},
	Requires: []Requirement{
		compared("more rows are better up to 35", func(v []float64) bool { return v[1] > v[0] }, uses(lshCorrect, of("lsh, 10 rows"), of("lsh, 35 rows"))...),
		alike("and hardly beyond", lshCorrect, 0.5, of("lsh, 35 rows"), of("lsh, 100 rows"), of("lsh, 200 rows")),
		ahead("Paragon is below with 50", lshCorrect, 0, of("lsh, 50 rows"), of("paragon, 50 rows")),
		ahead("and with 200", lshCorrect, 0, of("lsh, 200 rows"), of("paragon, 200 rows")),
	},
	Why: whyLSHPredictions,
}
