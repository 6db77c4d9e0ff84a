package figures

var lshLowEnd = Experiment{
	ID: "lsh-4b", Paper: "lsh", Where: "§IV.C, figure 4b", Title: "Low-end data centre, high load",
	Scenarios: []string{"lsh-low-end-high"}, Headline: of("lsh"),
	Quantities: []Quantity{qos.from(published{"lsh": pictured, "paragon": pictured}), within20, meanPerformance, undisturbed, qosWithWait, performanceWaits, used},
	Requires: []Requirement{
		ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster,
	Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
}
