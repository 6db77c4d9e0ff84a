package figures

var lshPredictedSources = Experiment{
	ID: "lsh-2a", Paper: "lsh", Where: "§IV.A, figure 2a", Title: "Scores predicted inside their interval, by the number of measured sources",
	Compute: lshComputed, Headline: of("lsh, 2 sources"),
	Rows: all(
		"lsh, 2 sources", "paragon, 2 sources", "paragon-r, 2 sources", "paragon with offsets, 2 sources", "gauss, 2 sources", "scaled mean, 2 sources",
		"lsh, 3 sources", "paragon, 3 sources", "paragon-r, 3 sources", "lsh, 4 sources", "paragon, 4 sources", "paragon-r, 4 sources",
		"lsh, 6 sources", "paragon, 6 sources", "paragon-r, 6 sources", "lsh, 8 sources", "paragon, 8 sources", "paragon-r, 8 sources",
	),
	Quantities: []Quantity{
		lshCorrect.from(published{"lsh, 2 sources": n(14), "paragon, 2 sources": between(9.7, 9.9)}),
		metric("LSH has so many times as many", "times", "times").from(published{"paragon, 2 sources": n(1.42)}),
		metric("off by at most 10 points, of 16", "scores", "near"),
		metric("of those LSH has so many times as many", "times", "times_near"),
	},
	Requires: []Requirement{
		atLeast("13.8 of 16 with two sources", lshCorrect, 13.8, of("lsh, 2 sources")),
		atLeast("1.3 times as many as Paragon's predictor on the same rows and measurements", metric("times as many", "times", "times"), 1.3, of("paragon, 2 sources")),
		ahead("more than Paragon with two sources", lshCorrect, 0, of("lsh, 2 sources"), of("paragon, 2 sources"), of("paragon-r, 2 sources"), of("paragon with offsets, 2 sources")),
		ahead("with four", lshCorrect, 0, of("lsh, 4 sources"), of("paragon, 4 sources"), of("paragon-r, 4 sources")),
		ahead("and with eight", lshCorrect, 0, of("lsh, 8 sources"), of("paragon, 8 sources"), of("paragon-r, 8 sources")),
		compared("Paragon is no worse with those sources than with random ones", func(v []float64) bool { return v[0] >= v[1] }, uses(lshCorrect, of("paragon, 2 sources"), of("paragon-r, 2 sources"))...),
	},
	Why: whyLSHPredictions,
}

// lshCorrect is normed to the 16 scores that are unknown when two of ten sources are
// measured.
var lshCorrect = metric("correct, of 16", "scores", "correct")

const whyLSHPredictions = whyPrograms + "Both predictors see the same noisy measurements of the same two sources on three configurations, and learn from the same rows. " +
	"How many are correct depends on how wide the intervals are as much as on the predictor: ours are of our own simulated Paragon, and wide where few programs use a source, which flatters every predictor and brings them together. " +
	"Paragon's hyperparameters are not published; its rank is cross-validated on the training rows. "
