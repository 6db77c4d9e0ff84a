package figures

var paragonTracking = Experiment{
	ID: "paragon-e7", Paper: "paragon", Where: "§3.5.1, figure 3.7", Title: "40 servers, medium load: required and allocated cores",
	Scenarios: []string{"paragon-local-medium"}, Headline: of("paragon"),
	Quantities: []Quantity{
		coreDeviation.from(published{"paragon": below(3.5), "ni": pictured, "least-loaded": pictured}),
		against("paragon", "time of the scenario, against Paragon", "makespan").from(published{"least-loaded": n(15)}),
	},
	Requires: []Requirement{
		atMost("Paragon's cores are within 3.5 % of what is required", coreDeviation, 3.5, of("paragon")),
		behind("closer than the others'", coreDeviation, 0, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
	},
	Why:   "What is required is ideal: every job begins when it is submitted and takes its ideal time. Profiling for a minute shifts jobs of some minutes, which the published figure does not show. " + whyDurations,
	Plots: []Plot{usageOf(of("paragon")), usageOf(of("ni")), usageOf(of("least-loaded"))},
}
