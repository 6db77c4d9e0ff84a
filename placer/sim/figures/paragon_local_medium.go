package figures

var paragonLocalMedium = Experiment{
	ID: "paragon-e1", Paper: "paragon", Where: "§3.5.1, figure 3.4", Title: "40 servers, medium load",
	Scenarios: []string{"paragon-local-medium"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(78), "nh": n(23), "ni": n(19), "least-loaded": n(7)}),
		within10.from(published{"paragon": n(94)}),
		meanPerformance,
		killed.from(published{"least-loaded": above(0)}),
	},
	Requires: []Requirement{
		falling("Paragon, then without heterogeneity, without interference, least-loaded", qos, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		multiple("Paragon keeps the QoS of at least three times as many as the next", qos, 3, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		atLeast("Paragon keeps the QoS of at least 70 %", qos, 70, of("paragon")),
		atLeast("with Paragon at least 90 % lose at most 10 %", within10, 90, of("paragon")),
	},
	Why: whyPrograms + whyDurations + whyProfiles,
	Plots: []Plot{
		sorted(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread")),
		sortedWithWait(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread")),
	},
}
