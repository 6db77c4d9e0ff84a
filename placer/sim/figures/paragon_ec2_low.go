package figures

var paragonEC2Low = Experiment{
	ID: "paragon-e10", Paper: "paragon", Where: "§3.5.2, figure 3.10 left", Title: "1,000 servers, low load",
	Scenarios: []string{"paragon-ec2-low"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(91), "nh": n(14), "ni": n(11), "least-loaded": n(3)}),
		meanPerformance.from(published{"paragon": n(96)}),
		within10,
	},
	Requires: []Requirement{
		falling("Paragon, then without heterogeneity, without interference, least-loaded", qos, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		atLeast("Paragon keeps the QoS of at least 85 %", qos, 85, of("paragon")),
	},
	Why:   whyPrograms + whyDurations + whyProfiles,
	Plots: []Plot{sorted(of("paragon"), of("paragon-statistical"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread"))},
}
