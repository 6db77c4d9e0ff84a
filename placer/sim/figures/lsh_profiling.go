package figures

var lshCharged = Experiment{
	ID: "lsh-charged", Paper: "lsh", Where: "§II.D", Title: "High load, with the minute of profiling counted",
	Scenarios: []string{"lsh-default-charged"}, Headline: of("lsh"),
	Quantities: []Quantity{
		profilingShare.from(published{"lsh": pictured}), qos, qosWithWait, performanceWaits,
	},
	Requires: []Requirement{
		ahead("LSH keeps more jobs at 95 % than Paragon while they run", qos, 0, of("lsh"), of("paragon")),
	},
	Why: whyLSHCluster + "The paper profiles for about a minute and must have replayed stored scores in its load tests: jobs here last 1 to 4 minutes, of which a minute more is a large part. ",
}
