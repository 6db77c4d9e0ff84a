package figures

var lshDefaultHigh = Experiment{
	ID: "lsh-3a", Paper: "lsh", Where: "§IV.B, figure 3a", Title: "Default data centre, high load: quality of service",
	Scenarios: []string{"lsh-default-high"}, Headline: of("lsh"),
	Quantities: []Quantity{
		qos.from(published{"lsh": n(45), "paragon": n(38)}), within20.from(published{"lsh": n(60)}), within10, meanPerformance, undisturbed, qosWithWait, performanceWaits, waitingShare,
	},
	Requires: []Requirement{
		ahead("LSH keeps more jobs at 95 % than Paragon", qos, 0, of("lsh"), of("paragon")),
		ahead("by 7 points", qos, 7, of("lsh"), of("paragon")),
		ahead("from submission on, too", qosWithWait, 0, of("lsh"), of("paragon")),
	},
	Why:   whyLSHCluster,
	Plots: []Plot{sorted(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"), of("least-loaded"), of("nomad-binpack")), sortedWithWait(of("lsh"), of("paragon"), of("lsh-oracle"), of("paragon-oracle"))},
}

const whyLSHCluster = whyPrograms + whyDurations +
	"LSH refuses what would break a bound, and that waits; Paragon relaxes its bounds and places at once. What LSH gains while jobs run it in part pays by their waiting, which the paper does not show (with waiting it is in the table). " +
	"LSH profiles two sources for everybody, the narrowest of lsh-2f, and three configurations; Paragon two drawn sources and two configurations, as each paper has it; paragon-hashed is Paragon with what LSH knows. " +
	"Scores here are one set per application: what a configuration costs is in its speed there. "
