package figures

var lshHighEnd = Experiment{
	ID: "lsh-4a", Paper: "lsh", Where: "§IV.C, figure 4a", Title: "High-end data centre, high load",
	Scenarios: []string{"lsh-high-end-high"}, Headline: of("lsh"),
	Quantities: []Quantity{qos.from(published{"lsh": n(47), "paragon": n(40)}), within20, meanPerformance, undisturbed, qosWithWait, performanceWaits, used},
	Requires: []Requirement{
		ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
		ahead("by 7 points", qos, 7, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster,
	Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
}
