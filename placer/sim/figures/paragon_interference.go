package figures

var paragonInterference = Experiment{
	ID: "paragon-e3", Paper: "paragon", Where: "§3.5.1, figure 3.5 right", Title: "40 servers, medium load: quality with respect to interference",
	Scenarios: []string{"paragon-local-medium"}, Headline: of("paragon"),
	Quantities: []Quantity{
		undisturbed.from(published{"paragon": n(83)}),
		metric("at most 1 %", "%", "interference_lost_1"),
		metric("at most 20 %", "%", "interference_lost_20"),
		metric("mean speed that neighbours left", "%", "interference"),
	},
	Requires: []Requirement{
		falling("Paragon, then without heterogeneity, without interference, least-loaded", undisturbed, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		atLeast("Paragon keeps at least 75 % from harm", undisturbed, 75, of("paragon")),
	},
	Why:   whyPrograms + "The paper sums what neighbours cause; in ours, pressures meet in a non-additive way. ",
	Plots: []Plot{keptOfNeighbours(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"))},
}
