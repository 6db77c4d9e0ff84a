package figures

var paragonGCE = Experiment{
	ID: "paragon-e16", Paper: "paragon", Where: "§3.5.2, figure 3.13", Title: "100 servers of Google Compute Engine",
	Scenarios: []string{"paragon-gce"}, Headline: of("paragon"),
	Quantities: []Quantity{
		meanPerformance.from(published{"paragon": n(96.8), "nh": n(90)}),
		qos,
		metric("speed that the configuration leaves", "%", "platform"),
	},
	Requires: []Requirement{
		atLeast("Paragon reaches 93 % on average", meanPerformance, 93, of("paragon")),
		alike("with four configurations, heterogeneity gains at most 10 points", meanPerformance, 10, of("paragon"), of("nh")),
	},
	Why:   whyPrograms + whyPlatforms,
	Plots: []Plot{sorted(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread"))},
}
