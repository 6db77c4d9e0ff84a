package figures

var traconStaticHeavy = Experiment{
	ID: "tracon-8-heavy", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, heavy on the disk",
	Scenarios: []string{"tracon-static-heavy", "tracon-static-heavy-1024"}, Headline: of("mibs-rt"),
	Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-oracle", "mix"),
		across([]string{"tracon-static-heavy-1024"}, "mibs-rt", "mibs-io", "mibs-oracle")...),
	Quantities: []Quantity{
		speedUp.from(published{"mibs-rt": pictured, "mibs-io": pictured}), ioBoost,
	},
	Requires: []Requirement{
		atLeast("MIBS gains something: a hundredth", speedUp, 1, of("mibs-rt")),
		compared("MIBS_RT beats MIBS_IO", func(v []float64) bool { return v[0] > v[1] }, uses(speedUp, of("mibs-rt"), of("mibs-io"))...),
	},
	Why: whyTraconPairs + whyTraconNoise,
}
