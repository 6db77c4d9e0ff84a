package figures

var traconStaticLight = Experiment{
	ID: "tracon-8-light", Paper: "tracon", Where: "figure 8", Title: "All tasks at once, light on the disk",
	Scenarios: []string{"tracon-static-light", "tracon-static-light-1024"}, Headline: of("mibs-rt"),
	Rows: append(all("fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-oracle", "mix"),
		across([]string{"tracon-static-light-1024"}, "mibs-rt", "mibs-io", "mibs-oracle")...),
	Quantities: []Quantity{
		speedUp.from(published{"mibs-rt": about(30), "mibs-io": about(30)}), ioBoost,
	},
	Requires: []Requirement{
		atLeast("both MIBS gain about 30 %", speedUp, 30, of("mibs-rt"), of("mibs-io")),
	},
	Why: whyTraconPairs + whyTraconNoise,
}
