package figures

var paragonUtilisation = Experiment{
	ID: "paragon-e8", Paper: "paragon", Where: "§3.5.1, figure 3.8", Title: "40 servers, medium load: utilisation",
	Scenarios: []string{"paragon-local-medium"}, Headline: of("paragon"),
	Quantities: []Quantity{
		ratio("cores busy, over one job per server", "used", "used_alone").from(published{"paragon": n(47)}),
		metric("cores busy in the middle", "%", "used_middle"),
		used, qos,
	},
	Requires: []Requirement{
		atLeast("Paragon's utilisation is at least 30 % above that without colocation", ratio("cores busy, over one job per server", "used", "used_alone"), 30, of("paragon")),
		ahead("at no cost in QoS against the one without interference", qos, 0, of("paragon"), of("ni")),
	},
	Why:   "The run without colocation is computed, not run: as many jobs as are there, at most one per server, each as busy as those that run. That is more than a real run reaches, which would queue. " + whyDurations,
	Plots: maps(of("paragon"), of("ni"), of("least-loaded")),
}
