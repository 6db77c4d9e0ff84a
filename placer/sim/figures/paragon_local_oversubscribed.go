package figures

var paragonLocalOversubscribed = Experiment{
	ID: "paragon-e5", Paper: "paragon", Where: "§3.5.1, figure 3.6b", Title: "40 servers, oversubscribed",
	Scenarios: []string{"paragon-local-oversubscribed"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(75), "nh": pictured, "ni": pictured, "least-loaded": pictured}),
		within10.from(published{"paragon": n(99)}),
		meanPerformance,
		killed,
	},
	Requires: []Requirement{
		allAhead("those that know interference lose less than those that do not", meanPerformance, all("paragon", "nh"), all("ni", "least-loaded")),
		atLeast("Paragon keeps the QoS of at least 65 %", qos, 65, of("paragon")),
		atLeast("with Paragon at least 90 % lose at most 10 %", within10, 90, of("paragon")),
	},
	Why:   whyPrograms + whyDurations + "Which admission the paper has here is not said; ours is one queue in order. ",
	Plots: []Plot{sorted(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread")), usageOf(of("paragon"))},
}
