package figures

var lshWorstServer = Experiment{
	ID: "lsh-2e", Paper: "lsh", Where: "§IV.A, figure 2e", Title: "Scores predicted inside their interval on the worst configuration, score by score",
	Compute: lshComputed, Headline: of("on the worst"),
	Rows: all(
		"on the worst", "on the worst: mem_cap tolerated", "on the worst: mem_cap caused", "on the worst: storage_cap tolerated", "on the worst: storage_cap caused",
		"on the worst: storage_bw tolerated", "on the worst: storage_bw caused", "on the worst: net_bw tolerated", "on the worst: net_bw caused", "on the worst: llc_bw tolerated", "on the worst: llc_bw caused",
		"on the worst: tlb tolerated", "on the worst: tlb caused", "on the worst: int tolerated", "on the worst: int caused", "on the worst: fp tolerated", "on the worst: fp caused",
	),
	Quantities: []Quantity{
		metric("LSH is better", "scores", "wins").from(published{"on the worst": n(10)}),
		metric("alike, within 5 points", "scores", "ties").from(published{"on the worst": n(5)}),
		metric("Paragon is better", "scores", "losses").from(published{"on the worst": n(1)}),
		metric("LSH, correct", "%", "lsh"), metric("Paragon, correct", "%", "paragon"), metric("LSH ahead", "points", "ahead"),
	},
	Requires: []Requirement{
		compared("LSH is better on more scores than Paragon", func(v []float64) bool { return v[0] > v[1] },
			use{metric("LSH is better", "scores", "wins"), of("on the worst")}, use{metric("Paragon is better", "scores", "losses"), of("on the worst")}),
		atLeast("on ten of 16", metric("LSH is better", "scores", "wins"), 10, of("on the worst")),
	},
	Why: whyLSHPredictions + "The band of a tie is ours: 5 points of the predictions of a score. On the worst configuration most programs tolerate nothing, by the definition of the score. ",
}
