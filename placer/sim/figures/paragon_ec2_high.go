package figures

var paragonEC2High = Experiment{
	ID: "paragon-e11", Paper: "paragon", Where: "§3.5.2, figures 3.1 and 3.10 middle", Title: "1,000 servers, high load",
	Scenarios: []string{"paragon-ec2-high"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(61), "nh": n(4), "ni": n(3), "least-loaded": n(3)}),
		meanLoss.from(published{"paragon": n(4), "nh": n(22), "ni": n(34), "least-loaded": n(48)}),
		within20.from(published{"paragon": n(99.4)}),
		killed,
	},
	Requires: []Requirement{
		falling("mean losses rise from Paragon to without heterogeneity, without interference, least-loaded", meanPerformance, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		atMost("Paragon loses at most 6 % on average", meanLoss, 6, of("paragon")),
		atLeast("Paragon keeps the QoS of at least 50 %", qos, 50, of("paragon")),
	},
	Why:   whyPrograms + whyDurations + whyProfiles,
	Plots: []Plot{sorted(of("paragon"), of("paragon-statistical"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread")), heatOf(of("paragon")), heatOf(of("least-loaded"))},
}
