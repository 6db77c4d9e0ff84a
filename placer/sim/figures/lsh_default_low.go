package figures

var lshDefaultLow = Experiment{
	ID: "lsh-3d", Paper: "lsh", Where: "§IV.B, figure 3d", Title: "Default data centre, low load: quality of service",
	Scenarios: []string{"lsh-default-low"}, Headline: of("lsh"),
	Quantities: []Quantity{
		qos.from(published{"lsh": n(61), "paragon": n(49)}), within20, within10, meanPerformance, undisturbed, qosWithWait, performanceWaits, waitingShare,
	},
	Requires: []Requirement{
		ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
		ahead("by 12 points", qos, 12, of("lsh"), of("paragon")),
		ahead("from submission on, too", qosWithWait, 0, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster,
	Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack"))},
}
