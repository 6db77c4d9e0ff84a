package figures

var lshNeighbourCounts = Experiment{
	ID: "lsh-2c", Paper: "lsh", Where: "§IV.A, figure 2c", Title: "Scores predicted inside their interval, by the number of neighbours",
	Compute: lshComputed, Headline: of("lsh, 5 neighbours"),
	Rows:       all("lsh, 1 neighbours", "lsh, 2 neighbours", "lsh, 3 neighbours", "lsh, 4 neighbours", "lsh, 5 neighbours", "lsh, 7 neighbours", "lsh, 10 neighbours", "lsh, 15 neighbours"),
	Quantities: []Quantity{lshCorrect.from(published{"lsh, 5 neighbours": n(13.78)})},
	Requires: []Requirement{
		compared("more are better up to four", func(v []float64) bool { return v[1] > v[0] }, uses(lshCorrect, of("lsh, 1 neighbours"), of("lsh, 4 neighbours"))...),
		alike("and hardly beyond", lshCorrect, 0.3, of("lsh, 4 neighbours"), of("lsh, 7 neighbours"), of("lsh, 15 neighbours")),
	},
	Why: whyLSHPredictions,
}
