package figures

var paragonAzure = Experiment{
	ID: "paragon-e15", Paper: "paragon", Where: "§3.5.2, figure 3.13", Title: "500 servers of Windows Azure",
	Scenarios: []string{"paragon-azure"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(61), "nh": n(1), "ni": n(2), "least-loaded": n(0.7)}),
		meanPerformance.from(published{"paragon": n(94.3)}),
	},
	Requires: []Requirement{
		falling("Paragon, and here interference is worth less than heterogeneity", qos, of("paragon"), of("ni"), of("nh")),
		atLeast("Paragon reaches 90 % on average", meanPerformance, 90, of("paragon")),
	},
	Why:   "The text explains the order by configurations that differ widely; ours differ as much as in every other scenario, because it does not say by how much. " + whyPrograms,
	Plots: []Plot{sorted(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread"))},
}
