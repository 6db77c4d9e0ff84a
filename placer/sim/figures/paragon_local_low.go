package figures

var paragonLocalLow = Experiment{
	ID: "paragon-e4", Paper: "paragon", Where: "§3.5.1, figure 3.6a", Title: "40 servers, low load",
	Scenarios: []string{"paragon-local-low"}, Headline: of("paragon"),
	Quantities: []Quantity{
		meanPerformance.from(published{"paragon": n(99), "least-loaded": n(54)}),
		qos,
		against("least-loaded", "time of the scenario, against least-loaded", "makespan").from(published{"paragon": n(-15)}),
	},
	Requires: []Requirement{
		atLeast("Paragon reaches 97 % on average", meanPerformance, 97, of("paragon")),
		alike("all but least-loaded are within 10 points", meanPerformance, 10, of("paragon"), of("nh"), of("ni")),
		behind("least-loaded is behind all others", meanPerformance, 0, of("least-loaded"), of("paragon"), of("nh"), of("ni")),
	},
	Why:   whyPrograms + whyPlatforms + whyDurations,
	Plots: []Plot{sorted(of("paragon"), of("nh"), of("ni"), of("least-loaded"), of("paragon-oracle"), of("nomad-binpack"), of("nomad-spread"))},
}
