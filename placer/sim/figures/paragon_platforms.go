package figures

var paragonPlatforms = Experiment{
	ID: "paragon-e2", Paper: "paragon", Where: "§3.5.1, figure 3.5 left", Title: "40 servers, medium load: quality of the choice of configurations",
	Scenarios: []string{"paragon-local-medium"}, Headline: of("paragon"),
	Quantities: []Quantity{
		bestPlatform.from(published{"paragon": n(84), "nh": below(60)}),
		metric("configuration cost at most 1 %", "%", "platform_lost_1").from(published{"paragon": n(84), "ni": n(47)}),
		metric("at most 10 %", "%", "platform_lost_10").from(published{"ni": n(85)}),
		metric("at most 20 %", "%", "platform_lost_20"),
	},
	Requires: []Requirement{
		ahead("Paragon is ahead of both that know no heterogeneity by 10 points", bestPlatform, 10, of("paragon"), of("nh"), of("least-loaded")),
		ahead("so is the one without interference", bestPlatform, 10, of("ni"), of("nh"), of("least-loaded")),
		atLeast("Paragon puts at least 75 % on a best configuration", bestPlatform, 75, of("paragon")),
	},
	Why: "A best configuration is one that truly is within 1 % of the best, not the one predicted. " + whyPlatforms +
		"Few servers are of the configuration that suits a program, and a server that would harm somebody is passed over. ",
	Plots: []Plot{keptOfPlatforms(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"))},
}
