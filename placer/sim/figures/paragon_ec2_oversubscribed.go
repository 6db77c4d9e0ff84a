package figures

var paragonEC2Oversubscribed = Experiment{
	ID: "paragon-e12", Paper: "paragon", Where: "§3.5.2, figure 3.10 right", Title: "1,000 servers, oversubscribed",
	Scenarios: []string{"paragon-ec2-oversubscribed"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(52), "nh": n(5), "ni": n(1), "least-loaded": n(0.09)}),
		within10.from(published{"paragon": n(85)}),
		killed.from(published{"least-loaded": n(10.4)}),
		performanceWaits,
	},
	Requires: []Requirement{
		atLeast("Paragon keeps a majority within 10 %", within10, 50, of("paragon")),
		atMost("the others keep the QoS of at most 10 %", qos, 10, of("nh"), of("ni"), of("least-loaded")),
		falling("Paragon, then without heterogeneity, without interference, least-loaded", qos, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
	},
	Why:   whyPrograms + whyDurations + whyProfiles,
	Plots: []Plot{sorted(of("paragon"), of("paragon-statistical"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread"))},
}
