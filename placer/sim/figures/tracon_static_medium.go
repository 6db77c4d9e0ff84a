package figures

var traconStaticMedium = Experiment{
	ID: "tracon-8-medium", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, medium on the disk",
	Scenarios: []string{"tracon-static-medium", "tracon-static-medium-1024"}, Headline: of("mibs-rt"),
	Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-oracle", "mix"),
		across([]string{"tracon-static-medium-1024"}, "mibs-rt", "mibs-io", "mibs-oracle")...),
	Quantities: []Quantity{
		speedUp.from(published{"mibs-rt": above(40), "mibs-io": above(40)}), ioBoost,
	},
	Requires: []Requirement{
		atLeast("both MIBS gain more than 40 %", speedUp, 40, of("mibs-rt"), of("mibs-io")),
		compared("MIBS_IO beats MIBS_RT in requests", func(v []float64) bool { return v[0] > v[1] }, uses(ioBoost, of("mibs-io"), of("mibs-rt"))...),
		atLeast("MIBS_IO gains 50 % at 1,024 machines", speedUp, 50, of("mibs-io").in("tracon-static-medium-1024")),
	},
	Why: whyTraconPairs + whyTraconNoise,
}
