package figures

var paragonLocalPhases = Experiment{
	ID: "paragon-e6", Paper: "paragon", Where: "§3.5.1, figures 3.6c and 3.6d", Title: "40 servers, workloads with phases",
	Scenarios: []string{"paragon-local-phases"}, Headline: of("paragon"),
	Quantities: []Quantity{
		qos.from(published{"paragon": n(66), "nh": pictured, "ni": pictured, "least-loaded": pictured}),
		within10, meanPerformance,
	},
	Requires: []Requirement{
		falling("adapting to phases helps: with, then without", qos, of("paragon"), of("paragon-unadapted")),
		ahead("Paragon is ahead of the others", qos, 0, of("paragon"), of("nh"), of("ni"), of("least-loaded")),
		atLeast("Paragon keeps the QoS of at least 56 %", qos, 56, of("paragon")),
		cannot("performance over time dips at a change of phase and recovers",
			"jobs change phase at thirds of their own work, not all at once, so the mean over them has no dip; with and without adaptation stand in its place"),
	},
	Why:   whyPrograms + "What a third of the work presses in the middle is ours: the text says medium, high, medium memory load. A move costs half a minute of work. ",
	Plots: []Plot{sorted(of("paragon"), of("paragon-unadapted"), of("paragon-closing"), of("nh"), of("ni"), of("least-loaded"), of("nomad-binpack"))},
}
